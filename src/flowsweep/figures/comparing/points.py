"""The points of two campaigns that were compared, as rows that figures draw."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from flowsweep.analysis.axes import level_of
from flowsweep.analysis.comparing.comparison import Comparison, PointShift
from flowsweep.analysis.grid_rows import POINT_COLUMNS, CellRow
from flowsweep.analysis.summarising.trial_row import known
from flowsweep.figures.axis import DrawnAxis
from flowsweep.figures.grid.panel import Panel, PanelRow

_ASKED = "window_sum_asked_bytes"
"""A trial may answer several of them: comparisons match trials without it."""


class ComparedRow(CellRow):
    """A point of A, with what the comparison and B have of it. `goodput_highest_bps` is of both."""

    compared: PointShift
    goodputs_of_b_bps: list[float] | None


@dataclass(frozen=True, slots=True)
class ComparedPoints:
    """What both campaigns have, point by point."""

    names: tuple[str, str]
    """Of A and of B, as a legend has them."""
    rows: tuple[ComparedRow, ...]
    """What figures draw."""
    cells_a: tuple[CellRow, ...]
    """The same points as A has them."""
    cells_b: tuple[CellRow, ...]
    """And B."""
    margin: float
    """Share of goodput that counts as the same."""


def compared_points(
    comparison: Comparison, names: tuple[str, str], cells_a: Sequence[CellRow], cells_b: Sequence[CellRow]
) -> ComparedPoints:
    """Put the points that both campaigns have beside each other.

    Args:
        comparison: Of the two.
        names: Of A and of B.
        cells_a: Of A, as `flowsweep.analysis.cells` has them, in the order in which they shall stand.
        cells_b: Of B.
    """
    shifts = {_point(one.point): one for one in comparison.points}
    of_b = {(_point(row), row.get(_ASKED)): row for row in cells_b}
    both = [
        (row, other, shifts[_point(row)])
        for row in cells_a
        if _point(row) in shifts and (other := of_b.get((_point(row), row.get(_ASKED)))) is not None
    ]
    return ComparedPoints(
        names,
        tuple(_joined(row, other, shift) for row, other, shift in both),
        tuple(row for row, _, _ in both),
        tuple(row for _, row, _ in both),
        comparison.margin,
    )


def in_both(row: PanelRow) -> ComparedRow:
    """Take a row of a panel for one of `ComparedPoints.rows`, which panels know as points of any grid."""
    return cast("ComparedRow", row)


def compared_of(row: PanelRow) -> PointShift:
    """What the comparison says of one of `ComparedPoints.rows`."""
    return in_both(row)["compared"]


def compared_row(panel: Panel, axes: Sequence[DrawnAxis], row: PanelRow) -> dict[str, object]:
    """Tell a point in columns with units: where it is, what A and B carried, and the shift.

    Args:
        panel: That it is of.
        axes: What its figures show of it besides the direction.
        row: Of `ComparedPoints.rows`.
    """
    found = compared_of(row)
    shift = found.shift
    return {
        "sweep": panel.sweep,
        "direction": panel.direction or "",
        **{axis.column: value for axis, value in panel.fixed},
        **{axis.column: axis.value(row) for axis in axes},
        "goodput_a_bps": found.goodput_a_bps,
        "goodput_b_bps": found.goodput_b_bps,
        "trials_a": shift.repeats_a,
        "trials_b": shift.repeats_b,
        "shift_percent": shift.percent,
        "interval_low_percent": shift.interval_low_percent,
        "interval_high_percent": shift.interval_high_percent,
        "outcome": shift.outcome,
    }


def _joined(row: CellRow, other: CellRow, shift: PointShift) -> ComparedRow:
    return {
        **row,
        "goodput_highest_bps": max(known(row["goodput_highest_bps"]), known(other["goodput_highest_bps"])),
        "goodputs_of_b_bps": other["goodputs_bps"],
        "compared": shift,
    }


def _point(row: Mapping[str, object]) -> tuple[Hashable, ...]:
    return tuple(level_of(row, name) for name in POINT_COLUMNS if name != _ASKED)
