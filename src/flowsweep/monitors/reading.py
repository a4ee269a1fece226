"""What one poll of a monitor gave: values, or why there are none."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from flowsweep.defaults import MONITOR_TEXT_MAX
from flowsweep.monitors.quantities import QUANTITIES

SILENT = "silent"
"""The `counter` of a row that says why a poll gave nothing."""
MONITORS_SCHEMA = pa.schema(
    [
        pa.field("monitor", pa.string(), nullable=False),
        pa.field("at_us", pa.int64(), nullable=False),
        pa.field("took_us", pa.int64(), nullable=False),
        pa.field("object", pa.string(), nullable=False),
        pa.field("counter", pa.string(), nullable=False),
        pa.field("unit", pa.string(), nullable=False),
        pa.field("value", pa.uint64()),
        pa.field("reason", pa.string()),
    ]
)
"""The table `monitors`; docs/reference/archive.md says what its columns mean."""


@dataclass(frozen=True, slots=True)
class Poll:
    """One question to a monitor and its answer, on the clock of the controller."""

    monitor: str
    at_us: int
    """Middle between question and answer, in µs since 1970 UTC."""
    took_us: int
    """From the question to the answer: the values are of a moment in it."""
    values: tuple[tuple[str, str, int], ...] = ()
    """Object, quantity and value of each."""
    silent: str | None = None
    """Why there are no values."""


def bounded(text: str) -> str:
    """Words of an agent or a host as they may be kept and shown: printable, on one line, at most 200."""
    plain = "".join(letter if letter.isprintable() else " " for letter in text[: 4 * MONITOR_TEXT_MAX])
    words = " ".join(plain.split())
    return words if len(words) <= MONITOR_TEXT_MAX else words[: MONITOR_TEXT_MAX - 1] + "…"


def monitors_table(polls: Sequence[Poll]) -> pa.Table:
    """Make the table of some polls: a row per value, and a row per poll without values."""
    rows: list[tuple[object, ...]] = [
        (poll.monitor, poll.at_us, poll.took_us, name, counter, QUANTITIES[counter].unit, value, None)
        for poll in polls
        for name, counter, value in poll.values
    ]
    rows += [
        (poll.monitor, poll.at_us, poll.took_us, "", SILENT, "", None, bounded(poll.silent))
        for poll in polls
        if poll.silent is not None
    ]
    columns = list(zip(*rows, strict=True)) or [()] * len(MONITORS_SCHEMA)
    return pa.table(
        [pa.array(column, field.type) for column, field in zip(columns, MONITORS_SCHEMA, strict=True)],
        schema=MONITORS_SCHEMA,
    )
