"""What theory says of a path, as lines: window / RTT, the rate at which it must end, and the knee between.

One flow carries at most its window in each round trip, and all of them together at most what the path does:
the knee lies where window × flows is bandwidth × delay (RFC 6349, section 3.3.1).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final, Literal

import plotly.graph_objects as go

from flowsweep.analysis.grid_rows import CellRow
from flowsweep.analysis.summarising.trial_row import TrialRow, known
from flowsweep.analysis.theory import bandwidth_delay_bytes, window_bps
from flowsweep.analysis.verdicts import NOT_CLEAR, WINDOWS
from flowsweep.defaults import MILLISECOND_NS, SECOND_MS
from flowsweep.figures.axis import position
from flowsweep.figures.frame import HEADROOM, THEORY_COLOUR, RateScale
from flowsweep.wording import format_duration, format_rate, format_size

_STEPS = 48
_FARTHEST = 4
"""A knee this many times outside what was measured is stated and not drawn."""
_ALIKE = 0.01
"""Of a payload rate, by which one link's may differ from trial to trial: headers have options, or none."""
_AMPLE = 2
"""A window that could carry this many times what came does not limit, whatever nobody says of it."""

_Ceiling = Literal["link", "measured", "windows", "largest window"]
_LINK: Final = "link"
_MEASURED: Final = "measured"
_BEYOND: Mapping[_Ceiling, str] = {
    "windows": "windows limit where goodput is highest, so it is more than",
    "largest window": (
        "goodput is highest with the largest window, which allows hardly more, so it is probably more than"
    ),
}
"""Why the highest goodput is not what the path carries at most, and where the knee lies then."""


@dataclass(frozen=True, slots=True)
class PathTheory:
    """A path as theory sees it."""

    rtt_ms: float
    """Base round-trip time: the lowest of all trials."""
    ceiling_bps: float
    """What the path carries at most, as far as is known; of links that carry unlike payloads, the most."""
    ceiling: _Ceiling
    """The link's payload rate, or the highest that was measured, which may be the windows' own."""
    usable: tuple[tuple[float, float, float], ...]
    """Window × flows asked for, what the usable windows make of it, and what the trial's own link carries
    (infinite: not known), in bit/s; one for each trial."""
    path_window_bytes: float | None = None
    """The window that a measurement of the path alone predicts."""
    least_link_bps: float | None = None
    """Of links that carry unlike payloads, the least; else absent."""

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
        link = ", and the trial's link carries" if self.least_link_bps is not None else ""
        usable = f"; open diamonds: what the windows that were usable make{link}" if self.usable else ""
        measured = (
            ""
            if self.path_window_bytes is None
            else f"Dash-dotted: {format_size(round(self.path_window_bytes))}, what the path was "
            "measured to ask for. "
        )
        return (
            "Dashed: window × flows / RTT, with the lowest RTT of all trials, "
            f"{format_duration(self.rtt_ms * MILLISECOND_NS)}. {self._knee_words}. {measured}"
            f"The axis shows windows as asked for{usable}."
        )

    @property
    def _knee_words(self) -> str:
        if self.least_link_bps is not None:
            least, most = format_rate(self.least_link_bps), format_rate(self.ceiling_bps)
            return f"No knee (BDP) is drawn: payload rates of the trials' links are from {least} to {most}"
        named = "the link's payload rate" if self.ceiling == _LINK else "the highest median measured"
        beyond = f" is not known: {_BEYOND[self.ceiling]}" if self._is_beyond else ","
        return (
            f"{'The' if self._is_beyond else 'Dotted: the'} knee that theory predicts (BDP){beyond} "
            f"{format_size(self.knee_bytes)} = {format_rate(self.ceiling_bps)} ({named}) × RTT"
        )

    def rate_bps(self, window_sum_bytes: float) -> float:
        """What theory predicts for windows that are usable as asked for."""
        limit_bps: float = window_bps(window_sum_bytes, self._rtt_s)
        return min(limit_bps, self.ceiling_bps) if self._has_knee else limit_bps

    @property
    def _is_beyond(self) -> bool:
        """Whether windows, and not the path, end what was measured."""
        return self.ceiling in _BEYOND

    @property
    def _has_knee(self) -> bool:
        """Whether one rate ends whatever windows allow."""
        return not self._is_beyond and self.least_link_bps is None

    @property
    def highest_bps(self) -> float:
        """The highest that is drawn."""
        return max((rate for _, rate in self._usable_points()), default=0.0)

    def traces(self, window_sums: Sequence[float], scale: RateScale) -> list[go.Scatter]:
        """Draw the lines over a log2 axis that spans some window sums."""
        lowest, highest = min(window_sums), max(window_sums)
        drawn = [self._window_limit(lowest, highest, scale)]
        if self._has_knee and lowest / _FARTHEST <= self.knee_bytes <= highest * _FARTHEST:
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

    def _usable_points(self) -> list[tuple[float, float]]:
        """Window × flows and rate; several of one size where links carry unlike payloads."""
        found: dict[tuple[float, float], list[float]] = {}
        for size, rate_bps, link_bps in self.usable:
            end_bps = self.ceiling_bps if self._has_knee else link_bps
            found.setdefault((size, end_bps), []).append(min(rate_bps, end_bps))
        return [(size, median(rates)) for (size, _), rates in sorted(found.items())]

    def _usable(self, scale: RateScale) -> list[go.Scatter]:
        points = self._usable_points()
        if not points:
            return []
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


def window_product(row: Mapping[str, object]) -> int | None:
    """The smaller of both ends' windows that were asked for, for all flows of a trial or a point."""
    sizes = (row.get("window_send_bytes"), row.get("window_recv_bytes"))
    asked = [size for size in sizes if isinstance(size, int)]
    flows = row["flows"]
    return min(asked) * flows if asked and isinstance(flows, int) else None


def path_theory(
    cells: Sequence[CellRow],
    trials: Sequence[TrialRow],
    shown: Sequence[TrialRow],
    path_window_bytes: float | None = None,
    *,
    has_plateau: bool = False,
) -> PathTheory | None:
    """Work out a path's theory from its points and trials; absent without a round-trip time.

    Args:
        cells: The points that are drawn.
        trials: All of the path, which tell its round-trip time.
        shown: Those of the points, which tell what their link carries, what windows were usable and what
            limited.
        path_window_bytes: That a measurement of the path alone predicts.
        has_plateau: Whether a plateau was found in these points.
    """
    times = [rtt_ms for row in trials if (rtt_ms := row.get("rtt_min_ms"))]
    if not times:
        return None
    rtt_ms = min(times)
    payloads = [payload for row in shown if (payload := row.get("link_payload_bps"))]
    best = max(cells, key=lambda row: known(row["goodput_median_bps"]))
    highest_bps = known(best["goodput_median_bps"])
    reached = _LINK if payloads else _highest_is_of(best, cells, shown, rtt_ms, has_plateau=has_plateau)
    usable = tuple(
        (
            size,
            window_bps(row["window_usable_bytes"] * row["flows"], rtt_ms / SECOND_MS),
            row.get("link_payload_bps") or math.inf,
        )
        for row in shown
        if row["window_usable_bytes"] and (size := window_product(row))
    )
    if payloads and min(payloads) < (1 - _ALIKE) * max(payloads):
        return PathTheory(rtt_ms, max(payloads), reached, usable, path_window_bytes, min(payloads))
    ceiling_bps = median(payloads) if payloads else highest_bps
    return PathTheory(rtt_ms, ceiling_bps, reached, usable, path_window_bytes)


def _highest_is_of(
    best: CellRow, cells: Sequence[CellRow], shown: Sequence[TrialRow], rtt_ms: float, *, has_plateau: bool
) -> _Ceiling:
    """Whether windows or the path end the highest goodput: as verdicts say, else as its window allows."""
    goodputs = best["goodputs_bps"] or ()
    verdicts = [row.get("verdict") for row in shown if row["goodput_bps"] in goodputs]
    clear = [verdict for verdict in verdicts if verdict not in (None, NOT_CLEAR)]
    if clear:
        limited = sum(verdict in WINDOWS for verdict in clear)
        return "windows" if 2 * limited > len(clear) else _MEASURED
    largest = max(window_product(row) or 0 for row in cells)
    allowed_bps = window_bps(largest, rtt_ms / SECOND_MS)
    growing = window_product(best) == largest and allowed_bps < _AMPLE * known(best["goodput_median_bps"])
    return "largest window" if growing and not has_plateau else _MEASURED
