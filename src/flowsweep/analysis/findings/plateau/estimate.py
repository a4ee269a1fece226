"""The plateau of each direction: where it starts, how high it is, and what theory asks for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from flowsweep.analysis.findings.plateau.knee import Knee, base_rtt_ms, knee
from flowsweep.analysis.findings.plateau.start import PlateauStart, plateau_start
from flowsweep.analysis.statistics.level_means import LevelMeans
from flowsweep.analysis.theory import bandwidth_delay_bytes
from flowsweep.defaults import SECOND_MS


@dataclass(frozen=True, slots=True)
class Plateau:
    """Where the plateau of one direction and congestion control starts, as estimated."""

    means: LevelMeans
    found: PlateauStart
    knee: Knee | None
    """Of windows; null where the plateau starts at the smallest one, and for flows."""
    rtt_ms: float | None
    """The path's own round-trip time, the least that was seen."""
    product_bytes: float | None
    """Plateau's goodput × round trip: the window that theory asks for; null where the latter is not known."""
    link_product_bytes: float | None
    """Rate of the emulated link × round trip; null for other paths."""
    path_product_bytes: float | None
    """Capacity × round trip, as a measurement of the path has them; null without one."""
    p_value: float | None
    """Of "no level is above the lowest one", two-sided, Bonferroni over the levels; null without a measure
    of the noise."""
    rises_at_the_end: bool
    """The highest level is above all others by more than the margin, beyond chance."""
    margin: float
    failed_beyond: bool = False
    """Larger levels were tried, too, and trials with them did not end ok; none of these levels counts."""
    empty_beyond: bool = False
    """The same of trials that ended ok and carried nothing."""


def plateaus(
    windows: Sequence[LevelMeans],
    flows: Sequence[LevelMeans],
    *,
    margin: float,
    predicted: Mapping[str, float] = MappingProxyType({}),
) -> list[Plateau]:
    """Estimate where plateaus start.

    Args:
        windows: From `window_levels`, in bytes of all flows together; goodput in bit/s.
        flows: From `flow_levels`.
        margin: How far below its maximum (relative) goodput counts as on the plateau.
        predicted: Windows in bytes, by direction, from measurements of the paths.

    Returns:
        One for each of both, in their order. Method: cell means of log goodput with repeats as blocks
        (`level_means`), `plateau_start`, `knee`; the predicted product is bandwidth × delay (RFC 6349,
        3.3.1).
    """
    return [
        *(_estimated(means, predicted, margin=margin, window=True) for means in windows),
        *(_estimated(means, predicted, margin=margin, window=False) for means in flows),
    ]


def _estimated(means: LevelMeans, predicted: Mapping[str, float], *, margin: float, window: bool) -> Plateau:
    found = plateau_start(means, margin)
    rtt_ms = base_rtt_ms(means)
    rtt_s = None if rtt_ms is None else rtt_ms / SECOND_MS
    rates_bps = {row["path_rate_bps"] for row in means.rows}
    link_bps = next(iter(rates_bps)) if len(rates_bps) == 1 else None
    last = len(means.levels) - 1
    return Plateau(
        means=means,
        found=found,
        knee=knee(means, found, margin) if window else None,
        rtt_ms=rtt_ms,
        product_bytes=None if rtt_s is None else bandwidth_delay_bytes(found.peak_bps, rtt_s),
        link_product_bytes=None if rtt_s is None or not link_bps else bandwidth_delay_bytes(link_bps, rtt_s),
        path_product_bytes=predicted.get(means.direction),
        p_value=_p_value(means),
        rises_at_the_end=means.fit is not None and found.earliest == last,
        margin=margin,
    )


def _p_value(means: LevelMeans) -> float | None:
    if means.fit is None:
        return None
    above = means.compare([(0, level) for level in range(1, len(means.levels))])
    rising = [float(p) for p, value in zip(above.p_values, above.value, strict=True) if value > 0]
    return min(1.0, min(rising, default=1.0) * (len(means.levels) - 1))
