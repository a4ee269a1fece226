"""One file a figure: the points of a campaign in, a Plotly figure out."""

from flowsweep.figures.heatmap import heatmap
from flowsweep.figures.line import line
from flowsweep.figures.panel import Panel, panels
from flowsweep.figures.per_flow import per_flow
from flowsweep.figures.surface import surface

__all__ = ["Panel", "heatmap", "line", "panels", "per_flow", "surface"]
