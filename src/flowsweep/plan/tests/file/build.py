"""What becomes of the keys that only a sweep of files has."""

from flowsweep import defaults
from flowsweep.plan.sweeps.table import SweepTable


def built_file(sweep: SweepTable) -> dict[str, object]:
    """Make what the frozen sweep has of those that are no axes."""
    return {"content": sweep.content, "verify": sweep.verify, "existing": sweep.read}


def with_usual_levels(sweep: SweepTable) -> SweepTable:
    """Give axes that a plan leaves open the levels that files have then."""
    usual: dict[str, list[object]] = {"cache": ["dropped"], "sync": ["file"]}
    if sweep.read is None:
        usual |= {"file_size": [defaults.FILE_BYTES], "files": [1]}
    return sweep.model_copy(
        update={name: level for name, level in usual.items() if getattr(sweep, name) is None}
    )
