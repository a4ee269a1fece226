"""Where goodput that follows the window meets the plateau: between the windows that were tried."""

import math
from dataclasses import dataclass

import numpy as np

from flowsweep.analysis.findings.plateau.start import PlateauStart
from flowsweep.analysis.statistics.least_squares import Fit, Floats
from flowsweep.analysis.statistics.level_means import LevelMeans

NEAREST = 3
"""Levels below the plateau whose slope counts, the nearest: far below other things may limit."""
FOLLOWS_WITHIN = math.log(1.15)
"""Goodput follows the window if window / goodput is the same at these levels within this factor. A flow at
its send buffer flies 80 to 100 % of it on average (docs/explanation/windows.md)."""
PROMISE_KEPT = 0.75
"""Where there is one such level only: goodput follows the window if it is at least this share of usable
window / round-trip time."""
_MS_PER_S = 1_000


@dataclass(frozen=True, slots=True)
class Knee:
    """A window of all flows together, in bytes, with its 95 % interval. Ends are null where nothing tells."""

    requested: float
    low: float | None
    high: float | None
    usable: float | None
    """In flight, measured; null where nothing is known of that."""
    usable_low: float | None
    usable_high: float | None
    follows_window: bool
    """Below, goodput is proportional to the window, and the knee is where that line meets the plateau; else
    it is interpolated between two levels."""


def knee(means: LevelMeans, found: PlateauStart, margin: float) -> Knee | None:
    """Find the window at which goodput reaches the plateau.

    Args:
        means: Of windows, in bytes of all flows together; goodput in bit/s.
        found: Where the plateau starts.
        margin: Relative.

    Returns:
        Where goodput follows the usable window below the plateau, goodput = window / T (RFC 6349, 3.3.1):
        the window P · T at which that line meets the plateau's mean P, with T the geometric mean of
        window / goodput at the nearest levels below; Student's t interval of log P + log T. What has to be
        asked for has the ratio to the usable window that it has at those levels, and lies between the last
        level below and the first on the plateau. Elsewhere linear interpolation of logarithms between these
        two, to where goodput is a margin below the plateau; its interval is that of the levels that cannot be
        excluded. None where the plateau starts at the lowest level.
    """
    below = _nearest_below(means, found, margin)
    if not below:
        return None
    usable = _usable_logs(means)
    sizes = usable if usable is not None else np.log([means.levels[level] for level in means.level_of])
    size_of = np.array([sizes[means.level_of == level].mean() for level in range(len(means.levels))])
    if not _follows(means, below, size_of, known=usable is not None):
        return _interpolated(means, found, below[-1], margin)
    value, half = _crossing(means, found, below, sizes)
    last, first = means.levels[below[-1]], means.levels[found.start]
    low, high = (None, None) if half is None else (math.exp(value - half), math.exp(value + half))
    knee_size = math.exp(value)
    ratio = math.exp(float(np.mean([math.log(means.levels[level]) - size_of[level] for level in below])))
    requested = float(np.clip(knee_size * ratio, last, first))
    return Knee(
        requested=requested,
        low=None if low is None else min(low * ratio, requested),
        high=None if high is None else max(high * ratio, requested),
        usable=None if usable is None else knee_size,
        usable_low=None if usable is None else low,
        usable_high=None if usable is None else high,
        follows_window=True,
    )


def _nearest_below(means: LevelMeans, found: PlateauStart, margin: float) -> list[int]:
    allowed = -math.log1p(-margin)
    below = [level for level in range(found.start) if means.means[level] < found.peak - allowed]
    return below[-NEAREST:]


def _usable_logs(means: LevelMeans) -> Floats | None:
    """(rows,) natural logarithm of the usable window of all flows, in bytes; none unless known of all."""
    usable = [(row["window_usable_bytes"] or 0) * row["flows"] for row in means.rows]
    return np.log(usable) if min(usable) > 0 else None


def _follows(means: LevelMeans, below: list[int], size_of: Floats, *, known: bool) -> bool:
    """Whether goodput is proportional to the window at the levels below the plateau."""
    delays = [float(size_of[level] - means.means[level]) for level in below]
    if len(below) > 1:
        return max(delays) - min(delays) <= FOLLOWS_WITHIN
    rtt_ms = base_rtt_ms(means)
    if not known or rtt_ms is None:
        return False
    return rtt_ms / _MS_PER_S / 8 / math.exp(delays[0]) >= PROMISE_KEPT


def base_rtt_ms(means: LevelMeans) -> float | None:
    """Return the least round-trip time (ms) of all trials; None where no trial tells."""
    known = [float(row["rtt_min_ms"]) for row in means.rows if row["rtt_min_ms"]]
    return min(known, default=None)


def _crossing(
    means: LevelMeans, found: PlateauStart, below: list[int], sizes: Floats
) -> tuple[float, float | None]:
    """Log window at which the line through the levels below meets the plateau, and half its interval."""
    weights = np.zeros(len(means.shares[0]))
    for level in found.highest:
        weights += means.shares[level] / len(found.highest)
    for level in below:
        weights -= means.shares[level] / len(below)
    rising = np.isin(means.level_of, below)
    # Below, the response is goodput / window, whose level is 1 / T; on the plateau it is goodput.
    response = means.logs - np.where(rising, sizes, 0)
    fit = Fit(response, means.cells, means.blocks)
    if fit.freedom < 1:
        return float(weights @ fit.cell_means), None
    estimate = fit.compare(response, weights[None, :])
    return float(estimate.value[0]), float(estimate.half_widths()[0])


def _interpolated(means: LevelMeans, found: PlateauStart, last: int, margin: float) -> Knee:
    first = found.start
    goal = found.peak + math.log1p(-margin)
    share = (goal - means.means[last]) / (means.means[first] - means.means[last])
    sizes = np.log([means.levels[last], means.levels[first]])
    requested = math.exp(sizes[0] + float(np.clip(share, 0, 1)) * (sizes[1] - sizes[0]))
    low = float(means.levels[max(found.earliest - 1, 0)])
    high = None if found.latest is None else float(means.levels[found.latest])
    return Knee(
        requested=requested,
        low=min(low, requested) if means.fit is not None else None,
        high=None if high is None else max(high, requested),
        usable=None,
        usable_low=None,
        usable_high=None,
        follows_window=False,
    )
