"""Round-trip times that were probed: over the time of a trial, and how they are distributed."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import plotly.graph_objects as go

from flowsweep.analysis.summarising.trial_row import known
from flowsweep.analysis.tests.rtt.under_load import ShownEcho
from flowsweep.defaults import MILLISECOND_NS, SECOND_NS
from flowsweep.figures.direction_groups import PathGroup, path_groups
from flowsweep.figures.drawing import Drawn, FigureData, ecdf_foot, ecdf_steps
from flowsweep.figures.frame import HEADROOM, named_axis
from flowsweep.figures.theme import series_colours, symbol
from flowsweep.wording import counted, format_size

MOST_MARKS = 2000
"""Of one series: of more probes every so many are drawn."""
MOST_STEPS = 200
"""Of one curve: more responses are shown by as many of their quantiles."""
_PHASES = ("idle", "loaded", "after")
_TIME_CAPTION = (
    "Each mark is a probe, by when it was sent and how long its response took. Crosses below are probes "
    "without a response in time."
)


@dataclass(frozen=True, slots=True)
class _Series:
    """Probes that belong together."""

    name: str
    rows: list[ShownEcho]

    @property
    def times_ms(self) -> list[float]:
        """Of those that were answered, ascending."""
        return sorted(row["rtt_ns"] / MILLISECOND_NS for row in self.rows if row["rtt_ns"] is not None)

    @property
    def lost(self) -> int:
        """How many were not."""
        return sum(row["rtt_ns"] is None for row in self.rows)


def drawn_round_trips(data: FigureData) -> list[Drawn]:
    """Draw for each sweep and direction with probes their times, and how these are distributed."""
    found = []
    for group in path_groups(data.trials, data.echoes):
        series = _series(group)
        if any(one.times_ms for one in series):
            found += [_over_time(group, series), _distribution(group, series)]
    return found


def _series(group: PathGroup[ShownEcho]) -> list[_Series]:
    """By phase beside a transfer; by what was probed with and how, in trials of their own."""
    trials = {trial["trial_id"]: trial for trial in group.trials}
    lengths = {trial["length_bytes"] for trial in group.trials}
    settings = group.settings("echo", "length_bytes")
    named: dict[str, list[ShownEcho]] = {phase: [] for phase in _PHASES}
    # Sizes in their order, whatever the order in which the trials ran.
    for row in sorted(group.rows, key=lambda row: trials[row["trial_id"]]["length_bytes"] or 0):
        trial = trials[row["trial_id"]]
        length = trial["length_bytes"]
        size = f", {format_size(length)}" if len(lengths) > 1 and length is not None else ""
        echo = (trial["echo"] or "").replace("_", " ")
        setting = f", {escape(words, quote=False)}" if (words := settings[row["trial_id"]]) else ""
        name = row["phase"] if row["phase"] in _PHASES else f"{echo}{size}{setting}"
        named.setdefault(name, []).append(row)
    return [_Series(name, rows) for name, rows in named.items() if rows]


def _over_time(group: PathGroup[ShownEcho], series: Sequence[_Series]) -> Drawn:
    colours = series_colours(len(series))
    highest = max(one.times_ms[-1] for one in series if one.times_ms)
    traces = []
    for index, one in enumerate(series):
        rows = _thinned(one.rows)
        marks = {"color": colours[index], "size": 4, "symbol": symbol(index)}
        answered = [row for row in rows if row["rtt_ns"] is not None]
        lost = [row for row in rows if row["rtt_ns"] is None]
        shared = {"mode": "markers", "legendgroup": one.name}
        traces.append(
            go.Scatter(
                x=[row["sent_ns"] / SECOND_NS for row in answered],
                y=[known(row["rtt_ns"]) / MILLISECOND_NS for row in answered],
                name=one.name,
                marker=marks,
                hovertemplate="%{y:.4g} ms, sent at %{x:.3f} s<extra>%{fullData.name}</extra>",
                **shared,
            )
        )
        if lost:
            traces.append(
                go.Scatter(
                    x=[row["sent_ns"] / SECOND_NS for row in lost],
                    y=[0.0] * len(lost),
                    name=f"{one.name}, lost",
                    showlegend=False,
                    marker=marks | {"symbol": "x-thin-open", "size": 7},
                    hovertemplate="lost, sent at %{x:.3f} s<extra>%{fullData.name}</extra>",
                    **shared,
                )
            )
    return group.drawn(
        "rtt_time",
        _TIME_CAPTION + _which(series) + _how_many(series),
        traces,
        (
            {
                "trial_id": row["trial_id"],
                "series": one.name,
                "sent_s": row["sent_ns"] / SECOND_NS,
                "rtt_ms": None if row["rtt_ns"] is None else row["rtt_ns"] / MILLISECOND_NS,
            }
            for one in series
            for row in _thinned(one.rows)
        ),
        "round trips",
        xaxis=named_axis("time since the start, s", zeroline=False),
        yaxis=_time_axis(highest),
    )


def _distribution(group: PathGroup[ShownEcho], series: Sequence[_Series]) -> Drawn:
    answered = [one for one in series if one.times_ms]
    colours = series_colours(len(answered))
    curves = {one.name: ecdf_steps(one.times_ms, len(one.rows), MOST_STEPS) for one in answered}
    traces = [
        go.Scatter(
            x=[time_ms for time_ms, _ in curves[one.name]],
            y=[share for _, share in curves[one.name]],
            mode="lines",
            name=one.name,
            legendgroup=one.name,
            line={"color": colours[index], "width": 2, "shape": "hv"},
            hovertemplate=(
                f"%{{y:.3g}} % of {counted(len(one.rows), 'probe')} took at most %{{x:.4g}} ms"
                "<extra>%{fullData.name}</extra>"
            ),
        )
        for index, one in enumerate(answered)
    ]
    return group.drawn(
        "rtt_ecdf",
        "How many of the probes were answered within a time; what a curve lacks to 100 % was lost."
        + _which(series),
        [trace for curve in traces for trace in (ecdf_foot(curve), curve)],
        (
            {"series": name, "rtt_ms": time_ms, "share_of_probes_percent": share}
            for name, steps in curves.items()
            for time_ms, share in steps
        ),
        "round trips distribution",
        xaxis=_time_axis(max(one.times_ms[-1] for one in answered)),
        yaxis=named_axis("share of probes, %", range=[0, 103], nticks=6),
    )


def _which(series: Sequence[_Series]) -> str:
    if any(one.name in _PHASES for one in series):
        return " The first trial of the direction."
    return " The first trial of each kind."


def _how_many(series: Sequence[_Series]) -> str:
    """Say where not all probes are drawn."""
    drawn, sent = (
        sum(len(part) for part in parts)
        for parts in zip(*((_thinned(one.rows), one.rows) for one in series), strict=True)
    )
    return (
        f" {drawn} of {counted(sent, 'probe')} are drawn, those without a response all of them."
        if drawn < sent
        else ""
    )


def _time_axis(highest_ms: float) -> dict[str, object]:
    return named_axis("round-trip time, ms", range=[0, highest_ms * HEADROOM], nticks=6, rangemode="tozero")


def _thinned(rows: Sequence[ShownEcho]) -> Sequence[ShownEcho]:
    """At most so many answered probes as can be told apart, evenly spread; each that was lost."""
    answered = [number for number, row in enumerate(rows) if row["rtt_ns"] is not None]
    kept = set(answered[:: -(-len(answered) // MOST_MARKS) or 1])
    return [row for number, row in enumerate(rows) if number in kept or row["rtt_ns"] is None]
