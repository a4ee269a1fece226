"""Goodput as searches for the plateau know it: the mean of each level, and the response they believe."""

from collections.abc import Iterable

import plotly.graph_objects as go

from flowsweep.analysis.findings.finding import FigureKey
from flowsweep.analysis.findings.plateau.searched import FLOWS, LEVEL, PlateauSearched, plateau_searches
from flowsweep.defaults import EQUIVALENCE_MARGIN
from flowsweep.figures.axis import position
from flowsweep.figures.drawing import Drawn, FigureData, file_stem
from flowsweep.figures.frame import THEORY_COLOUR, RateScale, rate_axis, rate_scale, scaled_axis
from flowsweep.figures.framed import framed
from flowsweep.figures.grid.search import SEARCHED_AXES, shaded_interval, shaded_words
from flowsweep.figures.theme import BLUE, GREEN, VERMILION
from flowsweep.schedule.search.curve import Curve, curve_of
from flowsweep.wording import counted, format_margin, format_rate

_CAPTION = (
    "Mean goodput of each {level} at the mean of the rounds, with {sure} intervals. {curve} {shaded}Dotted: "
    "{margin} below the plateau, from where on goodput is enough."
)
_CURVE = (
    "Line and band: the response that the search believes, and about where it lies with {sure} confidence."
)
_NO_CURVE = "No line is drawn, since no smooth response fits these means."
_MARKS = {
    "not enough": (VERMILION, "triangle-down"),
    "undecided": ("#8C8C8C", "circle-open"),
    "enough": (GREEN, "triangle-up"),
}
"""By what is shown of a level."""
_FAR_BEYOND = 3
"""Times the top of the axis."""
_BAND = "rgba(0,114,178,0.18)"


def drawn_responses(data: FigureData) -> list[Drawn]:
    """Draw for each search what it knows; none of one that knows nothing."""
    return [_drawn(search, curve) for search in plateau_searches(data.trials) if (curve := _curve(search))]


def _curve(search: PlateauSearched) -> Curve | None:
    if search.belief is None:
        return None
    return curve_of(search.tried, *search.range, confidence=search.confidence)


def _drawn(search: PlateauSearched, curve: Curve) -> Drawn:
    assert search.belief is not None
    sure = format_margin(search.confidence)
    scale = rate_scale(max(curve.means.middle))
    enough = scale.of(search.belief.plateau_bps * (1 - EQUIVALENCE_MARGIN))
    dotted = {"color": THEORY_COLOUR, "width": 1.5, "dash": "dot"}
    return Drawn(
        FigureKey("response", search.sweep, search.mode, direction=search.direction),
        f"{search.direction}, {search.name}",
        _CAPTION.format(
            level=LEVEL[search.axis],
            sure=sure,
            shaded=shaded_words(search),
            margin=format_margin(EQUIVALENCE_MARGIN),
            curve=_NO_CURVE if curve.response is None else _CURVE.format(sure=sure),
        ),
        file_stem(search.sweep, search.direction, search.name, "response"),
        framed(
            [*_response(curve, scale), *_means(search, curve, scale)],
            shapes=[
                *shaded_interval(search, "x"),
                {
                    "type": "line",
                    "xref": "paper",
                    "x0": 0,
                    "x1": 1,
                    "y0": enough,
                    "y1": enough,
                    "line": dotted,
                },
            ],
            xaxis=scaled_axis(SEARCHED_AXES[search.axis], curve.levels),
            yaxis=rate_axis(scale, "mean goodput"),
        ),
        tuple(_rows(search, curve)),
    )


def _response(curve: Curve, scale: RateScale) -> list[go.Scatter]:
    found = curve.response
    if found is None:
        return []
    x = [position(place) for place in curve.places]
    line = {"x": x, "y": _heights(found.middle, scale), "line": {"color": BLUE, "width": 2}}
    traces = [go.Scatter(**line, mode="lines", name="response", hoverinfo="skip")]
    band = _heights([*found.high, *reversed(found.low)], scale)
    edge = {"x": [*x, *reversed(x)], "y": band, "line": {"width": 0}, "fill": "toself", "fillcolor": _BAND}
    return [go.Scatter(**edge, mode="lines", showlegend=False, hoverinfo="skip"), *traces]


def _heights(goodputs_bps: Iterable[float], scale: RateScale) -> list[float]:
    """Where they are on the axis; what is infinite lies far above it."""
    return [min(scale.of(goodput) or 0.0, _FAR_BEYOND * scale.top) for goodput in goodputs_bps]


def _means(search: PlateauSearched, curve: Curve, scale: RateScale) -> list[go.Scatter]:
    """A trace for each kind of mark, so that the legend names them."""
    traces = []
    for shown, (colour, mark) in _MARKS.items():
        numbers = [number for number, one in enumerate(curve.shown) if one == shown]
        if numbers:
            traces.append(_marks(search, curve, scale, numbers, shown, colour, mark))
    return traces


def _marks(
    search: PlateauSearched,
    curve: Curve,
    scale: RateScale,
    numbers: list[int],
    shown: str,
    colour: str,
    mark: str,
) -> go.Scatter:
    low, middle, high = (
        _heights(ends[numbers], scale) for ends in (curve.means.low, curve.means.middle, curve.means.high)
    )
    return go.Scatter(
        x=[position(curve.levels[number]) for number in numbers],
        y=middle,
        mode="markers",
        name=shown,
        marker={"color": colour, "symbol": mark, "size": 9},
        error_y={
            "type": "data",
            "symmetric": False,
            "array": [end - at for end, at in zip(high, middle, strict=True)],
            "arrayminus": [at - end for end, at in zip(low, middle, strict=True)],
            "color": colour,
            "thickness": 1,
        },
        text=[_hover(search, curve, number) for number in numbers],
        hovertemplate="%{text}<extra></extra>",
    )


def _hover(search: PlateauSearched, curve: Curve, number: int) -> str:
    level = SEARCHED_AXES[search.axis].write(curve.levels[number])
    goodput = format_rate(curve.means.middle[number])
    return f"<b>{level}</b>: {goodput}, {curve.shown[number]}<br>{counted(curve.trials[number], 'trial')}"


def _rows(search: PlateauSearched, curve: Curve) -> list[dict[str, object]]:
    return [
        {
            "sweep": search.sweep,
            "direction": search.direction,
            "point": search.name,
            "flows_per_pair": level if search.axis == FLOWS else search.steps[0]["flows_per_pair"],
            "window_sum_bytes": None if search.axis == FLOWS else level,
            "trials": curve.trials[number],
            "goodput_mean_bps": float(curve.means.middle[number]),
            "goodput_low_bps": _finite(curve.means.low[number]),
            "goodput_high_bps": _finite(curve.means.high[number]),
            "shown": curve.shown[number],
        }
        for number, level in enumerate(curve.levels)
    ]


def _finite(value: float) -> float | None:
    """None where nothing is known of the noise."""
    return float(value) if 0 < value < float("inf") else None
