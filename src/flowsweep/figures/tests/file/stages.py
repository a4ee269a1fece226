"""Which stage of the way from disk to disk held the others up: stacked bars, one for each trial."""

import plotly.graph_objects as go

from flowsweep.analysis.summarising.trial_row import TrialRow, quantity_of
from flowsweep.figures.direction_groups import PathGroup, path_groups
from flowsweep.figures.drawing import Drawn, FigureData
from flowsweep.figures.frame import named_axis
from flowsweep.figures.theme import LIMIT_COLOURS
from flowsweep.wording import format_rate, format_share

_STAGES = (
    ("source_storage_share", "source's files", LIMIT_COLOURS["send_buffer"]),
    ("network_share", "network", LIMIT_COLOURS["cwnd"]),
    ("sink_storage_share", "sink's files", LIMIT_COLOURS["rwnd"]),
)
"""Column, words and colour, from the foot of a bar up."""


def drawn_stages(data: FigureData) -> list[Drawn]:
    """Draw the trials of each direction and part of a sweep of files."""
    ended_well = (row for row in data.trials if row["status"] == "ok")
    known = [row for row in ended_well if quantity_of(row, "network_share") is not None]
    return [_drawn(group) for group in path_groups(data.trials, known)]


def _drawn(group: PathGroup[TrialRow]) -> Drawn:
    labels = [f"{number}" for number in range(1, len(group.rows) + 1)]
    traces = [
        go.Bar(
            x=labels,
            y=[_percent(row, column) for row in group.rows],
            name=words,
            marker={"color": colour, "line": {"width": 0}},
            text=[_said(row, column, words) for row in group.rows],
            textposition="none",
            hovertemplate="%{text}<extra></extra>",
        )
        for column, words, colour in _STAGES
    ]
    columns = ("trial_id", "repeat", "mode", "goodput_bps", "verdict", *(column for column, _, _ in _STAGES))
    part = "" if group.mode in (None, "whole") else f" Trials of {group.mode} only."
    return group.drawn(
        "stages",
        "Share of each trial's time that the other stages waited for the source's files to be read, for the "
        f"network, or for the sink's files to be written and synced.{part}",
        traces,
        [group.shown(row, columns) for row in group.rows],
        file_name=f"stages-{group.mode}" if part else "stages",
        barmode="stack",
        bargap=0.12,
        xaxis=named_axis("trial, by repeat", type="category"),
        yaxis=named_axis("share of time, %", range=[0, 100], nticks=6),
    )


def _percent(row: TrialRow, column: str) -> float:
    return float(f"{(quantity_of(row, column) or 0.0) * 100:.4g}")


def _said(row: TrialRow, column: str, words: str) -> str:
    rate = "" if row["goodput_bps"] is None else f"<br>{format_rate(row['goodput_bps'])}"
    return f"<b>{words}: {format_share(quantity_of(row, column) or 0.0)}</b>{rate}<br>repeat {row['repeat']}"
