"""What a trial and the traffic beside it got of what they shared: over points, and over time."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from statistics import fmean, median, median_low
from typing import TypedDict, TypeVar

import plotly.graph_objects as go

from flowsweep.analysis.background.shares import OWN, ShareIntervalRow, ShareRow
from flowsweep.analysis.background.words import mean_share, own_name
from flowsweep.analysis.summarising.trial_row import TrialRow, known, quantity_of
from flowsweep.defaults import SECOND_NS
from flowsweep.figures.drawing import Drawn, FigureData, file_stem
from flowsweep.figures.frame import LEGEND_ABOVE, named_axis, rate_axis, rate_scale
from flowsweep.figures.framed import framed
from flowsweep.figures.theme import series_colours
from flowsweep.figures.trials import TrialGroup, facts, point_of, trial_groups
from flowsweep.grouping import grouped
from flowsweep.wording import format_number, format_rate, format_share

_Row = TypeVar("_Row", ShareRow, ShareIntervalRow)
_Shares = Mapping[str, Sequence[ShareRow]]
_Series = Mapping[str, Sequence[ShareIntervalRow]]

_MOST_PLACES_WITH_SHARES = 4
"""More points leave no room for the shares below each of them."""
_PALE = 0.35
"""Opacity of intervals that do not count."""


def drawn_shares(data: FigureData) -> list[Drawn]:
    """Draw, for each direction with traffic beside its trials, goodput of each traffic, also over time."""
    shares = grouped(data.shares, lambda row: row["trial_id"])
    share_series = grouped(data.share_series, lambda row: row["trial_id"])
    found: list[Drawn] = []
    for group in trial_groups(data.trials, data.cells):
        rows = [row for row in group.good if row["trial_id"] in shares]
        if rows:
            found += [_over_points(group, rows, shares), *_over_time(group, rows, share_series)]
    return found


def _over_points(group: TrialGroup, rows: Sequence[TrialRow], shares: _Shares) -> Drawn:
    points = grouped(rows, point_of)
    table = [
        {
            **_facts(group, row),
            "traffic": _name(row, one["traffic"]),
            "goodput_bps": one["goodput_bps"],
            "share": one["share"],
            "jain_flows": one["jain_flows"],
            "jain_groups": one["jain_groups"],
        }
        for repeats in points.values()
        for row in repeats
        for one in shares[row["trial_id"]]
    ]
    few = len(points) <= _MOST_PLACES_WITH_SHARES
    return Drawn(
        group.key("shares"),
        group.title,
        "Goodput of the trials' own traffic and of what ran beside it, mean over the repeats (lines: lowest "
        "and highest), over the time that all of it ran; below, what share of all that is, and Jain's index "
        "over the flows: 1 if each got as much, 1/n if one of n got everything.",
        file_stem(group.sweep, group.title, "shares"),
        _bars([_Place(group, repeats, shares, few=few) for repeats in points.values()]),
        tuple(table),
    )


class _Place:
    """One point: what each traffic got there, by its name."""

    def __init__(self, group: TrialGroup, repeats: Sequence[TrialRow], shares: _Shares, *, few: bool) -> None:
        self.traffic: dict[str, list[float]] = {}
        self.share: dict[str, list[float]] = {}
        for row in repeats:
            for one in _in_order(row, shares[row["trial_id"]]):
                name = _name(row, one["traffic"])
                self.traffic.setdefault(name, []).append(one["goodput_bps"])
                self.share.setdefault(name, []).append(one["share"] or 0.0)
        parts = [axis.text(axis.value(repeats[0])) for axis in group.varying()]
        if few:
            parts += [f"{name} {format_share(mean_share(shares))}" for name, shares in self.share.items()]
        indices = [row["jain_flows"] for row in repeats if row["jain_flows"] is not None]
        parts += [f"Jain's index {format_number(median(indices))}"] if indices else []
        self.label = "<br>".join(escape(part, quote=False) for part in parts)

    def said(self, name: str) -> str:
        """Lines for people."""
        goodput, share = fmean(self.traffic[name]), mean_share(self.share[name])
        of_all = f"{format_rate(goodput)}<br>{format_share(share)} of all"
        return f"<b>{escape(name, quote=False)}</b>: {of_all}<br>{self.label}"


def _bars(places: Sequence[_Place]) -> go.Figure:
    names = list(dict.fromkeys(name for place in places for name in place.traffic))
    scale = rate_scale(max(max(values) for place in places for values in place.traffic.values()))
    traces = []
    for name, colour in zip(names, series_colours(len(names)), strict=True):
        there = [place for place in places if name in place.traffic]
        means = [fmean(place.traffic[name]) for place in there]
        above = [max(place.traffic[name]) - mean for place, mean in zip(there, means, strict=True)]
        below = [mean - min(place.traffic[name]) for place, mean in zip(there, means, strict=True)]
        traces.append(
            go.Bar(
                x=[place.label for place in there],
                y=[scale.of(mean) for mean in means],
                name=escape(name, quote=False),
                marker={"color": colour},
                error_y={
                    "type": "data",
                    "symmetric": False,
                    "array": [scale.of(value) for value in above],
                    "arrayminus": [scale.of(value) for value in below],
                    "thickness": 1,
                },
                text=[place.said(name) for place in there],
                textposition="none",
                hovertemplate="%{text}<extra></extra>",
            )
        )
    return framed(
        traces,
        barmode="group",
        showlegend=True,
        xaxis={"type": "category", "automargin": True},
        yaxis=rate_axis(scale, "goodput"),
    )


class _Interval(TypedDict):
    """What is drawn of one traffic in one interval."""

    traffic: str
    begin_s: float
    goodput_bps: float
    all_ran: bool


def _over_time(group: TrialGroup, rows: Sequence[TrialRow], share_series: _Series) -> Iterator[Drawn]:
    """Draw the trial whose share is the median one, if a share is known."""
    shares = sorted((share, row["trial_id"]) for row in rows if (share := row["share"]) is not None)
    if not shares:
        return
    _, middle = median_low(shares)
    row = next(row for row in rows if row["trial_id"] == middle)
    interval_ns = known(quantity_of(row, "interval_ns"))
    series: list[_Interval] = [
        {
            "traffic": _name(row, one["traffic"]),
            "begin_s": one["bin"] * interval_ns / SECOND_NS,
            "goodput_bps": one["goodput_bps"],
            "all_ran": one["common"],
        }
        for one in _in_order(row, share_series.get(row["trial_id"], ()))
    ]
    yield Drawn(
        group.key("shares"),
        f"{group.title} · over time",
        "Goodput of each traffic in every interval, one upon the other, in the trial with the median share. "
        "From 0 on all of it runs, and what is omitted is over. Pale: intervals that no share is computed "
        "from.",
        file_stem(group.sweep, group.title, "shares-over-time"),
        _stacked(series),
        tuple({**_facts(group, row), **one} for one in series),
    )


def _stacked(series: Sequence[_Interval]) -> go.Figure:
    names = list(dict.fromkeys(one["traffic"] for one in series))
    times = sorted({one["begin_s"] for one in series})
    totals = [sum(one["goodput_bps"] for one in series if one["begin_s"] == time) for time in times]
    scale = rate_scale(max(totals, default=1.0))
    traces = []
    for name, colour in zip(names, series_colours(len(names)), strict=True):
        rates = {one["begin_s"]: one["goodput_bps"] for one in series if one["traffic"] == name}
        counts = {one["begin_s"] for one in series if one["all_ran"]}
        traces.append(
            go.Bar(
                x=times,
                y=[scale.of(rates.get(time, 0.0)) for time in times],
                offset=0,
                name=escape(name, quote=False),
                marker={
                    "color": colour,
                    "line": {"width": 0},
                    "opacity": [1.0 if time in counts else _PALE for time in times],
                },
                text=[
                    f"<b>{escape(name, quote=False)}</b>: {format_rate(rates.get(time, 0.0))}"
                    f"<br>{format_share(rates.get(time, 0.0) / total)} of all"
                    if total
                    else escape(name, quote=False)
                    for time, total in zip(times, totals, strict=True)
                ],
                textposition="none",
                hovertemplate="%{text}<br>from %{x:.4g} s on<extra></extra>",
            )
        )
    return framed(
        traces,
        barmode="stack",
        bargap=0,
        showlegend=True,
        legend=LEGEND_ABOVE | {"traceorder": "normal"},
        xaxis=named_axis("time since all of it runs, s", zeroline=True),
        yaxis=rate_axis(scale, "goodput"),
    )


def _facts(group: TrialGroup, row: TrialRow) -> dict[str, object]:
    return {name: value for name, value in facts(group, row).items() if name not in ("status", "started_at")}


def _in_order(row: TrialRow, rows: Sequence[_Row]) -> list[_Row]:
    """The trial's own traffic first, then as in the plan: each has one colour in all figures of a sweep."""
    names = (OWN, *row["background"])
    return sorted(rows, key=lambda one: names.index(one["traffic"]))


def _name(row: TrialRow, traffic: str) -> str:
    return f"the trial: {own_name(row)}" if traffic == OWN else traffic
