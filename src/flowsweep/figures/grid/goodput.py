"""Goodput over the points of a grid: surfaces and maps, lines, and what one flow got."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import fmean

import plotly.graph_objects as go

from flowsweep.analysis.findings.finding import FigureKey, FigureKind
from flowsweep.figures.axis import FLOWS, LENGTH, DrawnAxis
from flowsweep.figures.drawing import Drawn, FigureData, file_stem
from flowsweep.figures.grid.cells import placed
from flowsweep.figures.grid.heatmap import heatmap
from flowsweep.figures.grid.line import line
from flowsweep.figures.grid.panel import Panel, PanelRow, panels
from flowsweep.figures.grid.per_flow import per_flow, per_flow_axes
from flowsweep.figures.grid.predicted import predicted, predictions
from flowsweep.figures.grid.repeats import is_one_place, repeats, repeats_words
from flowsweep.figures.grid.surface import surface
from flowsweep.figures.stepped import MEASURED_SINCE, NUMBERS, OPEN_MARKS, words_of

_MEDIANS = "Median over the repeats of the sum over all flows."


def drawn_planes(data: FigureData) -> list[Drawn]:
    """Draw each plane as a surface and as a map: over window and flows, then over window and length."""
    found = [
        *with_goodput(panels(data.grid, beside=data.beside)),
        *with_goodput(panels(data.grid, against=LENGTH, beside=data.beside)),
    ]
    return [one for panel in found if panel.y is not None for one in _plane(panel, panel.y)]


def drawn_predictions(data: FigureData) -> list[Drawn]:
    """Draw what is predicted for each plane over window and flows whose link is known, likewise."""
    by_point = predictions(data.sides.counted)
    found = []
    for panel in with_goodput(panels(data.grid, beside=data.beside)):
        expected = predicted(panel, by_point) if panel.y is not None else None
        if expected is not None:
            found += _prediction(expected, by_point.source, by_point.beyond_words(expected))
    return found


def drawn_lines(data: FigureData) -> list[Drawn]:
    """Draw the panels that are no plane as lines."""
    caption = f"{_MEDIANS} Faint marks are the repeats."
    return [
        _drawn(
            "line",
            panel,
            panel.x.column,
            line(panel),
            _axes(panel),
            caption + words_of(panel.rows, OPEN_MARKS),
        )
        for panel in with_goodput(panels(data.grid, beside=data.beside))
        if panel.y is None and not is_one_place(panel)
    ]


def drawn_repeats(data: FigureData) -> list[Drawn]:
    """Draw the panels whose points have no scale to stand on, each repeat by itself."""
    return [
        _drawn("repeats", panel, panel.x.column, repeats(panel), _axes(panel), repeats_words(panel))
        for panel in with_goodput(panels(data.grid, beside=data.beside))
        if is_one_place(panel)
    ]


def drawn_per_flow(data: FigureData) -> list[Drawn]:
    """Draw the goodput of one flow over the window of one flow, where windows vary."""
    caption = "Median over the repeats of the sum divided by the flows. Faint marks are the repeats."
    found = []
    for panel in with_goodput(panels(data.grid, beside=data.beside)):
        if panel.of_datagrams or (panel.y is None and FLOWS.values(panel.rows) == (1,)):
            continue  # No window holds datagrams back; of one flow the line shows the same.
        figure, axes = per_flow(panel), per_flow_axes(panel)
        if figure is not None and axes is not None:
            said = caption + words_of(panel.rows, OPEN_MARKS)
            found.append(_drawn("per_flow", panel, axes[-1].column, figure, axes, said))
    return found


def point_rows(panel: Panel, axes: Sequence[DrawnAxis]) -> tuple[dict[str, object], ...]:
    """One row for each point of a figure: what it shows."""
    stepped = any(row.get("goodputs_before_bps") is not None or row.get("before_only") for row in panel.rows)
    return tuple(
        {
            "sweep": panel.sweep,
            "direction": panel.direction or "",
            **{axis.column: value for axis, value in panel.fixed},
            **dict(zip([axis.column for axis in axes], key, strict=True)),
            **{
                f"goodput_{name}_bps": row.get(f"goodput_{name}_bps")
                for name in ("median", "lowest", "highest")
            },
            "goodput_average_bps": fmean(goodputs) if (goodputs := row.get("goodputs_bps")) else None,
            "repeats_ok": row["repeats_ok"],
            "trials": row["trials"],
            "capped": row["window_capped"],
            **(_before(row) if stepped else {}),
        }
        for key, row in placed(panel.rows, axes).items()
    )


def _before(row: PanelRow) -> dict[str, object]:
    """What ran before goodput stepped, beside what ran since then."""
    before_bps = (row["goodputs_bps"] if row["before_only"] else row["goodputs_before_bps"]) or []
    ends = {"lowest": min(before_bps, default=None), "highest": max(before_bps, default=None)}
    return {
        "before_step_only": row["before_only"],
        "before_step_repeats_ok": len(before_bps),
        **{f"before_step_goodput_{name}_bps": end for name, end in ends.items()},
    }


def with_goodput(found: Iterable[Panel]) -> list[Panel]:
    """Leave out panels in which nothing was carried."""
    return [panel for panel in found if panel.top_bps > 0]


def predicted_rows(panel: Panel) -> tuple[dict[str, object], ...]:
    """One row for each point of a panel of predictions: what is predicted, and what was measured."""
    return tuple(
        {
            **{name: value for name, value in row.items() if not name.startswith("goodput")},
            "predicted_bps": row["goodput_median_bps"],
            "measured_bps": one["measured_bps"],
        }
        for row, one in zip(
            point_rows(panel, _axes(panel)), placed(panel.rows, _axes(panel)).values(), strict=True
        )
    )


def _plane(panel: Panel, y: DrawnAxis) -> list[Drawn]:
    caption = f"{_MEDIANS} Colours and heights have one scale in the whole sweep."
    caption += words_of(panel.rows, NUMBERS)
    over = None if y is FLOWS else f"over {y.name}"
    return [
        _drawn("plane", panel, y.column, figure, _axes(panel), caption, over, name, needs_webgl=webgl)
        for figure, name, webgl in ((surface(panel), "surface", True), (heatmap(panel), "map", False))
    ]


def _prediction(panel: Panel, source: str, beyond: str) -> list[Drawn]:
    caption = f"What is predicted, by {source}.{beyond} Hover to compare it with what was measured."
    caption += words_of(panel.rows, MEASURED_SINCE)
    return [
        replace(
            _drawn("prediction", panel, "flows", figure, (), caption, "predicted", name, needs_webgl=webgl),
            rows=predicted_rows(panel),
        )
        for figure, name, webgl in ((surface(panel), "surface", True), (heatmap(panel), "map", False))
    ]


def _drawn(  # one figure of a panel
    kind: FigureKind,
    panel: Panel,
    axis: str,
    figure: go.Figure,
    axes: Sequence[DrawnAxis],
    caption: str,
    *names: str | None,
    needs_webgl: bool = False,
) -> Drawn:
    return Drawn(
        FigureKey(kind, panel.sweep, panel.rows[0]["mode"], panel.direction, axis),
        panel.title or panel.sweep,
        caption,
        file_stem(panel.sweep, panel.title, *names) if names else file_stem(panel.sweep, panel.title, kind),
        figure,
        point_rows(panel, axes),
        needs_webgl,
    )


def _axes(panel: Panel) -> list[DrawnAxis]:
    return list(dict.fromkeys(axis for axis in (panel.series, panel.y, panel.x) if axis is not None))
