"""The flat figure in its frame: in a file of its own, since `frame.py` serves what draws nothing, too."""

from collections.abc import Sequence

import plotly.graph_objects as go

from flowsweep.figures.frame import LEGEND_ABOVE, MARGIN
from flowsweep.figures.theme import figure


def framed(traces: Sequence[object], **layout: object) -> go.Figure:
    """Make a figure with room for its axes and the legend above, and whatever its layout has of its own."""
    return figure(traces, **{"legend": LEGEND_ABOVE, "margin": MARGIN, **layout})
