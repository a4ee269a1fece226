"""Trials at the same point of a grid, put together: the median over the repeats, and their spread."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from flowsweep.figures.axis import Axis, Row, Value
from flowsweep.wording import format_rate


@dataclass(frozen=True, slots=True)
class Cell:
    """One point of a grid."""

    goodputs_bps: tuple[float, ...]
    """Sum over the flows, one for each repeat that ended well; ascending."""
    trials: int
    """All that were run here, whatever became of them."""
    capped: bool
    """The window per flow was held at `window_max`: the window sum is less than asked."""

    @property
    def median_bps(self) -> float | None:
        """Median over the repeats; absent if none ended well."""
        return statistics.median(self.goodputs_bps) if self.goodputs_bps else None

    def describe(self) -> tuple[str, ...]:
        """Lines for people: the value with its unit, repeats and spread, what is special."""
        if self.median_bps is None:
            return (f"no goodput: {_count(self.trials)}, none ok",)
        lines = [f"<b>{format_rate(self.median_bps)}</b>"]
        if len(self.goodputs_bps) > 1:
            lowest, highest = self.goodputs_bps[0], self.goodputs_bps[-1]
            lines.append(f"median of {len(self.goodputs_bps)} repeats, {format_range(lowest, highest)}")
        else:
            lines.append("1 repeat")
        if self.trials > len(self.goodputs_bps):
            lines.append(f"{_count(self.trials - len(self.goodputs_bps))} not ok, left out")
        if self.capped:
            lines.append("capped: window per flow held at window_max")
        return tuple(lines)


def cell(rows: Sequence[Row]) -> Cell:
    """Put the trials of one point together; only those that ended `ok` count for the goodput.

    A trial that answers several asked points counts once.
    """
    trials = {row["trial_id"]: row for row in rows}.values()
    goodputs = sorted(
        row["goodput_bps"] for row in trials if row["status"] == "ok" and row["goodput_bps"] is not None
    )
    return Cell(tuple(goodputs), len(trials), any(row.get("window_capped") for row in rows))


def cells(rows: Sequence[Row], axes: Sequence[Axis]) -> dict[tuple[float, ...], Cell]:
    """Put trials together by their values on some axes; rows with nothing set on one of them are left out."""
    groups: dict[tuple[float, ...], list[Row]] = {}
    for row in rows:
        key: tuple[Value, ...] = tuple(axis.value(row) for axis in axes)
        if None not in key:
            groups.setdefault(key, []).append(row)
    return {key: cell(group) for key, group in sorted(groups.items())}


def format_range(lowest_bps: float, highest_bps: float) -> str:
    """Write the spread of rates: "93.1 to 93.6 Mbit/s", "940 kbit/s to 1.20 Mbit/s"."""
    low, high = format_rate(lowest_bps), format_rate(highest_bps)
    if low == high:
        return f"all {high}"
    low_number, low_unit = low.split(" ")
    return f"{low_number} to {high}" if high.endswith(f" {low_unit}") else f"{low} to {high}"


def _count(trials: int) -> str:
    return "1 trial" if trials == 1 else f"{trials} trials"
