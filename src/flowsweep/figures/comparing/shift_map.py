"""How much B differs from A, over the two axes of a grid."""

from collections.abc import Sequence

from flowsweep.analysis.comparing.words import change
from flowsweep.analysis.findings.finding import FigureKey
from flowsweep.figures.axis import DrawnAxis
from flowsweep.figures.comparing.points import ComparedPoints, compared_of, compared_row
from flowsweep.figures.drawing import Drawn, file_stem
from flowsweep.figures.grid.diverging import MapSide, RatioCell, RatioScale, ratio_map, ratio_scale
from flowsweep.figures.grid.panel import DIRECTION, Panel, PanelRow, panels
from flowsweep.wording import format_margin, format_percent, format_rate

_MARKS = {"same": "=", "undecided": "?"}


def drawn_shift_maps(points: ComparedPoints) -> list[Drawn]:
    """Draw the shift of goodput for each panel whose points vary in two axes, as a map."""
    planes = [
        (panel, y)
        for panel in panels(points.rows)
        if panel.top_bps > 0 and (y := panel.y or panel.series) is not None and _is_plane(panel, y)
    ]
    return [_drawn(panel, y, points, _scale(panel, points)) for panel, y in planes]


def _is_plane(panel: Panel, y: DrawnAxis) -> bool:
    return min(len(side.values(panel.rows)) for side in (panel.x, y)) > 1


def _scale(panel: Panel, points: ComparedPoints) -> RatioScale:
    """One for all panels of a sweep and mode; as far as differences go that are decided."""
    shifts = [
        row["compared"].shift
        for row in points.rows
        if (row["sweep"], row["mode"]) == (panel.sweep, panel.rows[0]["mode"])
    ]
    decided = (1 + shift.percent / 100 for shift in shifts if shift.outcome in ("faster", "slower"))
    return ratio_scale(decided, "shift", lambda ratio: format_percent(100 * (ratio - 1)))


def _drawn(panel: Panel, y: DrawnAxis, points: ComparedPoints, scale: RatioScale) -> Drawn:
    axes = (y, panel.x)
    # Points that window_max made equal are the same trials: the first stands for them all.
    rows = list({(panel.x.value(row), y.value(row)): row for row in reversed(panel.rows)}.values())[::-1]
    cells = {(panel.x.value(row), y.value(row)): _cell(row, axes) for row in rows}
    drawn = ratio_map(
        MapSide(panel.x, panel.x.values(rows)),
        MapSide(y, y.values(rows)),
        cells,
        scale,
    )
    return Drawn(
        FigureKey("shift", panel.sweep, panel.rows[0]["mode"], panel.direction, y.column),
        panel.title or panel.sweep,
        "Change of goodput from A to B in %, in A's colour where B is slower, in B's where it is faster. "
        f"= the same within {format_margin(points.margin)}; grey, ? undecided: the number may be chance.",
        file_stem(panel.sweep, panel.title, "shift"),
        drawn,
        tuple(compared_row(panel, axes, row) for row in rows),
    )


def _cell(row: PanelRow, axes: Sequence[DrawnAxis]) -> RatioCell:
    found = compared_of(row)
    shift = found.shift
    number = format_percent(shift.percent).removesuffix(" %")
    places = ", ".join(
        str(axis.value(row)) if axis is DIRECTION else axis.text(axis.value(row)) for axis in axes[::-1]
    )
    hover = (
        f"<b>{change(shift)}</b>",
        f"B is {shift.outcome}",
        f"A {format_rate(found.goodput_a_bps)}, B {format_rate(found.goodput_b_bps)}",
        places,
    )
    return RatioCell(
        1.0 if shift.outcome == "same" else 1 + shift.percent / 100,
        "<br>".join(part for part in (_MARKS.get(shift.outcome, ""), number) if part),
        "<br>".join(hover),
        decided=shift.outcome != "undecided",
    )
