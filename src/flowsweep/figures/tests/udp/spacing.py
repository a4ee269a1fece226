"""How evenly datagrams leave and arrive: the distribution of the gaps between them, at both ends."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Final

import plotly.graph_objects as go

from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.analysis.tests.udp.datagrams import SpacingRow
from flowsweep.defaults import MICROSECOND_NS
from flowsweep.figures.axis import FLOWS, DrawnAxis, Value
from flowsweep.figures.drawing import Drawn, FigureData, file_stem
from flowsweep.figures.frame import named_axis
from flowsweep.figures.framed import framed
from flowsweep.figures.tests.udp.offered import RATES
from flowsweep.figures.theme import series_colours
from flowsweep.figures.trials import TrialGroup, trial_groups
from flowsweep.grouping import grouped
from flowsweep.wording import counted, format_duration, format_rate

MOST_LEVELS = 4
"""Rates that are drawn, each with two curves: of more, evenly chosen ones."""
RATE: Final = "rate_sum_bps"
_ENDS = {"source": ("sent", "dot"), "sink": ("received", "solid")}
"""The word for each end, and the dash of its curve."""

Steps = dict[tuple[int, int], int]
"""How many gaps are from one length to below another, in nanoseconds."""


def drawn_spacings(data: FigureData) -> list[Drawn]:
    """Draw a figure for each direction, number of flows and other setting but the rate, with gaps."""
    by_trial = grouped(data.spacings, lambda step: step["trial_id"])
    found = []
    for group in trial_groups(data.trials, data.cells) if by_trial else ():
        rows = [row for row in group.good if row["trial_id"] in by_trial]
        found += [_drawn(group, setting, own, by_trial) for setting, own in _settings(group, rows)]
    return found


def _drawn(
    group: TrialGroup,
    setting: Mapping[DrawnAxis, Value],
    rows: Sequence[TrialRow],
    by_trial: Mapping[str, Sequence[SpacingRow]],
) -> Drawn:
    levels = _levels(sorted({row[RATE] for row in rows}, key=lambda rate: (rate is None, rate or 0.0)))
    colours = series_colours(len(levels))
    curves = {
        (rate, role): _joined(
            step
            for row in rows
            if row[RATE] == rate
            for step in by_trial[row["trial_id"]]
            if step["role"] == role
        )
        for rate in levels
        for role in _ENDS
    }
    traces = [
        _curve(rate, role, steps, colours[levels.index(rate)])
        for (rate, role), steps in curves.items()
        if steps
    ]
    words = [axis.text(value) for axis, value in setting.items() if axis is not FLOWS]
    title = " · ".join([group.title, counted(setting[FLOWS], "flow"), *words])
    drawn = framed(
        traces,
        showlegend=True,
        xaxis=named_axis("gap to the datagram before, µs", type="log"),
        yaxis=named_axis("share of gaps, %", range=[0, 103], nticks=6),
    )
    return Drawn(
        group.key("spacing", RATE),
        title,
        "How many of the gaps between datagrams of a flow were at most so long, as they were sent "
        "(dotted) and as the receiving kernel got them. Those that the kernel cut from one buffer have no "
        "gap.",
        file_stem(group.sweep, title, "spacing"),
        drawn,
        tuple(
            {
                "sweep": group.sweep, "direction": group.direction,
                **{axis.column: value for axis, value in setting.items()}, RATE: rate, "end": role,
                "low_ns": low, "high_ns": high, "gaps": gaps,
            }
            for (rate, role), steps in curves.items()
            for (low, high), gaps in sorted(steps.items())
        ),
    )  # fmt: skip


def _settings(
    group: TrialGroup, rows: Sequence[TrialRow]
) -> Iterator[tuple[Mapping[DrawnAxis, Value], list[TrialRow]]]:
    """Trials by all that differs besides the rate, the flows first: their gaps are of different kinds."""
    others = [axis for axis in group.varying() if axis.column not in RATES and axis is not FLOWS]
    axes = [FLOWS, *others]
    ranks = [axis.values(rows) for axis in axes]

    def levels(row: TrialRow) -> tuple[Value, ...]:
        return tuple(axis.value(row) for axis in axes)

    def place(row: TrialRow) -> list[int]:
        return [rank.index(value) for rank, value in zip(ranks, levels(row), strict=True)]

    for values, own in grouped(sorted(rows, key=place), levels).items():
        yield dict(zip(axes, values, strict=True)), own


def _levels(rates: Sequence[float | None]) -> list[float | None]:
    steps = min(len(rates), MOST_LEVELS)
    return [rates[step * (len(rates) - 1) // max(steps - 1, 1)] for step in range(steps)]


def _joined(steps: Iterable[SpacingRow]) -> Steps:
    found: Steps = {}
    for step in steps:
        key = (step["low_ns"], step["high_ns"])
        found[key] = found.get(key, 0) + step["gaps"]
    return found


def _curve(rate: float | None, role: str, steps: Steps, colour: str) -> go.Scatter:
    word, dash = _ENDS[role]
    total = sum(steps.values())
    ordered = sorted(steps.items())
    shares: list[float] = []
    reached = 0
    for _, gaps in ordered:
        reached += gaps
        shares.append(float(f"{reached / total * 100:.4g}"))
    asked = "as fast as it can" if rate is None else format_rate(rate)
    lengths_ns = [max(1, high - 1) for (_, high), _ in ordered]
    return go.Scatter(
        x=[length_ns / MICROSECOND_NS for length_ns in lengths_ns],
        y=shares,
        mode="lines",
        name=escape(f"{asked}, {word}", quote=False),
        line={"color": colour, "width": 2, "shape": "hv", "dash": dash},
        text=[format_duration(length_ns) for length_ns in lengths_ns],
        hovertemplate="%{y:.1f} % of the gaps are at most %{text}<extra>%{fullData.name}</extra>",
    )
