"""The hops of a path: how long sizes take to each, and what capacity that makes."""

import math
from collections.abc import Sequence
from html import escape
from itertools import groupby

import plotly.graph_objects as go

from flowsweep.analysis.summarising.trial_row import known
from flowsweep.analysis.tests.path.rows import HopRow
from flowsweep.defaults import MILLISECOND_NS
from flowsweep.figures.direction_groups import PathGroup, named_repeat, path_groups
from flowsweep.figures.drawing import Drawn, FigureData
from flowsweep.figures.frame import named_axis
from flowsweep.figures.theme import series_colours, symbol
from flowsweep.wording import format_rate, with_interval

_US = 1e3
_MBPS = 1e6


def drawn_hops(data: FigureData) -> list[Drawn]:
    """Draw for each direction of each sweep of paths the times of its hops, and their capacity."""
    found = []
    for group in path_groups(data.trials, data.hops):
        answered = [row for row in group.rows if row["slope_ns_per_byte"] is not None]
        if answered:
            found += [_times(group, answered), _capacities(group, answered)]
    return found


def _times(group: PathGroup[HopRow], rows: Sequence[HopRow]) -> Drawn:
    """Times over sizes of the first trial: what its lines start from is taken off."""
    first = [row for row in rows if row["trial_id"] == rows[0]["trial_id"]]
    colours = series_colours(len(first))
    traces: list[go.Scatter] = []
    points: list[dict[str, object]] = []
    for index, row in enumerate(first):
        sizes = row["sizes_bytes"]
        at_zero_ns, slope_ns = known(row["at_zero_ns"]), known(row["slope_ns_per_byte"])
        above_us = [(took - at_zero_ns) / _US for took in row["quartile_ns"]]
        line_us = [slope_ns * size / _US for size in sizes]
        name, address = f"hop {row['hop']}", escape(str(row["address"]), quote=False)
        style = {"color": colours[index]}
        traces += [
            go.Scatter(
                x=sizes, y=line_us, mode="lines", line={**style, "width": 1.5}, name=name, legendgroup=name,
                showlegend=False, hoverinfo="skip",
            ),
            go.Scatter(
                x=sizes, y=above_us, mode="markers", name=name, legendgroup=name,
                marker={**style, "size": 8, "symbol": symbol(index)},
                text=[
                    f"{address}<br>{size} B: a quarter took {took / MILLISECOND_NS:.3f} ms at most"
                    for size, took in zip(sizes, row["quartile_ns"], strict=True)
                ],
                hovertemplate="%{text}<extra>%{fullData.name}</extra>",
            ),
        ]  # fmt: skip
        points += [
            {
                "trial_id": row["trial_id"], "hop": row["hop"], "address": row["address"], "size_bytes": size,
                "rtt_quartile_ms": took / MILLISECOND_NS,
                "line_ms": (at_zero_ns + slope_ns * size) / MILLISECOND_NS,
            }
            for size, took in zip(sizes, row["quartile_ns"], strict=True)
        ]  # fmt: skip
    return group.drawn(
        "hop_times",
        "Round-trip time to each hop over the size of the probe, as a lower quartile, less what an empty one "
        "would take, of the first trial. How much steeper a line is than that of the hop before is "
        "what the link takes.",
        traces,
        points,
        xaxis=named_axis("size of the probe, B"),
        yaxis=named_axis("time that the size takes, µs", rangemode="tozero"),
    )


def _capacities(group: PathGroup[HopRow], rows: Sequence[HopRow]) -> Drawn:
    settings = group.settings()
    trials = [(trial, list(own)) for trial, own in groupby(rows, key=lambda row: row["trial_id"])]
    colours = series_colours(len(trials))
    traces = []
    for index, (trial, own) in enumerate(trials):
        name = named_repeat(settings[trial], group.repeats[trial])
        shift = (index - (len(trials) - 1) / 2) * 0.5 / max(len(trials), 2)
        bounded = [row for row in own if row["capacity_high_bps"] is not None]
        above = [
            row for row in own if row["capacity_high_bps"] is None and row["capacity_low_bps"] is not None
        ]
        traces += [
            go.Scatter(
                x=[row["hop"] + shift for row in bounded],
                y=[_middle_bps(row) / _MBPS for row in bounded],
                error_y={
                    "type": "data",
                    "symmetric": False,
                    "array": [
                        (known(row["capacity_high_bps"]) - _middle_bps(row)) / _MBPS for row in bounded
                    ],
                    "arrayminus": [
                        (_middle_bps(row) - known(row["capacity_low_bps"])) / _MBPS for row in bounded
                    ],
                },
                mode="markers",
                name=name,
                legendgroup=name,
                marker={
                    "color": colours[index],
                    "size": [0 if row["capacity_bps"] is None else 9 for row in bounded],
                    "symbol": symbol(index),
                },
                text=[_words(row) for row in bounded],
                hovertemplate="%{text}<extra>%{fullData.name}</extra>",
            ),
            go.Scatter(
                x=[row["hop"] + shift for row in above],
                y=[known(row["capacity_low_bps"]) / _MBPS for row in above],
                mode="markers",
                name=name,
                legendgroup=name,
                showlegend=False,
                marker={"color": colours[index], "size": 11, "symbol": "triangle-up-open"},
                text=[_words(row) for row in above],
                hovertemplate="%{text}<extra>%{fullData.name}</extra>",
            ),
        ]
    return group.drawn(
        "hop_capacity",
        "Capacity of each hop, of IP packets, with its 95 % interval, which stands alone where it is wide; "
        "open triangles: above this, as far as is known. What a token bucket limits does not show here, but "
        "in trains.",
        traces,
        [group.shown(row, _CAPACITY_COLUMNS) for row in rows],
        showlegend=len(trials) > 1,
        xaxis=named_axis("hop", dtick=1),
        yaxis=named_axis("capacity, Mbit/s", type="log"),
    )


def _middle_bps(row: HopRow) -> float:
    """The capacity, or, where an interval is all that is known, the middle of it on the axis."""
    capacity_bps = row["capacity_bps"]
    if capacity_bps is None:
        return math.sqrt(known(row["capacity_low_bps"]) * known(row["capacity_high_bps"]))
    return capacity_bps


_CAPACITY_COLUMNS = (
    "trial_id", "repeat", "hop", "address", "rtt_min_ms", "capacity_bps", "capacity_low_bps",
    "capacity_high_bps", "note",
)  # fmt: skip


def _words(row: HopRow) -> str:
    where = escape(f"hop {row['hop']}, {row['address']}", quote=False)
    low, high = known(row["capacity_low_bps"]), row["capacity_high_bps"]
    if high is None:
        return f"{where}<br>above {format_rate(low)} ({row['note']})"
    if row["capacity_bps"] is None:
        return f"{where}<br>between {format_rate(low)} and {format_rate(high)}"
    return f"{where}<br>{with_interval(format_rate, row['capacity_bps'], low, high)}"
