"""What came of datagrams against the rate that was asked for: goodput and loss, and how evenly they came."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from statistics import median
from typing import Final

import plotly.graph_objects as go

from flowsweep.analysis.findings.finding import FigureKind
from flowsweep.analysis.summarising.trial_row import TrialRow, known, quantity_of
from flowsweep.figures.axis import FLOWS, DrawnAxis
from flowsweep.figures.drawing import Drawn, FigureData, file_stem
from flowsweep.figures.frame import THEORY_COLOUR, RateScale, named_axis, rate_axis, rate_scale
from flowsweep.figures.framed import framed
from flowsweep.figures.theme import series_colours, symbol
from flowsweep.figures.trials import TrialGroup, trial_groups
from flowsweep.grouping import grouped
from flowsweep.wording import counted, format_number, format_rate

RATE: Final = "rate_sum_bps"
RATES = ("rate_sum_bps", "rate_bps", "spacing_ns")
"""Axes of which one settles the others, once the flows are known."""
_UPPER, _LOWER = (0.54, 1.0), (0.0, 0.40)


@dataclass(frozen=True, slots=True)
class _Quantity:
    """What is drawn over the rate, in its own unit."""

    column: str
    title: str
    unit: str
    """Empty: the unit of the figure's rates."""
    factor: float = 1.0
    """From the column to the unit."""
    otherwise: str = ""
    """Column that is drawn where that one says nothing."""

    def of(self, row: TrialRow) -> float | None:
        """The value of a trial."""
        value = quantity_of(row, self.column)
        return quantity_of(row, self.otherwise) if value is None and self.otherwise else value

    @property
    def columns(self) -> tuple[str, ...]:
        """Those that it comes from."""
        return (self.column, self.otherwise) if self.otherwise else (self.column,)


# Of the whole trial, as loss is: the median interval may be full where an eighth of the datagrams was lost.
GOODPUT = _Quantity("goodput_mean_bps", "goodput", "", otherwise="goodput_bps")
LOSS = _Quantity("loss", "loss", "%", 100.0)
JITTER = _Quantity("jitter_ms", "jitter", "ms")
VARIATION = _Quantity("delay_variation_ms", "delay variation", "ms")


def drawn_offered(data: FigureData) -> list[Drawn]:
    """Draw goodput and loss against the rate, then jitter and delay variation, for each direction."""
    found = []
    for group in trial_groups(data.trials, data.cells):
        rows = [row for row in group.good if row.get(RATE) is not None and row.get("loss") is not None]
        if len({row[RATE] for row in rows}) > 1:
            found.append(_drawn(group, rows, "offered", (GOODPUT, LOSS), _OFFERED_CAPTION))
            if any(row["jitter_ms"] is not None for row in rows):
                found.append(_drawn(group, rows, "jitter", (JITTER, VARIATION), _JITTER_CAPTION))
    return found


_OFFERED_CAPTION = (
    "Above: payload that the sinks got, the mean over the trial; the dashed line is all that was asked "
    "for. Below: the share of the datagrams that did not come."
)
_JITTER_CAPTION = (
    "Above: interarrival jitter (RFC 3550), the mean over the trial. Below: how much longer than the "
    "quickest one the slowest of 100 datagrams took (RFC 3393)."
)


def _drawn(
    group: TrialGroup,
    rows: Sequence[TrialRow],
    kind: FigureKind,
    quantities: tuple[_Quantity, _Quantity],
    caption: str,
) -> Drawn:
    scale = rate_scale(max(known(row[RATE]) for row in rows))
    series = _series(group, rows)
    colours = series_colours(len(series))
    traces: list[go.Scatter] = []
    for place, quantity in enumerate(quantities):
        for index, (name, of_name) in enumerate(series.items()):
            traces += _traces(of_name, quantity, scale, name, colours[index], index, place)
    if GOODPUT in quantities:
        traces.append(_all_of_it(rows, scale))
    drawn = framed(
        traces,
        showlegend=len(series) > 1 or GOODPUT in quantities,
        xaxis=rate_axis(scale, "rate asked of all flows") | {"anchor": "y2"},
        yaxis=_axis(quantities[0], scale) | {"domain": _UPPER},
        yaxis2=_axis(quantities[1], scale) | {"domain": _LOWER},
    )
    return Drawn(
        group.key(kind, RATE),
        group.title,
        f"{caption} Median over the repeats, faint marks are the repeats.",
        file_stem(group.sweep, group.title, kind),
        drawn,
        tuple(_row(group, name, row, quantities) for name, of_name in series.items() for row in of_name),
    )


def _series(group: TrialGroup, rows: Sequence[TrialRow]) -> dict[str, list[TrialRow]]:
    """Trials by all that differs besides the rate: first the flows."""
    others: list[DrawnAxis] = [
        axis for axis in group.varying() if axis.column not in RATES and axis is not FLOWS
    ]
    order = sorted(
        rows, key=lambda row: (row["flows"], *(axis.values(rows).index(axis.value(row)) for axis in others))
    )
    return grouped(
        order,
        lambda row: ", ".join((counted(row["flows"], "flow"), *(one.text(one.value(row)) for one in others))),
    )


def _traces(  # the repeats and the medians of one series
    rows: Sequence[TrialRow],
    quantity: _Quantity,
    scale: RateScale,
    name: str,
    colour: str,
    index: int,
    place: int,
) -> Iterator[go.Scatter]:
    points: dict[float, list[float]] = {}
    for row in sorted(rows, key=lambda row: known(row[RATE])):
        if (value := quantity.of(row)) is not None:
            points.setdefault(known(row[RATE]), []).append(value)
    shared = {"name": escape(name, quote=False), "legendgroup": name, "yaxis": "y2" if place else "y"}
    yield go.Scatter(
        x=[scale.of(rate) for rate, values in points.items() for _ in values],
        y=[_height(quantity, value, scale) for values in points.values() for value in values],
        mode="markers",
        showlegend=False,
        marker={"color": colour, "size": 5, "opacity": 0.35},
        hoverinfo="skip",
        **shared,
    )
    yield go.Scatter(
        x=[scale.of(rate) for rate in points],
        y=[_height(quantity, median(values), scale) for values in points.values()],
        mode="lines+markers",
        showlegend=place == 0,
        line={"color": colour, "width": 2},
        marker={"color": colour, "size": 7, "symbol": symbol(index)},
        text=[_said(quantity, median(values), rate, len(values)) for rate, values in points.items()],
        hovertemplate="%{text}<extra>%{fullData.name}</extra>",
        **shared,
    )


def _all_of_it(rows: Sequence[TrialRow], scale: RateScale) -> go.Scatter:
    rates = [known(row[RATE]) for row in rows]
    ends = [scale.of(end) for end in (min(rates), max(rates))]
    return go.Scatter(
        x=ends, y=ends, mode="lines", name="asked", line={"color": THEORY_COLOUR, "width": 1, "dash": "dash"},
        hoverinfo="skip",
    )  # fmt: skip


def _height(quantity: _Quantity, value: float, scale: RateScale) -> float | None:
    return scale.of(value) if not quantity.unit else float(f"{value * quantity.factor:.5g}")


def _axis(quantity: _Quantity, scale: RateScale) -> dict[str, object]:
    title = f"{quantity.title}, {quantity.unit or scale.unit}"
    return named_axis(title, rangemode="tozero", nticks=6)


def _said(quantity: _Quantity, value: float, rate_bps: float, repeats: int) -> str:
    shown = (
        format_rate(value)
        if not quantity.unit
        else f"{format_number(value * quantity.factor)} {quantity.unit}"
    )
    return (
        f"{quantity.title} <b>{shown}</b><br>of {format_rate(rate_bps)} asked<br>{counted(repeats, 'trial')}"
    )


def _row(group: TrialGroup, name: str, row: TrialRow, quantities: Sequence[_Quantity]) -> dict[str, object]:
    return {
        "sweep": group.sweep,
        "direction": group.direction,
        "series": name,
        "flows": row["flows"],
        RATE: row[RATE],
        **{column: row.get(column) for quantity in quantities for column in quantity.columns},
        "repeat": row["repeat"],
        "trial_id": row["trial_id"],
    }
