"""Goodput of one flow against the window of one flow, a trace for each number of flows."""

import plotly.graph_objects as go

from flowsweep.figures.axis import FLOWS, WINDOW_SUM, WINDOWS_PER_FLOW, DrawnAxis
from flowsweep.figures.frame import rate_scale
from flowsweep.figures.grid.line import lines, trace_name
from flowsweep.figures.grid.panel import Panel, PanelRow
from flowsweep.wording import counted


def per_flow(panel: Panel) -> go.Figure | None:
    """Draw a panel's points over their window per flow; absent if it was left to autotuning or does not vary.

    Where the window alone is the limit, all traces lie on one line; they part where flows share a limit.
    """
    axes = per_flow_axes(panel)
    if axes is None:
        return None
    *trace_axes, x = axes
    groups: dict[str, list[PanelRow]] = {}
    for row in panel.rows:
        names = [trace_name(axis, axis.value(row)) for axis in trace_axes if axis is not FLOWS]
        groups.setdefault(", ".join([counted(row["flows"], "flow"), *names]), []).append(row)
    ordered = sorted(groups.items(), key=lambda item: item[1][0]["flows"])
    return lines(ordered, x, rate_scale(panel.top_of_flow_bps), "goodput per flow", share=True)


def per_flow_axes(panel: Panel) -> tuple[DrawnAxis, ...] | None:
    """List what tells the traces apart, then the window they are drawn over; absent if there is none."""
    x = _window(panel)
    if x is None or None in FLOWS.values(panel.rows):
        return None
    # The window sum follows from flows and window.
    others = [axis for axis in (panel.series, panel.x, panel.y) if axis not in (None, x, FLOWS, WINDOW_SUM)]
    return (*(axis for axis in others if axis is not None), FLOWS, x)


def _window(panel: Panel) -> DrawnAxis | None:
    """The window that varies: that of the panel; where both ends ask for the same, that one."""
    varying = [axis for axis in WINDOWS_PER_FLOW if len(set(axis.values(panel.rows)) - {None}) > 1]
    return panel.x if panel.x in varying else varying[0] if varying else None
