"""What limited the flows, as shares of their time: stacked bars, one for each point of a grid."""

from collections.abc import Iterator, Sequence
from statistics import fmean

import plotly.graph_objects as go

from flowsweep.analysis.summarising.trial_row import TrialRow, known, quantity_of
from flowsweep.analysis.tests.tcp.columns import LIMITS
from flowsweep.figures.axis import (
    FLOWS,
    NOT_SET,
    WINDOW_RECV,
    WINDOW_SEND,
    WINDOW_SUM_OF_TRIAL,
    WINDOWS_PER_FLOW,
    DrawnAxis,
    Value,
)
from flowsweep.figures.drawing import Drawn, FigureData, file_stem
from flowsweep.figures.frame import LEGEND_ABOVE, named_axis
from flowsweep.figures.grid.panel import is_open
from flowsweep.figures.theme import LIMIT_COLOURS, figure
from flowsweep.figures.trials import TrialGroup, trial_groups
from flowsweep.grouping import grouped
from flowsweep.wording import counted, format_number

_SHARES = (
    *((f"limit_{key}_share", LIMITS[key], LIMIT_COLOURS[key]) for key in ("rwnd", "send_buffer", "cwnd")),
    ("limit_pace_share", "pace", LIMIT_COLOURS["pace"]),
    ("sender_idle_share", "application idle", LIMIT_COLOURS["idle"]),
)
"""Column, words and colour, from the foot of a bar up. "Pace": nothing limits although data wait."""
_KERNEL = (
    ("kernel_rwnd_share", f"kernel: {LIMITS['rwnd']}", "circle"),
    ("kernel_send_buffer_share", f"kernel: {LIMITS['send_buffer']}", "diamond"),
)
"""What the kernel's own clocks say of two of them, where a row has it, and its symbol."""


_WINDOWS = frozenset(axis.column for axis in (WINDOW_SUM_OF_TRIAL, *WINDOWS_PER_FLOW))

MOST_LEVEL_LABELS = 8
"""More labels than that are turned upright."""


def drawn_limits(data: FigureData) -> list[Drawn]:
    """Draw a figure for each direction and whatever varies besides what the bars stand for."""
    return [
        _drawn(group, fixed, rows)
        for group in trial_groups(data.trials, data.cells)
        for fixed, rows in _split(group)
    ]


class _PacedRow(TrialRow):
    """A trial, what no window limits in two parts."""

    limit_pace_share: float


_Fixed = tuple[tuple[DrawnAxis, Value], ...]


def _split(group: TrialGroup) -> list[tuple[_Fixed, list[_PacedRow]]]:
    """Group what is known by all that the bars do not show."""
    shown = _axes(group)
    others = [axis for axis in group.varying() if axis not in shown and axis.column not in _WINDOWS]
    others += _open_windows(group, [*shown, *others])
    parts = grouped(
        (_with_pace(row) for row in group.good if row.get("limit_cwnd_share") is not None),
        lambda row: tuple((axis, axis.value(row)) for axis in others),
    )
    return sorted(
        parts.items(),
        key=lambda part: [axis.values(group.good).index(value) for axis, value in part[0]],
    )


def _open_windows(group: TrialGroup, settled: Sequence[DrawnAxis]) -> list[DrawnAxis]:
    """Windows that other axes and the flows leave open: those of one end, of which the other's are a bar.

    Where no bar is of a window, that of both ends may be.
    """
    by_window = any(axis.column in _WINDOWS for axis in settled)
    found: list[DrawnAxis] = []
    for axis in WINDOWS_PER_FLOW if not by_window else (WINDOW_SEND, WINDOW_RECV):
        if is_open(axis, (*settled, FLOWS, *found), group.good):
            found.append(axis)
    return found


def _with_pace(row: TrialRow) -> _PacedRow:
    """Part what no window limits: nothing waited to be sent, or something did."""
    idle = row["sender_idle_share"] or 0.0
    return {
        **row,
        "sender_idle_share": idle,
        "limit_pace_share": max(known(row["limit_none_share"]) - idle, 0.0),
    }


def _axes(group: TrialGroup) -> list[DrawnAxis]:
    """What the bars stand for: flows and the sweep's own axis, as far as they vary."""
    axes = list(dict.fromkeys((FLOWS, group.x)))
    return [axis for axis in axes if len(axis.values(group.good)) > 1] or [group.x]


def _drawn(group: TrialGroup, fixed: _Fixed, rows: list[_PacedRow]) -> Drawn:
    axes = _axes(group)
    points = grouped(rows, lambda row: tuple(axis.value(row) for axis in axes))
    ordered = sorted(
        points.items(), key=lambda point: [(value is not None, value or 0) for value in point[0]]
    )
    title = " · ".join((group.title, *(axis.text(value) for axis, value in fixed)))
    caption = (
        "Share of all flows' time, mean over the repeats, in which a window was filled, nothing waited to be "
        "sent, or data waited although no window was full: a pace. A full window does not say that a larger "
        "one helps: on a full path packets fill it while they wait in the queue."
    )
    if any(row.get(column) is not None for column, _, _ in _KERNEL for row in rows):
        caption += " Marks: what the kernel's own clocks count, which may miss a limit."
    return Drawn(
        group.key("limits"),
        title,
        caption,
        file_stem(group.sweep, title, "limits"),
        _figure(axes, ordered),
        tuple(
            {
                "sweep": group.sweep,
                "direction": group.direction,
                **{axis.column: value for axis, value in fixed},
                **{axis.column: value for axis, value in zip(axes, place, strict=True)},
                **{column: _mean(repeats, column) for column, _, _ in (*_SHARES, *_KERNEL)},
                "repeats_ok": len(repeats),
            }
            for place, repeats in ordered
        ),
    )


_Points = Sequence[tuple[tuple[Value, ...], list[_PacedRow]]]


def _figure(axes: Sequence[DrawnAxis], points: _Points) -> go.Figure:
    places = zip(*(place for place, _ in points), strict=True)
    labels = [[_label(axis, value) for value in values] for axis, values in zip(axes, places, strict=True)]
    x = labels if len(axes) > 1 else labels[0]
    bars = [
        go.Bar(
            x=x,
            y=heights,
            name=words,
            marker={"color": colour, "line": {"width": 0}},
            text=said,
            textposition="none",
            hovertemplate="%{text}<extra></extra>",
        )
        for words, colour, heights, said in _series(_SHARES, axes, points)
    ]
    marks = [
        go.Scatter(
            x=x,
            y=heights,
            mode="markers",
            name=words,
            marker={
                "symbol": shape,
                "size": 6,
                "color": "#ffffff",
                "line": {"width": 1.5, "color": "#14181c"},
            },
            text=said,
            hovertemplate="%{text}<extra></extra>",
        )
        for words, shape, heights, said in _series(_KERNEL, axes, points)
    ]
    return figure(
        [*bars, *marks],
        barmode="stack",
        bargap=0.12,
        showlegend=True,
        legend={**LEGEND_ABOVE, "traceorder": "normal"},
        margin={"l": 58, "r": 12, "t": 34, "b": 64},
        xaxis={
            "type": "multicategory" if len(axes) > 1 else "category",
            "title": {
                "text": " (above), ".join(axis.name for axis in reversed(axes))
                + (" (below)" if len(axes) > 1 else ""),
                "standoff": 8,
            },
            "automargin": True,
            "range": [-0.5, len(points) - 0.5],
            "dividercolor": "rgba(128,128,128,0.4)",
            "tickangle": -90 if len(points) > MOST_LEVEL_LABELS else 0,
        },
        yaxis=named_axis("share of time, %", range=[0, 100], nticks=6),
    )


def _label(axis: DrawnAxis, value: Value) -> str:
    """Write a value so that it is not broken into lines."""
    return (NOT_SET if value is None else axis.write(value)).replace(" ", "\N{NO-BREAK SPACE}")


def _series(
    columns: Sequence[tuple[str, str, str]], axes: Sequence[DrawnAxis], points: _Points
) -> Iterator[tuple[str, str, list[float | None], list[str]]]:
    """Words, colour or symbol, heights in percent and hover texts of each column that is ever above 0."""
    for column, words, look in columns:
        heights = [_percent(_mean(repeats, column)) for _, repeats in points]
        if any(heights):
            said = [
                _said(axes, place, repeats, words, height)
                for (place, repeats), height in zip(points, heights, strict=True)
            ]
            yield words, look, heights, said


def _said(
    axes: Sequence[DrawnAxis],
    place: tuple[Value, ...],
    repeats: list[_PacedRow],
    words: str,
    height: float | None,
) -> str:
    where = ", ".join(axis.text(value) for axis, value in zip(axes, place, strict=True))
    return f"<b>{words}: {format_number(height or 0)} %</b><br>{where}<br>{counted(len(repeats), 'repeat')}"


def _mean(repeats: list[_PacedRow], column: str) -> float | None:
    shares = [share for row in repeats if (share := quantity_of(row, column)) is not None]
    return fmean(shares) if shares else None


def _percent(share: float | None) -> float | None:
    return None if share is None else float(f"{share * 100:.4g}")
