"""What an archive has of its monitors, for those who conclude and draw."""

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
from pydantic import TypeAdapter, ValidationError

from flowsweep.archive import Archive
from flowsweep.monitors.quantities import DISCONTINUITY, UP_TIME
from flowsweep.monitors.reading import SILENT
from flowsweep.plan.monitors.model import Monitor

_MONITORS: TypeAdapter[tuple[Monitor, ...]] = TypeAdapter(tuple[Monitor, ...])
COUNTERS = (
    UP_TIME, DISCONTINUITY, SILENT, "in_bytes", "out_bytes", "in_errors", "out_errors", "in_discards",
    "out_discards", "cpu_busy", "cpu_total",
)  # fmt: skip
"""What findings and figures look at."""


@dataclass(frozen=True, slots=True)
class MonitorFacts:
    """The monitors of a campaign, and what they told."""

    monitors: Mapping[str, Monitor]
    """By name."""
    table: pa.Table
    """As in the archive, of `COUNTERS`."""


def monitor_facts(archive: Archive) -> MonitorFacts | None:
    """Read what monitors told; None where there were none.

    Raises:
        ArchiveError: A file of it cannot be read; says which.
    """
    try:
        planned = _MONITORS.validate_python(archive.campaign.plan.get("monitors", ()))
    except ValidationError:
        return None
    if not planned:
        return None
    return MonitorFacts({monitor.name: monitor for monitor in planned}, archive.monitors(COUNTERS))
