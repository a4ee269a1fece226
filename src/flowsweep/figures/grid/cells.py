"""Points of a grid as figures show them: a median over repeats, what it is worth, and words for it."""

from collections.abc import Sequence
from dataclasses import dataclass

from flowsweep.figures.axis import DrawnAxis, Value
from flowsweep.figures.frame import wrapped
from flowsweep.figures.grid.panel import PanelRow
from flowsweep.figures.stepped import BEFORE, SINCE
from flowsweep.wording import counted, format_rate, format_share


@dataclass(frozen=True, slots=True)
class Cell:
    """One point of a grid, as `flowsweep.analysis.grid_rows` has it."""

    median_bps: float | None
    """Median over the repeats; absent if none ended well."""
    goodputs_bps: tuple[float, ...]
    """Sum over the flows, one for each repeat that ended well; ascending."""
    trials: int
    """All that were run here, whatever became of them."""
    capped: bool
    """The window per flow was held at `window_max`: the window sum is less than asked."""
    measured_bps: float | None = None
    """Of a prediction, which then is the median: what was measured."""
    failure: str = ""
    """Why no trial ended well; plain text, empty if that is not known."""
    before_bps: tuple[float, ...] | None = None
    """Of the repeats before goodput stepped; absent where it did not: all others are of those since then."""
    before_only: bool = False
    """All repeats ran before goodput stepped."""

    def describe(self) -> tuple[str, ...]:
        """Lines for people: the value with its unit, repeats and spread, what is special."""
        if self.median_bps is None:
            said = f"no goodput: {counted(self.trials, 'trial')}, none ok"
            said += self.when
            return (said, *([wrapped(self.failure)] if self.failure else []), *self._before)
        lines = [f"<b>{format_rate(self.median_bps)}</b>"]
        if self.measured_bps is not None:
            share = format_share(self.measured_bps / self.median_bps)
            return (*lines, "predicted", f"measured: {format_rate(self.measured_bps)}, {share} of that")
        if len(self.goodputs_bps) > 1:
            lowest, highest = self.goodputs_bps[0], self.goodputs_bps[-1]
            lines.append(
                f"median of {len(self.goodputs_bps)} repeats{self.when}, {format_range(lowest, highest)}"
            )
        else:
            lines.append(f"1 repeat{self.when}")
        lines += self._before
        if self.trials > len(self.goodputs_bps):
            lines.append(f"{counted(self.trials - len(self.goodputs_bps), 'trial')} not ok, left out")
        if self.capped:
            lines.append("capped: window per flow held at window_max")
        return tuple(lines)

    @property
    def when(self) -> str:
        """On which side of a step the repeats ran, in words that follow them; empty without one."""
        return f" {BEFORE}" if self.before_only else "" if self.before_bps is None else f" {SINCE}"

    @property
    def _before(self) -> tuple[str, ...]:
        """A line on the repeats before a step."""
        if not self.before_bps:
            return ()
        repeats = counted(len(self.before_bps), "repeat")
        return (f"before that {format_range(self.before_bps[0], self.before_bps[-1])} in {repeats}",)


def cell(row: PanelRow, *, divisor: int = 1) -> Cell:
    """Read a point; its goodputs are divided, if only the share of one flow is asked for."""
    median, before_bps = row["goodput_median_bps"], row.get("goodputs_before_bps")
    return Cell(
        None if median is None else median / divisor,
        tuple(sorted(goodput / divisor for goodput in row["goodputs_bps"] or ())),
        row["trials"],
        row["window_capped"],
        row.get("measured_bps"),
        row.get("failure") or "",
        None if before_bps is None else tuple(goodput / divisor for goodput in before_bps),
        row.get("before_only", False),
    )


def placed(rows: Sequence[PanelRow], axes: Sequence[DrawnAxis]) -> dict[tuple[float, ...], PanelRow]:
    """Find the point at each place on some axes, in their order; one with nothing set on them has no place.

    Points that `window_max` made equal are the same trials: the first stands for them all.
    """
    found: dict[tuple[float, ...], PanelRow] = {}
    for row in rows:
        key: tuple[Value, ...] = tuple(axis.value(row) for axis in axes)
        if None not in key:
            found.setdefault(key, row)
    return dict(sorted(found.items()))


def format_range(lowest_bps: float, highest_bps: float) -> str:
    """Write the spread of rates: "93.1 to 93.6 Mbit/s", "940 kbit/s to 1.20 Mbit/s"."""
    low, high = format_rate(lowest_bps), format_rate(highest_bps)
    if low == high:
        return f"each {high}"
    low_number, low_unit = low.split(" ")
    return f"{low_number} to {high}" if high.endswith(f" {low_unit}") else f"{low} to {high}"
