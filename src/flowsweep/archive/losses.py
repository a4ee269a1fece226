"""What of a journal is lost, in sentences."""

from collections.abc import Iterable
from pathlib import Path


def lost_of_journal(journal: Path, damaged: Iterable[range], tail_bytes: int) -> tuple[str, ...]:
    """Say which bytes of a journal are no record.

    Args:
        journal: The file.
        damaged: Stretches between whole records.
        tail_bytes: How many bytes come after the last whole record.
    """
    changed = [
        f"{journal}: bytes {gap.start} to {gap.stop - 1} have changed since they were written; "
        "what was recorded there is lost"
        for gap in damaged
    ]
    if tail_bytes:
        changed.append(
            f"{journal}: its last {tail_bytes} bytes are no whole record; what was recorded there is lost"
        )
    return tuple(changed)
