"""How long a trial has to be: what shorter trials would have said, against what the whole one says."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from flowsweep.analysis.binning.shorter_durations import CutRow
from flowsweep.defaults import SECOND_NS
from flowsweep.figures.axis import position
from flowsweep.figures.drawing import Drawn, FigureData, file_stem
from flowsweep.figures.frame import HEADROOM, margin_band, named_axis
from flowsweep.figures.framed import framed
from flowsweep.figures.theme import CATEGORIES
from flowsweep.figures.trials import TrialGroup, trial_groups
from flowsweep.grouping import grouped
from flowsweep.wording import counted, format_duration, format_number

_MOST_LABELS = 9
_LEAST_PERCENT = 5.0
"""The axis shows at least this much either way."""
_ALL, _NINE_OF_TEN = "all trials", "nine of ten trials"
_BAND = "rgba(0,114,178,0.22)"
_PERCENTILES = (0, 5, 25, 50, 75, 95, 100)
_NINE_OF_TEN_FROM = 20
"""Of fewer trials the 5th percentile would lie between the two lowest: all are shown."""
_HALF_FROM = 4
"""Of fewer trials there is no middle half."""


def drawn_durations(data: FigureData) -> list[Drawn]:
    """Draw a figure for each direction whose trials can be truncated."""
    by_trial = grouped(data.truncated, lambda row: row["trial_id"])
    return [
        drawn
        for group in trial_groups(data.trials, data.cells)
        if (drawn := _drawn(group, by_trial, data.margin)) is not None
    ]


@dataclass(frozen=True, slots=True)
class _Spread:
    """How far the trials that were truncated after one duration are from their whole, in percent."""

    trials: int
    percentiles: tuple[float, ...]
    """As `_PERCENTILES`."""

    @classmethod
    def of(cls, values: Sequence[float]) -> "_Spread":
        return cls(len(values), tuple(float(f"{one:.4g}") for one in np.percentile(values, _PERCENTILES)))

    def columns(self) -> dict[str, object]:
        """For a table; null is what so few trials do not tell."""
        lowest, *_, highest = self.percentiles
        fewest = {5: _NINE_OF_TEN_FROM, 25: _HALF_FROM, 50: 1, 75: _HALF_FROM, 95: _NINE_OF_TEN_FROM}
        between = {
            f"deviation_p{rank}_percent": value if self.trials >= fewest[rank] else None
            for rank, value in zip(_PERCENTILES, self.percentiles, strict=True)
            if rank in fewest
        }
        ends = {"deviation_lowest_percent": lowest, "deviation_highest_percent": highest}
        return {**between, **ends, "trials": self.trials}


def _drawn(group: TrialGroup, by_trial: Mapping[str, Sequence[CutRow]], margin: float) -> Drawn | None:
    deviations: dict[float, list[float]] = {}
    lasted_s: list[float] = []
    for row in group.good:
        truncated = by_trial.get(row["trial_id"], ())
        if not truncated or not row["goodput_bps"] or row["duration_s"] is None or row.get("until_share"):
            continue
        lasted_s.append(row["duration_s"])
        for one in truncated:
            off = (one["goodput_bps"] / row["goodput_bps"] - 1) * 100
            deviations.setdefault(one["duration_ns"] / SECOND_NS, []).append(off)
    trials = len(lasted_s)
    # Whole trials close the figure; a whole one that is shorter says nothing of cuts of longer ones.
    longest_s = max(lasted_s, default=0.0)
    deviations.setdefault(longest_s, []).extend(0.0 for lasted in lasted_s if lasted == longest_s)
    if len(deviations) < 2:
        return None
    spread = {duration: _Spread.of(values) for duration, values in sorted(deviations.items())}
    return Drawn(
        group.key("duration"),
        group.title,
        f"What {counted(trials, 'trial')} would have said if cut short, against what the whole trial says. "
        f"Grey: ± {margin * 100:g} %. Cuts of a trial share intervals: the picture is no test by itself.",
        file_stem(group.sweep, group.title, "duration"),
        _figure(spread, margin),
        tuple(
            {"sweep": group.sweep, "direction": group.direction, "duration_s": duration, **one.columns()}
            for duration, one in spread.items()
        ),
    )


def _figure(spread: Mapping[float, _Spread], margin: float) -> go.Figure:
    places = [position(duration) for duration in spread]
    lowest, fifth, low, middle, high, ninety_fifth, highest = zip(
        *(one.percentiles for one in spread.values()), strict=True
    )
    fewest = min(one.trials for one in spread.values())
    if fewest < _NINE_OF_TEN_FROM:
        edges = [_edge(places, lowest, _ALL), _edge(places, highest, None)]
    else:
        edges = [_edge(places, fifth, _NINE_OF_TEN), _edge(places, ninety_fifth, None)]
    if fewest >= _HALF_FROM:
        edges += [
            _edge(places, low, None, width=0),
            _edge(places, high, "the middle half", width=0, fill="tonexty"),
        ]
    farthest = max(*map(abs, (*lowest, *highest)), _LEAST_PERCENT, margin * 100)
    return framed(
        [
            *edges,
            go.Scatter(
                x=places,
                y=middle,
                mode="lines+markers",
                name="median of the trials",
                line={"color": CATEGORIES[0], "width": 2},
                marker={"color": CATEGORIES[0], "size": 7},
                text=[_said(duration, one) for duration, one in spread.items()],
                hovertemplate="%{text}<extra></extra>",
            ),
        ],
        showlegend=True,
        xaxis=_axis(list(spread)),
        yaxis=named_axis(
            "from the whole trial, %",
            range=[-farthest * HEADROOM, farthest * HEADROOM],
            zeroline=True,
            nticks=7,
        ),
        shapes=[margin_band(margin * 100, upright=False)],
    )


def _edge(
    places: list[float], heights: Sequence[float], name: str | None, *, width: float = 1, fill: str = "none"
) -> go.Scatter:
    return go.Scatter(
        x=places,
        y=heights,
        mode="lines",
        name=name or "",
        showlegend=name is not None,
        line={"color": CATEGORIES[0], "width": width, "dash": "dot" if width else "solid"},
        fill=fill,
        fillcolor=_BAND,
        hoverinfo="skip",
    )


def _axis(durations: Sequence[float]) -> dict[str, object]:
    step = -(-len(durations) // _MOST_LABELS)
    # From the longest down: what the whole trial took is always named.
    kept = list(durations)[::-1][::step]
    return named_axis(
        "duration",
        automargin=True,
        tickvals=[position(duration) for duration in kept],
        ticktext=[format_duration(duration * SECOND_NS) for duration in kept],
        zeroline=False,
    )


def _said(duration: float, one: _Spread) -> str:
    lowest, fifth, _, middle, _, ninety_fifth, highest = (
        f"{format_number(value)} %" for value in one.percentiles
    )
    if one.trials < _NINE_OF_TEN_FROM:
        most = f"all: {lowest} to {highest}"
    else:
        most = f"nine of ten: {fifth} to {ninety_fifth}"
    return (
        f"<b>{middle}</b> from the whole trial after {format_duration(duration * SECOND_NS)}<br>"
        f"{most}<br>{counted(one.trials, 'trial')}"
    )
