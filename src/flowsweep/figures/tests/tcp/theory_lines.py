"""What theory says of a path, as lines: window / RTT, the rate at which it must end, and the knee between.

One flow carries at most its window in each round trip, and all of them together at most what the path does:
the knee lies where window × flows is bandwidth × delay (RFC 6349, section 3.3.1).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import plotly.graph_objects as go

from flowsweep.analysis.grid_rows import CellRow
from flowsweep.analysis.summarising.trial_row import TrialRow, known
from flowsweep.analysis.theory import bandwidth_delay_bytes, window_bps
from flowsweep.defaults import MILLISECOND_NS, SECOND_MS
from flowsweep.figures.axis import position
from flowsweep.figures.frame import HEADROOM, THEORY_COLOUR, RateScale
from flowsweep.wording import format_duration, format_rate, format_size

_STEPS = 48
_FARTHEST = 4
"""A knee this many times outside what was measured is stated and not drawn."""


@dataclass(frozen=True, slots=True)
class PathTheory:
    """A path as theory sees it."""

    rtt_ms: float
    """Base round-trip time: the lowest of all trials."""
    ceiling_bps: float
    """What the path carries at most."""
    ceiling_is_known: bool
    """It is the link's payload rate; else the highest that was measured."""
    usable: tuple[tuple[float, float], ...]
    """Window × flows asked for, and what the usable windows make of it, in bit/s; one for each trial."""
    path_window_bytes: float | None = None
    """The window that a measurement of the path alone predicts."""

    @property
    def _rtt_s(self) -> float:
        return self.rtt_ms / SECOND_MS

    @property
    def knee_bytes(self) -> float:
        """Bandwidth × delay."""
        knee_bytes: float = bandwidth_delay_bytes(self.ceiling_bps, self._rtt_s)
        return knee_bytes

    @property
    def words(self) -> str:
        """The lines in words, with their numbers."""
        named = "the link's payload rate" if self.ceiling_is_known else "the highest median measured"
        measured = (
            ""
            if self.path_window_bytes is None
            else f"Dash-dotted: {format_size(round(self.path_window_bytes))}, what the path was "
            "measured to ask for. "
        )
        return (
            "Dashed: window × flows / RTT, with the lowest RTT of all trials, "
            f"{format_duration(self.rtt_ms * MILLISECOND_NS)}. "
            f"Dotted: the knee that theory predicts (BDP), {format_size(self.knee_bytes)} = "
            f"{format_rate(self.ceiling_bps)} ({named}) × RTT. {measured}"
            "The axis shows windows as asked for; open diamonds: what the windows that were usable make."
        )

    def rate_bps(self, window_sum_bytes: float) -> float:
        """What theory predicts for windows that are usable as asked for."""
        limit_bps: float = window_bps(window_sum_bytes, self._rtt_s)
        return min(limit_bps, self.ceiling_bps)

    def traces(self, window_sums: Sequence[float], scale: RateScale) -> list[go.Scatter]:
        """Draw the lines over a log2 axis that spans some window sums."""
        lowest, highest = min(window_sums), max(window_sums)
        drawn = [self._window_limit(lowest, highest, scale)]
        if lowest / _FARTHEST <= self.knee_bytes <= highest * _FARTHEST:
            knee = f"predicted knee: {format_size(self.knee_bytes)}"
            drawn.append(self._vertical(self.knee_bytes, "BDP", "dot", knee, scale))
        measured = self.path_window_bytes
        if measured and lowest / _FARTHEST <= measured <= highest * _FARTHEST:
            text = f"capacity × round trip of the path: {format_size(round(measured))}"
            drawn.append(self._vertical(measured, "path", "dashdot", text, scale))
        return [*drawn, *self._usable(scale)]

    def _window_limit(self, lowest: float, highest: float, scale: RateScale) -> go.Scatter:
        top_bps = scale.top * scale.factor * HEADROOM
        end = min(highest, bandwidth_delay_bytes(top_bps, self._rtt_s))
        ratio = max(end / lowest, 1.0)
        sizes = [lowest * ratio ** (step / _STEPS) for step in range(_STEPS + 1)]
        return go.Scatter(
            x=[float(f"{position(size):.5g}") for size in sizes],
            y=[scale.of(window_bps(size, self._rtt_s)) for size in sizes],
            mode="lines",
            name="window / RTT",
            line={"color": THEORY_COLOUR, "width": 1.5, "dash": "dash"},
            hoverinfo="skip",
        )

    def _vertical(self, window_bytes: float, name: str, dash: str, text: str, scale: RateScale) -> go.Scatter:
        return go.Scatter(
            x=[position(window_bytes)] * 2,
            y=[0, scale.of(self.ceiling_bps)],
            mode="lines",
            name=name,
            line={"color": THEORY_COLOUR, "width": 1.5, "dash": dash},
            text=[text] * 2,
            hovertemplate="%{text}<extra></extra>",
        )

    def _usable(self, scale: RateScale) -> list[go.Scatter]:
        by_size: dict[float, list[float]] = {}
        for size, rate in self.usable:
            by_size.setdefault(size, []).append(min(rate, self.ceiling_bps))
        if not by_size:
            return []
        points = [(size, median(rates)) for size, rates in sorted(by_size.items())]
        return [
            go.Scatter(
                x=[position(size) for size, _ in points],
                y=[scale.of(rate) for _, rate in points],
                mode="markers",
                name="usable",
                marker={"symbol": "diamond-open", "size": 9, "color": THEORY_COLOUR, "line": {"width": 1.5}},
                text=[
                    f"from the usable window: {format_rate(rate)}<br>window × flows {format_size(size)}"
                    for size, rate in points
                ],
                hovertemplate="%{text}<extra></extra>",
            )
        ]


def path_theory(
    cells: Sequence[CellRow],
    trials: Sequence[TrialRow],
    shown: Sequence[TrialRow],
    path_window_bytes: float | None = None,
) -> PathTheory | None:
    """Work out a path's theory from its points and trials; absent without a round-trip time.

    Args:
        cells: The points that are drawn.
        trials: All of the path, which tell what it is.
        shown: Those of the points, which tell what windows were usable.
        path_window_bytes: That a measurement of the path alone predicts.
    """
    times = [rtt_ms for row in trials if (rtt_ms := row.get("rtt_min_ms"))]
    if not times:
        return None
    payloads = [payload for row in trials if (payload := row.get("link_payload_bps"))]
    ceiling = median(payloads) if payloads else max(known(row["goodput_median_bps"]) for row in cells)
    rtt_ms = min(times)
    usable = tuple(
        (row["window_sum_bytes"], window_bps(row["window_usable_bytes"] * row["flows"], rtt_ms / SECOND_MS))
        for row in shown
        if row["window_usable_bytes"] and row["window_sum_bytes"]
    )
    return PathTheory(rtt_ms, ceiling, bool(payloads), usable, path_window_bytes)
