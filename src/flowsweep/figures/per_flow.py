"""Goodput of one flow against the window of one flow, a trace for each number of flows."""

import plotly.graph_objects as go

from flowsweep.figures.axis import FLOWS, WINDOWS_PER_FLOW, Axis
from flowsweep.figures.line import lines
from flowsweep.figures.panel import Panel
from flowsweep.figures.scale import rate_scale
from flowsweep.wording import counted


def per_flow(panel: Panel) -> go.Figure | None:
    """Draw a panel's trials over their window per flow; absent if it was left to autotuning or does not vary.

    Where the window alone is the limit, all traces lie on one line; they part where flows share a limit.
    """
    x = _window(panel)
    if x is None:
        return None
    groups = [
        (counted(flows, "flow"), [row for row in panel.rows if row["flows"] == flows])
        for flows in FLOWS.values(panel.rows)
    ]
    return lines(groups, x, rate_scale(panel.top_of_flow_bps), "goodput per flow", share=True)


def _window(panel: Panel) -> Axis | None:
    """The window that varies; where both ends ask for the same, that one."""
    varying = [axis for axis in WINDOWS_PER_FLOW if len(set(axis.values(panel.rows)) - {None}) > 1]
    return varying[0] if varying else None
