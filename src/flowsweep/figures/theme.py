"""What all figures share: colours that colour-blind readers can tell apart, fonts, margins.

Colours of text, grid and background depend on the reader's theme: the page sets them when it draws.
"""

from collections.abc import Sequence

import plotly.graph_objects as go
from plotly.colors import sample_colorscale

MAGNITUDE = "Viridis"
"""Colour scale of a magnitude: perceptually uniform, also in grey."""
SEEN = (0.28, 0.76)
"""The part of it that has a contrast of 2 and more with a white page, and with a black one."""

CATEGORIES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C8C8C")
"""Okabe and Ito 2008, without the yellow and the black that vanish on white and on black; grey instead."""

BLUE, VERMILION, GREEN, _PURPLE, ORANGE, _SKY_BLUE, GREY = CATEGORIES
DIVERGING = ((0.0, BLUE), (0.5, "#F2F0EB"), (1.0, VERMILION))
"""Colour scale of what lies to either side of a middle; its ends differ for colour-blind readers, too."""
UNDECIDED_COLOUR = "#BFC3C7"
"""Of what is not known to lie to either side."""

LIMIT_COLOURS = {
    "rwnd": BLUE,
    "send_buffer": ORANGE,
    "cwnd": VERMILION,
    "none": GREY,
    "pace": GREEN,
    "idle": "#B8BEC4",
}
"""Of what limits a flow, in figures and on the page of a trial; pace and idle are the parts of none."""

SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "triangle-down")

CAPPED_MARK = "◇"
FAILED_MARK = "✕"


def figure(traces: Sequence[object], **layout: object) -> go.Figure:
    """Make a figure of traces without any colours of its own around them."""
    return go.Figure(
        data=list(traces),
        layout={
            "template": "none",
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "margin": {"l": 64, "r": 12, "t": 12, "b": 52},
            "autosize": True,
            "uirevision": "kept",
            **layout,
        },
    )


def series_colours(count: int) -> tuple[str, ...]:
    """Colours for some traces: categories as long as they suffice, else steps of the colour scale."""
    if count <= len(CATEGORIES):
        return CATEGORIES[:count]
    low, high = SEEN
    steps = [low + (high - low) * index / (count - 1) for index in range(count)]
    return tuple(sample_colorscale(MAGNITUDE, steps))


def symbol(index: int) -> str:
    """The marker of a trace, so that traces differ in more than colour."""
    return SYMBOLS[index % len(SYMBOLS)]
