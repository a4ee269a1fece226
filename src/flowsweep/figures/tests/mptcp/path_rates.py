"""What each path of a trial of Multipath TCP carried, in time."""

from html import escape

import plotly.graph_objects as go

from flowsweep.analysis.tests.mptcp.paths import PathRate
from flowsweep.figures.direction_groups import PathGroup, path_groups
from flowsweep.figures.drawing import Drawn, FigureData
from flowsweep.figures.frame import named_axis, rate_axis, rate_scale
from flowsweep.figures.theme import CATEGORIES
from flowsweep.wording import format_rate

_COLUMNS = ("trial_id", "path", "start_s", "end_s", "rate_bps")


def drawn_path_rates(data: FigureData) -> list[Drawn]:
    """Draw one trial of each direction of each sweep of several paths."""
    return [_drawn(group) for group in path_groups(data.trials, data.path_rates)]


def _drawn(group: PathGroup[PathRate]) -> Drawn:
    paths = list(dict.fromkeys(row["path"] for row in group.rows))
    times = sorted({row["start_s"] for row in group.rows})
    total = {time: sum(row["rate_bps"] for row in group.rows if row["start_s"] == time) for time in times}
    scale = rate_scale(max(total.values()))
    traces = [
        go.Scatter(
            x=[row["start_s"] for row in group.rows if row["path"] == path],
            y=[scale.of(row["rate_bps"]) for row in group.rows if row["path"] == path],
            mode="lines",
            name=escape(path, quote=False),
            stackgroup="paths",
            line={"color": CATEGORIES[index % len(CATEGORIES)], "width": 1, "shape": "hv"},
            text=[format_rate(row["rate_bps"]) for row in group.rows if row["path"] == path],
            hovertemplate="%{x:.4g} s: %{text}<extra>%{fullData.name}</extra>",
        )
        for index, path in enumerate(paths)
    ]
    return group.drawn(
        "paths",
        "What each path, from the source's address to the sink's, carried in a trial with the most subflows, "
        "one on top of the other: payload as the source's kernel sent it, without retransmissions.",
        traces,
        [group.shown(row, _COLUMNS) for row in group.rows],
        xaxis=named_axis("time since the source started, s"),
        yaxis=rate_axis(scale, "rate of payload"),
    )
