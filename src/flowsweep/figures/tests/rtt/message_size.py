"""The round-trip time against the size of a message: what a byte more costs."""

from collections.abc import Iterable, Sequence
from html import escape
from statistics import median

import plotly.graph_objects as go

from flowsweep.analysis.summarising.trial_row import TrialRow, known, quantity_of
from flowsweep.figures.direction_groups import PathGroup, path_groups
from flowsweep.figures.drawing import Drawn, FigureData
from flowsweep.figures.frame import named_axis
from flowsweep.figures.theme import series_colours, symbol
from flowsweep.grouping import grouped
from flowsweep.wording import counted

_QUANTITIES = (("rtt_probe_min_ms", "minimum", "solid"), ("rtt_probe_median_ms", "median", "dot"))


def drawn_sizes(data: FigureData) -> list[Drawn]:
    """Draw for each sweep and direction the times of messages of several sizes, where there are some."""
    rows = [
        row
        for row in data.trials
        if row.get("rtt_probe_min_ms") is not None
        and row["length_bytes"] is not None
        and row["status"] == "ok"
    ]
    groups = path_groups(data.trials, rows)
    return [_drawn(group) for group in groups if len({row["length_bytes"] for row in group.rows}) > 1]


def _drawn(group: PathGroup[TrialRow]) -> Drawn:
    settings = group.settings("echo", "length_bytes")
    series = grouped(group.rows, lambda row: _name(row, settings[row["trial_id"]]))
    colours = series_colours(len(series))
    traces = [
        _line(rows, name, quantity, colours[index], index)
        for index, (name, rows) in enumerate(sorted(series.items()))
        for quantity in _QUANTITIES
    ]
    columns = ("trial_id", "repeat", "echo", "length_bytes", *(name for name, *_ in _QUANTITIES))
    return group.drawn(
        "rtt_size",
        "The quickest and the median answer to messages of a size, medians over the repeats. The slope of "
        f"the quickest is what a byte takes, there and back.{_without(group.rows)}",
        traces,
        ({**group.shown(row, columns), "setting": settings[row["trial_id"]]} for row in group.rows),
        "message size",
        xaxis=named_axis("payload, bytes", rangemode="tozero"),
        yaxis=named_axis("round-trip time, ms", nticks=6),
    )


def _without(rows: Sequence[TrialRow]) -> str:
    """Say of which trials no median is drawn, where there are such."""
    lost = sum(row["rtt_probe_median_ms"] is None for row in rows)
    if not lost:
        return ""
    return f" Medians are without {counted(lost, 'trial')} that lost half of the probes, or more."


def _name(row: TrialRow, setting: str) -> str:
    """Of the series that a trial is of: paths of IPv4 and IPv6, for example, have no line in common."""
    echo = known(row["echo"]).replace("_", " ")
    return escape(", ".join(part for part in (echo, setting) if part), quote=False)


def _line(
    rows: Sequence[TrialRow], name: str, quantity: tuple[str, str, str], colour: str, index: int
) -> go.Scatter:
    column, word, dash = quantity
    of_length = grouped(rows, lambda row: known(row["length_bytes"]))
    lengths = sorted(of_length)
    return go.Scatter(
        x=lengths,
        y=[_median(quantity_of(row, column) for row in of_length[length]) for length in lengths],
        mode="lines+markers",
        name=f"{name}, {word}",
        line={"color": colour, "width": 2, "dash": dash},
        marker={"color": colour, "size": 7, "symbol": symbol(index)},
        hovertemplate="%{y:.4g} ms for %{x} bytes<extra>%{fullData.name}</extra>",
    )


def _median(times_ms: Iterable[float | None]) -> float | None:
    """Of those that are known; without any there is a gap: half of the probes were lost, or more."""
    known_ms = [time_ms for time_ms in times_ms if time_ms is not None]
    return median(known_ms) if known_ms else None
