"""The first thing a reader sees: how much was measured, and the highest goodput in each direction."""

from collections.abc import Sequence
from dataclasses import dataclass

import ibis
import pyarrow as pa

from flowsweep.analysis import cells
from flowsweep.figures.axis import MODE, OTHERS, Row
from flowsweep.figures.cells import format_range
from flowsweep.figures.panel import PLAIN_MODE, direction
from flowsweep.wording import both_windows, counted, format_rate, format_size

STATUSES = ("ok", "incomplete", "failed")


@dataclass(frozen=True, slots=True)
class StatusCount:
    """How many trials ended in a status."""

    status: str
    count: int


@dataclass(frozen=True, slots=True)
class Highest:
    """The point of the campaign with the highest goodput in one direction."""

    direction: str
    number: str
    unit: str
    spread: str
    place: str
    """Where it was found: the parameters, in words."""


def status_counts(trials: Sequence[Row]) -> tuple[StatusCount, ...]:
    """Count the trials by status; a status that nothing has is left out."""
    counts = {status: sum(row["status"] == status for row in trials) for status in STATUSES}
    return tuple(StatusCount(status, count) for status, count in counts.items() if count)


def finished(trials: int, planned: int | None) -> str:
    """Say what stands behind a number of trials: "trials", or that the plan asks for more of them."""
    if planned is not None and planned > trials:
        return f"of {counted(planned, 'trial')} have finished"
    return "trial" if trials == 1 else "trials"


def highest_goodputs(trials: Sequence[Row]) -> tuple[Highest, ...]:
    """Find the highest median over repeats in each direction and mode; none where no trial is `ok`.

    The rows are those of a summary.
    """
    by_direction: dict[str, list[Row]] = {_name(row): [] for row in trials}
    for row in _cells(trials):
        by_direction[_name(row)].append(row)
    found = []
    for name, rows in by_direction.items():
        if rows:
            best = max(rows, key=lambda row: row["goodput_median_bps"])
            number, unit = format_rate(best["goodput_median_bps"]).split(" ")
            found.append(Highest(name, number, unit, _spread(best), _place(best, trials)))
    return tuple(found)


def _name(row: Row) -> str:
    """The direction of a trial; a mode but the usual one is another way to measure, and stands apart."""
    mode = MODE.value(row)
    return direction(row) if mode in (None, PLAIN_MODE) else f"{direction(row)}, {mode}"


def _cells(trials: Sequence[Row]) -> list[Row]:
    """The points of some trials that have a goodput, their repeats put together."""
    if all(row["goodput_bps"] is None for row in trials):
        return []
    rows: list[Row] = cells(ibis.memtable(pa.Table.from_pylist(list(trials)))).to_pyarrow().to_pylist()
    return [row for row in rows if row["goodput_median_bps"]]


def _spread(row: Row) -> str:
    if row["repeats_ok"] == 1:
        return "1 repeat"
    spread = format_range(row["goodput_lowest_bps"], row["goodput_highest_bps"])
    return f"{row['repeats_ok']} repeats, {spread}"


def _place(row: Row, trials: Sequence[Row]) -> str:
    """Tell flows and window, what else is set and varies in the sweep, and the sweep if there are several."""
    window_sum = row["window_sum_bytes"]
    windows = both_windows(row["window_send_bytes"], row["window_recv_bytes"])
    window = f"window sum {format_size(window_sum)}" if window_sum else f"window {windows}"
    flows = counted(row["flows"], "flow")
    own = [trial for trial in trials if trial["sweep"] == row["sweep"]]
    told = [
        axis.text(axis.value(row))
        for axis in OTHERS
        if axis.value(row) is not None and len(axis.values(own)) > 1
    ]
    sweep = [f"sweep {row['sweep']}"] if len(own) < len(trials) else []
    return ", ".join([flows, window, *told, *sweep])
