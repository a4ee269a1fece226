"""Axes, legend, margins and the unit of rates of flat figures, alike in all of them."""

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from flowsweep.figures.axis import NOT_SET, DrawnAxis, Value
from flowsweep.units import RATE_UNITS

MOST_TICKS = 6


@dataclass(frozen=True, slots=True)
class RateScale:
    """The unit that suits the highest rate of a figure, and how far its axis goes."""

    unit: str
    factor: int
    top: float
    """End of the axis, in the unit."""

    def ticks(self) -> list[float]:
        """Round values up to the top, without the zero, which would cover another axis in space."""
        size = 10.0 ** math.floor(math.log10(self.top))
        step = next(part * size for part in (0.2, 0.5, 1, 2) if self.top / (part * size) <= MOST_TICKS)
        return [float(f"{step * index:.6g}") for index in range(1, int(self.top / step) + 1)]

    def of(self, rate_bps: float | None) -> float | None:
        """A rate in the unit, to 5 significant digits: more than a figure shows, and less to carry."""
        return None if rate_bps is None else float(f"{rate_bps / self.factor:.5g}")


def rate_scale(highest_bps: float) -> RateScale:
    """Choose the unit for rates up to `highest_bps`."""
    unit = next((unit for unit, factor in reversed(RATE_UNITS.items()) if highest_bps >= factor), "bit/s")
    return RateScale(unit, RATE_UNITS[unit], highest_bps / RATE_UNITS[unit] or 1.0)


LEGEND_ABOVE = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"}
MOST_ABOVE = 8
"""A legend of more is a column at the right."""
MARGIN = {"l": 58, "r": 12, "t": 34, "b": 48}
HEADROOM = 1.06
"""How far an axis goes beyond its highest value: a mark there is not cut."""

_HOVER_WIDTH = 60
"""Letters in a line."""

PLATEAU_SHADE = "rgba(122,130,138,0.25)"
"""Of the interval in which a plateau begins."""
THEORY_COLOUR = "#7A828A"
"""Of lines that were computed and not measured, on white and on black."""


def legend_of(axis: DrawnAxis, count: int) -> dict[str, object]:
    """Make a legend of values of a parameter, which the legend's title names."""
    if count > MOST_ABOVE:
        title = {"text": axis.name.replace(" per ", "<br>per "), "font": {"size": 11}}
        return {"title": title, "x": 1.02, "y": 1, "font": {"size": 11}, "tracegroupgap": 0}
    return {"title": {"text": axis.name}, **LEGEND_ABOVE}


def series_name(axis: DrawnAxis, value: Value) -> str:
    """Name a trace in such a legend."""
    return escape(NOT_SET if value is None else axis.write(value), quote=False)


def named_axis(title: str, **more: object) -> dict[str, object]:
    """Make an axis with a title that keeps its distance, and whatever else Plotly shall know of it."""
    return {"title": {"text": title, "standoff": 8}, **more}


def scaled_axis(axis: DrawnAxis, values: Sequence[float]) -> dict[str, object]:
    """Make the log2 axis of a parameter: some of its values as labels, in engineering units."""
    positions, labels = axis.ticks(sorted(set(values)))
    return named_axis(axis.name, automargin=True, tickvals=positions, ticktext=labels, zeroline=False)


def rate_axis(scale: RateScale, title: str) -> dict[str, object]:
    """Make the axis of a goodput, from zero."""
    return named_axis(f"{title}, {scale.unit}", range=[0, scale.top * HEADROOM], nticks=6)


def wrapped(text: str) -> str:
    """Break a sentence into lines, to hover."""
    return "<br>".join(textwrap.wrap(escape(text, quote=False), _HOVER_WIDTH))


def heading(text: str, x_axis: str, y_axis: str) -> dict[str, object]:
    """Put a heading above one of several pairs of axes, given as "x2" and "y2"."""
    return {
        "text": text,
        "xref": f"{x_axis} domain",
        "yref": f"{y_axis} domain",
        "x": 0,
        "y": 1.0,
        "xanchor": "left",
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"size": 12},
    }


def margin_band(margin_percent: float, *, upright: bool) -> dict[str, object]:
    """Shade what is practically equal: between minus and plus the margin, of the x axis if `upright`."""
    across, along = ("x", "y") if upright else ("y", "x")
    return {
        "type": "rect",
        f"{across}ref": across,
        f"{across}0": -margin_percent,
        f"{across}1": margin_percent,
        f"{along}ref": "paper",
        f"{along}0": 0,
        f"{along}1": 1,
        "fillcolor": "rgba(128,128,128,0.16)",
        "line": {"width": 0},
        "layer": "below",
    }
