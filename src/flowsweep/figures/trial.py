"""One trial over time, flow by flow: goodput, windows, data in flight, round-trip time, retransmissions."""

import plotly.graph_objects as go

from flowsweep.figures.frame import LEGEND_ABOVE
from flowsweep.figures.theme import figure, series_colours
from flowsweep.figures.trial_data import TrialData

_GAP = 0.03


def trial_figure(data: TrialData) -> go.Figure:
    """Draw a trial's panels below each other, over one axis of time; a colour for each flow.

    A page draws the same of the same data by itself, since that is a fraction of the size.
    """
    colours = series_colours(len(data["flows"]))
    count = len(data["panels"])
    traces = [
        go.Scatter(
            x=[round(line["first_s"] + index * line["step_s"], 6) for index in range(len(values))],
            y=[None if value is None else value * panel["quantum"] for value in values],
            mode="lines",
            name=f"flow {data['flows'][flow]}",
            legendgroup=str(flow),
            showlegend=place == 0,
            line={"color": colours[flow], "width": 1.2, "dash": line["dash"]},
            yaxis=f"y{place + 1}",
            hovertemplate=_hover(data["flows"][flow], panel["title"], line["name"], panel["unit"]),
        )
        for place, panel in enumerate(data["panels"])
        for line in panel["lines"]
        for flow, values in enumerate(line["values"])
    ]
    height = (1 + _GAP) / max(count, 1) - _GAP
    axes = {
        f"yaxis{place + 1}": {
            "title": {"text": f"{panel['title']},<br>{panel['unit']}", "standoff": 8},
            "domain": [max(1 - place * (height + _GAP) - height, 0), 1 - place * (height + _GAP)],
            "rangemode": "tozero",
            "nticks": 4,
        }
        for place, panel in enumerate(data["panels"])
    }
    return figure(
        traces,
        hovermode="closest",
        showlegend=len(data["flows"]) > 1,
        legend=LEGEND_ABOVE,
        margin={"l": 70, "r": 12, "t": 34, "b": 48},
        xaxis={
            "title": {"text": "time since flows began, s", "standoff": 8},
            "anchor": f"y{count}",
            "zeroline": False,
        },
        **axes,
    )


def _hover(flow: int, title: str, line: str, unit: str) -> str:
    return f"<b>%{{y:.4~g}} {unit}</b><br>{line or title}<br>%{{x:.2f}} s<extra>flow {flow}</extra>"
