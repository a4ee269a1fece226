"""One file a figure: the points of a campaign in, a Plotly figure out. All of them: `drawn_figures`."""

from flowsweep.figures.collection import drawn_figures
from flowsweep.figures.drawing import KIND_TITLES, Drawn, FigureData, figure_of
from flowsweep.figures.heatmap import heatmap
from flowsweep.figures.line import line
from flowsweep.figures.panel import Panel, panels
from flowsweep.figures.per_flow import per_flow
from flowsweep.figures.surface import surface
from flowsweep.figures.trial_data import TrialData, trial_data

__all__ = [
    "KIND_TITLES",
    "Drawn",
    "FigureData",
    "Panel",
    "TrialData",
    "drawn_figures",
    "figure_of",
    "heatmap",
    "line",
    "panels",
    "per_flow",
    "surface",
    "trial_data",
]
