"""Goodput of every trial whose time is known, over the campaign: what drifts, and what disturbed it."""

from collections.abc import Sequence
from html import escape
from statistics import median

import plotly.graph_objects as go

from flowsweep.analysis.findings.late_trials import UNTRUE_PATHS
from flowsweep.analysis.summarising.trial_row import TrialRow, goodput_of
from flowsweep.figures.drawing import Drawn, FigureData, file_stem
from flowsweep.figures.frame import (
    MOST_ABOVE,
    RateScale,
    legend_of,
    named_axis,
    rate_axis,
    rate_scale,
    series_name,
)
from flowsweep.figures.framed import framed
from flowsweep.figures.stepped import SINCE
from flowsweep.figures.theme import FAILED_MARK, series_colours, symbol
from flowsweep.figures.trials import TrialGroup, facts, moment, point_of, trial_groups
from flowsweep.grouping import grouped
from flowsweep.wording import counted, format_number

_UPPER, _LOWER = (0.46, 1.0), (0.0, 0.38)
_NOT_COUNTED = "#7A828A"


def drawn_time_series(data: FigureData) -> list[Drawn]:
    """Draw a figure for each direction with at least two trials that ended well at known times."""
    timed = [row for row in data.trials if row["started_at"] is not None]
    groups = [group for group in trial_groups(timed, data.cells) if len(group.good) > 1]
    before = frozenset(row["trial_id"] for row in data.sides.before)
    untimed = [row for row in data.trials if row["started_at"] is None]
    late = [row for row in data.late if row["started_at"] is not None]
    return [
        _drawn(group, [row for row in late if group.has(row)], sum(map(group.has, untimed)), before)
        for group in groups
    ]


def _drawn(group: TrialGroup, late: Sequence[TrialRow], untimed: int, before: frozenset[str]) -> Drawn:
    deviations = _deviations(group.good, before)
    measured = [row for row in late if row["goodput_bps"] is not None]
    caption = "Each mark is a trial, at the time it began"
    caption += f"; colours are the {group.x.name}." if len(group.x.values(group.good)) > 1 else "."
    if deviations:
        caption += " Below: how far each is from the median of its point, the repeats with equal parameters"
        stepped = any(row["trial_id"] in before for row in group.good)
        caption += f", {SINCE} or before that." if stepped else "."
    lost = len(group.rows) - len(group.good)
    if lost:
        caption += f" {FAILED_MARK}: {counted(lost, 'trial')} that did not end well."
    if measured:
        caption += (
            f" Crosses: {counted(len(measured), 'trial')} over a link that this machine emulated too late."
        )
    if untimed:
        caption += f" Without {counted(untimed, 'trial')} whose time is not known."
    return Drawn(
        group.key("time_series"),
        group.title,
        caption,
        file_stem(group.sweep, group.title, "time series"),
        _figure(group, deviations, measured),
        tuple(
            {
                **facts(group, row),
                "goodput_bps": row["goodput_bps"],
                "deviation_percent": deviations.get(row["trial_id"]),
            }
            for row in (*group.rows, *late)
        ),
    )


def _deviations(good: Sequence[TrialRow], before: frozenset[str]) -> dict[str, float]:
    """Per trial with repeats: its goodput against the median of its point, in percent.

    `before`: trial_id of those before a step in goodput; they and those since have a median each.
    """
    return {
        row["trial_id"]: float(f"{(goodput_of(row) / middle - 1) * 100:.4g}")
        for repeats in grouped(good, lambda row: (row["trial_id"] in before, point_of(row))).values()
        if len(repeats) > 1 and (middle := median(map(goodput_of, repeats))) > 0
        for row in repeats
    }


def _figure(group: TrialGroup, deviations: dict[str, float], late: Sequence[TrialRow]) -> go.Figure:
    scale = rate_scale(max(map(goodput_of, (*group.good, *late))))
    values = group.x.values(group.good)
    colours = series_colours(len(values))
    # Lines lead through the campaign where they can be distinguished.
    lines = len(group.varying()) <= 1 and len(values) <= MOST_ABOVE
    traces: list[go.Scatter] = []
    for index, value in enumerate(values):
        rows = [row for row in group.good if group.x.value(row) == value]
        shared: dict[str, object] = {
            "mode": "lines+markers" if lines else "markers",
            "name": series_name(group.x, value),
            "legendgroup": str(index),
            "marker": {"color": colours[index], "size": 7, "symbol": symbol(index)},
            "line": {"color": colours[index], "width": 1},
            "hovertemplate": "%{text}<extra></extra>",
        }
        heights = [scale.of(row["goodput_bps"]) for row in rows]
        traces.append(_trace(rows, heights, [group.describe(row) for row in rows], shared))
        repeated = [row for row in rows if row["trial_id"] in deviations]
        if repeated:
            off = [deviations[row["trial_id"]] for row in repeated]
            said = [
                f"<b>{format_number(height)} %</b> from its point's median<br>{group.describe(row)}"
                for row, height in zip(repeated, off, strict=True)
            ]
            traces.append(_trace(repeated, off, said, {**shared, "yaxis": "y2", "showlegend": False}))
    layout = _layout(group, rate_axis(scale, "goodput"), deviations=bool(deviations))
    return framed([*traces, *_late(group, late, scale), *_lost(group)], **layout)


def _trace(
    rows: Sequence[TrialRow], heights: Sequence[float | None], said: Sequence[str], shared: dict[str, object]
) -> go.Scatter:
    return go.Scatter(x=[moment(row) for row in rows], y=heights, text=said, **shared)


def _late(group: TrialGroup, late: Sequence[TrialRow], scale: RateScale) -> list[go.Scatter]:
    """Trials over a link that was not the plan's: when that was, apart from what was measured."""
    if not late:
        return []
    said = [f"{group.describe(row)}<br>{UNTRUE_PATHS[row['path_emulation'] or '']}" for row in late]
    mark = {"color": _NOT_COUNTED, "size": 8, "symbol": "x-thin-open"}
    shared: dict[str, object] = {"mode": "markers", "marker": mark, "showlegend": False}
    heights = [scale.of(goodput_of(row)) for row in late]
    return [
        _trace(late, heights, said, {**shared, "hovertemplate": "%{text}<extra>not emulated in time</extra>"})
    ]


def _lost(group: TrialGroup) -> list[go.Scatter]:
    """Trials without a result, at the foot: also when they happened is worth knowing."""
    lost = [row for row in group.rows if row["status"] != "ok"]
    if not lost:
        return []
    return [
        go.Scatter(
            x=[moment(row) for row in lost],
            y=[0] * len(lost),
            mode="text",
            name="not ok",
            text=[FAILED_MARK] * len(lost),
            textfont={"size": 14},
            showlegend=False,
            cliponaxis=False,
            hovertext=[
                f"{row['status']}: {escape(str(row['error'] or ''), quote=False)}<br>{group.describe(row)}"
                for row in lost
            ],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    ]


def _layout(group: TrialGroup, upper: dict[str, object], *, deviations: bool) -> dict[str, object]:
    time = named_axis("trial began, UTC", type="date", zeroline=False)
    layout: dict[str, object] = {
        "legend": legend_of(group.x, len(group.x.values(group.good))),
        "showlegend": len(group.x.values(group.good)) > 1,
        "xaxis": time,
        "yaxis": upper,
    }
    if deviations:
        layout["xaxis"] = {**time, "anchor": "y2"}
        layout["yaxis"] = {**upper, "domain": _UPPER}
        layout["yaxis2"] = named_axis("from median, %", domain=_LOWER, nticks=5, zeroline=True)
    return layout
