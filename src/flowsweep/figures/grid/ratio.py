"""What was measured as a share of what theory predicts, over the two axes of a plane."""

from collections.abc import Mapping

import plotly.graph_objects as go

from flowsweep.analysis.findings.finding import FigureKey
from flowsweep.analysis.summarising.trial_row import known, quantity_of
from flowsweep.figures.axis import FLOWS, LENGTH, DrawnAxis, Value
from flowsweep.figures.drawing import Drawn, FigureData, file_stem
from flowsweep.figures.grid.cells import placed
from flowsweep.figures.grid.diverging import MapSide, RatioCell, RatioScale, ratio_map, ratio_scale
from flowsweep.figures.grid.goodput import predicted_rows, with_goodput
from flowsweep.figures.grid.panel import Panel, PanelRow, panels
from flowsweep.figures.grid.predicted import predicted, predictions
from flowsweep.figures.stepped import SINCE_THEN, words_of
from flowsweep.wording import format_number, format_rate


def drawn_ratios(data: FigureData) -> list[Drawn]:
    """Draw measured ÷ predicted for each plane whose link is known: over window and flows or length."""
    by_point = predictions(data.sides.counted)
    planes = [
        expected
        for against in (FLOWS, LENGTH)
        for panel in with_goodput(panels(data.grid, against=against))
        if panel.y is not None and (expected := predicted(panel, by_point)) is not None
    ]
    ratios: dict[tuple[str, Value], list[float]] = {}
    for panel in planes:
        ratios.setdefault(_scaled_alike(panel), []).extend(_share(_both(row)) for row in panel.rows)
    scales = {alike: ratio_scale(found, "ratio", format_number) for alike, found in ratios.items()}
    caption = (
        f"{by_point.measured} ÷ predicted: {by_point.source}. 1 means as predicted. Colours have one scale "
        "in the whole sweep."
    )
    return [
        _ratio(
            panel,
            panel.y,
            scales[_scaled_alike(panel)],
            f"{caption}{by_point.beyond_words(panel)}{words_of(panel.rows, SINCE_THEN)}",
        )
        for panel in planes
        if panel.y is not None
    ]


def _scaled_alike(panel: Panel) -> tuple[str, Value]:
    """Panels of one sweep and mode have one scale."""
    return panel.sweep, panel.rows[0]["mode"]


def _ratio(panel: Panel, y: DrawnAxis, scale: RatioScale, caption: str) -> Drawn:
    over = None if y is FLOWS else f"over {y.name}"
    rows = tuple(row | {"ratio": _share(row)} for row in predicted_rows(panel))
    return Drawn(
        FigureKey("ratio", panel.sweep, panel.rows[0]["mode"], panel.direction, y.column),
        panel.title or panel.sweep,
        caption,
        file_stem(panel.sweep, panel.title, over, "measured to predicted"),
        _map(panel, y, scale),
        rows,
    )


def _map(panel: Panel, y: DrawnAxis, scale: RatioScale) -> go.Figure:
    found = placed(panel.rows, (panel.x, y))
    cells = {
        (at_x, at_y): RatioCell(
            _share(_both(row)), format_number(_share(_both(row))), _hover(panel, y, row, (at_x, at_y))
        )
        for (at_x, at_y), row in found.items()
    }
    xs, ys = (tuple(sorted({key[place] for key in found})) for place in (0, 1))
    return ratio_map(MapSide(panel.x, xs), MapSide(y, ys), cells, scale)


def _both(row: PanelRow) -> dict[str, float]:
    return {"measured_bps": known(row["measured_bps"]), "predicted_bps": known(row["goodput_median_bps"])}


def _share(row: Mapping[str, object]) -> float:
    measured_bps, predicted_bps = (
        known(quantity_of(row, f"{name}_bps")) for name in ("measured", "predicted")
    )
    return float(f"{measured_bps / predicted_bps:.5g}")


def _hover(panel: Panel, y: DrawnAxis, row: PanelRow, at: tuple[float, float]) -> str:
    both = _both(row)
    return "<br>".join(
        (
            f"<b>{format_number(_share(both))}</b> of what is predicted",
            f"measured: {format_rate(both['measured_bps'])}",
            f"predicted: {format_rate(both['predicted_bps'])}",
            f"{panel.x.text(at[0])}, {y.text(at[1])}",
        )
    )
