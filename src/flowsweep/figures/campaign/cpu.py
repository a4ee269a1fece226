"""CPU of both ends: load against goodput and the number of flows, and time for each GB against flows."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

import plotly.graph_objects as go

from flowsweep.analysis.summarising.trial_row import TrialRow, goodput_of, known, quantity_of
from flowsweep.figures.axis import FLOWS, LENGTH, WINDOW_SUM, WINDOWS, DrawnAxis, position
from flowsweep.figures.drawing import Drawn, FigureData, file_stem
from flowsweep.figures.frame import (
    HEADROOM,
    heading,
    legend_of,
    named_axis,
    rate_scale,
    scaled_axis,
    series_name,
)
from flowsweep.figures.theme import figure, series_colours, symbol
from flowsweep.figures.trials import TrialGroup, facts, of_trials, trial_groups
from flowsweep.wording import counted, format_number


@dataclass(frozen=True, slots=True)
class _Measure:
    """What a pair of axes shows, of sender and receiver."""

    columns: tuple[str, str]
    whose: str
    """Behind the end, in headings."""
    name: str = "CPU load"
    unit: str = "%"
    factor: int = 100
    """How many of the unit are one of the columns' own."""


_THREAD = _Measure(("cpu_send", "cpu_recv"), ", thread")
_HOST = _Measure(("cores_busy_send", "cores_busy_recv"), ", host")
_COST = _Measure(("cpu_send_s_per_gb", "cpu_recv_s_per_gb"), "", "CPU time", "s/GB", 1)
_LOADS = (_THREAD, _HOST)
_ENDS = ("sender", "receiver")
_SIDES = ((0.0, 0.48), (0.52, 1.0))
_LINES = ((0.56, 1.0), (0.0, 0.44))
_MEANING = "Thread: the busiest one that moved bytes of a flow; 100 % is a whole core."
_MEANING_OF_HOST = " Host: all its cores together, whoever used them."

_Points = list[tuple[float, float, str]]
"""Place on the x axis, height in the unit, what hovering says."""
_PointsOf = Callable[[Sequence[TrialRow], str, int], _Points]
"""The points of some rows, of a column and a factor."""


def drawn_cpu(data: FigureData) -> list[Drawn]:
    """Draw the figures of each direction whose CPU load is known."""
    found = []
    for group in trial_groups(data.trials, data.cells):
        rows = [row for row in group.good if _known([row], _LOADS)]
        if len(rows) > 1:
            found.append(_against_goodput(group, rows))
        if len(FLOWS.values(rows)) > 1:
            found.append(_against_flows(group, rows))
        costs = [row for row in group.good if _known([row], (_COST,))]
        if len(FLOWS.values(costs)) > 1:
            found.append(_for_each_gb(group, costs))
    return found


def _against_goodput(group: TrialGroup, rows: Sequence[TrialRow]) -> Drawn:
    scale = rate_scale(max(map(goodput_of, rows)))
    x_axis = named_axis(f"goodput, {scale.unit}", range=[0, scale.top * HEADROOM], nticks=5, zeroline=False)

    def points(chosen: Sequence[TrialRow], column: str, factor: int) -> _Points:
        return [
            (scale.of(row["goodput_bps"]) or 0.0, _times(factor, row, column), group.describe(row))
            for row in chosen
        ]

    return Drawn(
        group.key("cpu", "goodput_bps"),
        f"{group.title} · against goodput",
        f"Each mark is a trial. {_meaning(rows)}",
        file_stem(group.sweep, group.title, "cpu against goodput"),
        _figure(rows, FLOWS, x_axis, points, _known(rows, _LOADS), mode="markers"),
        _rows(group, rows, _LOADS),
    )


def _against_flows(group: TrialGroup, rows: Sequence[TrialRow]) -> Drawn:
    series = LENGTH if group.x is FLOWS else group.x
    x_axis = scaled_axis(FLOWS, FLOWS.values(rows))
    return Drawn(
        group.key("cpu", "flows"),
        f"{group.title} · against flows",
        f"Median over the trials of each number of flows. {_meaning(rows)}",
        file_stem(group.sweep, group.title, "cpu against flows"),
        _figure(rows, series, x_axis, _over_flows, _known(rows, _LOADS), mode="lines+markers"),
        _rows(group, rows, _LOADS),
    )


def _for_each_gb(group: TrialGroup, rows: Sequence[TrialRow]) -> Drawn:
    """What more flows cost: of one window sum where the sums are known, since flows share them."""
    sums = of_trials(WINDOW_SUM, rows)
    shared = any(
        len(FLOWS.values([row for row in rows if sums.value(row) == value])) > 1
        for value in sums.values(rows)
        if value is not None
    )
    series = sums if shared else LENGTH if group.x is FLOWS else group.x
    alike = f", at equal {series.name}" if len(series.values(rows)) > 1 else ""
    told = {series.column, FLOWS.column, *(axis.column for axis in WINDOWS)}
    mixed = [axis.name for axis in group.varying() if axis.column not in told]
    together = f"; trials that differ in {' and '.join(mixed)} are taken together" if mixed else ""
    x_axis = scaled_axis(FLOWS, FLOWS.values(rows))
    return Drawn(
        group.key("cpu", "flows"),
        f"{group.title} · for each GB, against flows",
        "CPU time, user and system, of all threads of the flows at each end, for each GB that they wrote or "
        f"read; median over the trials of each number of flows{alike}{together}.",
        file_stem(group.sweep, group.title, "cpu for each gb against flows"),
        _figure(rows, series, x_axis, _over_flows, (_COST,), mode="lines+markers"),
        _rows(group, rows, (_COST,)),
    )


def _over_flows(chosen: Sequence[TrialRow], column: str, factor: int) -> _Points:
    found = []
    for flows in FLOWS.values(chosen):
        heights = [_times(factor, row, column) for row in chosen if row["flows"] == flows]
        said = f"{FLOWS.text(flows)}<br>median of {counted(len(heights), 'trial')}"
        found.append((position(flows), median(heights), said))
    return found


def _figure(
    rows: Sequence[TrialRow],
    series: DrawnAxis,
    x_axis: dict[str, object],
    points: _PointsOf,
    shown: Sequence[_Measure],
    *,
    mode: str,
) -> go.Figure:
    traces = [
        trace
        for line, measure in enumerate(shown)
        for side in range(len(_ENDS))
        for trace in _traces(rows, series, points, measure, (line, side), mode)
    ]
    layout: dict[str, object] = {}
    for line, measure in enumerate(shown):
        for side in range(len(_ENDS)):
            x, y = _axes(line, side)
            last = line == len(shown) - 1
            title = x_axis["title"] if last else {"text": ""}
            layout[f"xaxis{x[1:]}"] = {
                **x_axis,
                "title": title,
                "domain": _SIDES[side],
                "anchor": y,
                "showticklabels": last,
            }
            layout[f"yaxis{y[1:]}"] = {
                **_height(rows, measure),
                "domain": _LINES[line] if len(shown) > 1 else (0.0, 1.0),
                "anchor": x,
                **({"title": {"text": ""}, "showticklabels": False} if side else {}),
            }
    return figure(
        traces,
        showlegend=len(series.values(rows)) > 1,
        legend={**legend_of(series, len(series.values(rows))), "y": 1.1},
        margin={"l": 58, "r": 12, "t": 58, "b": 48},
        annotations=[
            heading(f"{end}{measure.whose}", *_axes(line, side))
            for line, measure in enumerate(shown)
            for side, end in enumerate(_ENDS)
        ],
        **layout,
    )


def _meaning(rows: Sequence[TrialRow]) -> str:
    return _MEANING + (_MEANING_OF_HOST if _HOST in _known(rows, _LOADS) else "")


def _known(rows: Sequence[TrialRow], measures: Sequence[_Measure]) -> list[_Measure]:
    return [
        measure
        for measure in measures
        if any(row.get(column) is not None for row in rows for column in measure.columns)
    ]


def _height(rows: Sequence[TrialRow], measure: _Measure) -> dict[str, object]:
    """The axis of what is measured, from zero, alike for both ends."""
    heights = [quantity_of(row, column) or 0.0 for row in rows for column in measure.columns]
    top = max(*heights, 0.01) * measure.factor * HEADROOM
    return named_axis(f"{measure.name}, {measure.unit}", nticks=6, range=[0, top])


def _times(factor: int, row: TrialRow, column: str) -> float:
    return known(quantity_of(row, column)) * factor


def _axes(line: int, side: int) -> tuple[str, str]:
    number = 2 * line + side + 1
    suffix = "" if number == 1 else str(number)
    return f"x{suffix}", f"y{suffix}"


def _traces(  # one pair of axes
    rows: Sequence[TrialRow],
    series: DrawnAxis,
    points: _PointsOf,
    measure: _Measure,
    place: tuple[int, int],
    mode: str,
) -> Iterator[go.Scatter]:
    line, side = place
    x, y = _axes(line, side)
    column = measure.columns[side]
    values = series.values(rows)
    colours = series_colours(len(values))
    for index, value in enumerate(values):
        chosen = [row for row in rows if row.get(column) is not None and series.value(row) == value]
        yield go.Scatter(
            **_marks(points(chosen, column, measure.factor), f"{_ENDS[side]}{measure.whose}", measure.unit),
            mode=mode,
            name=series_name(series, value),
            legendgroup=str(index),
            showlegend=place == (0, 0),
            marker={"color": colours[index], "size": 6, "symbol": symbol(index)},
            line={"color": colours[index], "width": 2},
            xaxis=x,
            yaxis=y,
            hovertemplate="%{text}<extra></extra>",
        )


def _marks(points: _Points, whose: str, unit: str) -> dict[str, list[object]]:
    return {
        "x": [x for x, _, _ in points],
        "y": [float(f"{height:.4g}") for _, height, _ in points],
        "text": [f"<b>{whose} {format_number(height)} {unit}</b><br>{said}" for _, height, said in points],
    }


def _rows(
    group: TrialGroup, rows: Sequence[TrialRow], measures: Sequence[_Measure]
) -> tuple[dict[str, object], ...]:
    names = ("goodput_bps", *(column for measure in measures for column in measure.columns))
    return tuple({**facts(group, row), **{name: row.get(name) for name in names}} for row in rows)
