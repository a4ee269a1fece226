"""Trains and streams of a path: how fast trains arrived, and from which rate on delays grow."""

from collections.abc import Sequence
from itertools import groupby

import plotly.graph_objects as go

from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.analysis.tests.path.rows import TrainRow
from flowsweep.figures.direction_groups import PathGroup, named_repeat, path_groups
from flowsweep.figures.drawing import Drawn, FigureData
from flowsweep.figures.frame import THEORY_COLOUR, RateScale, named_axis, rate_axis, rate_scale
from flowsweep.figures.theme import CATEGORIES, series_colours, symbol
from flowsweep.wording import format_rate

_SAID = ((False, "delays stay"), (True, "delays grow"), (None, "unclear"))


def drawn_trains(data: FigureData) -> list[Drawn]:
    """Draw for each direction of each sweep of paths its trains, and its streams if there are any."""
    found = []
    for group in path_groups(data.trials, data.trains):
        by_kind = {kind: [row for row in group.rows if row["kind"] == kind] for kind in ("train", "stream")}
        if by_kind["train"]:
            found.append(_trains(group, by_kind["train"]))
        if by_kind["stream"]:
            found.append(_streams(group, by_kind["stream"]))
    return found


def _trains(group: PathGroup[TrainRow], rows: Sequence[TrainRow]) -> Drawn:
    capacities = [bps for row in group.trials if (bps := row["path_capacity_bps"]) is not None]
    scale = rate_scale(max([*(row["rate_bps"] for row in rows), *capacities]))
    settings = group.settings()
    trials = [
        (named_repeat(settings[trial_id], group.repeats[trial_id]), list(own))
        for trial_id, own in groupby(rows, key=lambda row: row["trial_id"])
    ]
    traces = [
        go.Scatter(
            x=list(range(1, len(own) + 1)),
            y=[scale.of(row["rate_bps"]) for row in own],
            mode="markers",
            name=name,
            marker={"color": colour, "size": 7, "symbol": symbol(index)},
            text=[_train_words(row) for row in own],
            hovertemplate="%{text}<extra>%{fullData.name}</extra>",
        )
        for index, ((name, own), colour) in enumerate(zip(trials, series_colours(len(trials)), strict=True))
    ]
    return group.drawn(
        "trains",
        "The rate at which each train of packets arrived, unless the source was slower. Their median is the "
        "dispersion rate, between what is available and the capacity (line).",
        traces,
        [group.shown(row, _TRAIN_COLUMNS) for row in rows],
        shapes=[_capacity(row, scale) for row in group.trials if row["path_capacity_bps"] is not None],
        showlegend=len(trials) > 1,
        xaxis=named_axis("train"),
        yaxis=rate_axis(scale, "rate of arrival"),
    )


_TRAIN_COLUMNS = ("trial_id", "repeat", "train", "rate_bps", "source_bps", "first_packet")


def _streams(group: PathGroup[TrainRow], rows: Sequence[TrainRow]) -> Drawn:
    scale = rate_scale(max(row["rate_bps"] for row in rows))
    traces = [
        go.Scatter(
            x=[scale.of(row["rate_bps"]) for row in rows if row["grows"] is said],
            y=[row["difference"] for row in rows if row["grows"] is said],
            mode="markers",
            name=words,
            marker={"color": CATEGORIES[index], "size": 8, "symbol": symbol(index)},
            text=[_stream_words(row) for row in rows if row["grows"] is said],
            hovertemplate="%{text}<extra>%{fullData.name}</extra>",
        )
        for index, (said, words) in enumerate(_SAID)
    ]
    return group.drawn(
        "streams",
        "Each stream by its rate, and how much of all changes of its delay is growth (PDT): near 1 where "
        "packets queue up, or a clock runs faster. Shaded, where both ends are known: what is free, between "
        "the rates where delays stay and where they grow.",
        traces,
        [group.shown(row, _STREAM_COLUMNS) for row in rows],
        shapes=[_free(row, scale) for row in group.trials if row["path_available_high_bps"] is not None],
        xaxis=rate_axis(scale, "rate of the stream"),
        yaxis=named_axis("growth of delay (PDT)", range=[-1.05, 1.05]),
    )


_STREAM_COLUMNS = ("trial_id", "repeat", "train", "rate_bps", "compared", "difference")


def _capacity(trial: TrialRow, scale: RateScale) -> dict[str, object]:
    place = scale.of(trial["path_capacity_bps"])
    return {
        "type": "line",
        "xref": "paper",
        "x0": 0,
        "x1": 1,
        "y0": place,
        "y1": place,
        "line": {"color": THEORY_COLOUR, "width": 1, "dash": "dot"},
        "layer": "below",
    }


def _free(trial: TrialRow, scale: RateScale) -> dict[str, object]:
    return {
        "type": "rect",
        "x0": scale.of(trial["path_available_low_bps"]),
        "x1": scale.of(trial["path_available_high_bps"]),
        "yref": "paper",
        "y0": 0,
        "y1": 1,
        "fillcolor": THEORY_COLOUR,
        "opacity": 0.12,
        "line": {"width": 0},
        "layer": "below",
    }


def _train_words(row: TrainRow) -> str:
    left_out = f"<br>without its first {row['first_packet']} packets" if row["first_packet"] else ""
    return f"{format_rate(row['rate_bps'])}{left_out}"


def _stream_words(row: TrainRow) -> str:
    return f"{format_rate(row['rate_bps'])}<br>PDT {row['difference']:.2f}, PCT {row['compared']:.2f}"
