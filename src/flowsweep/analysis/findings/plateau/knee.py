"""The smallest window that is enough: between the windows that were tried."""

import math
from dataclasses import dataclass

import numpy as np

from flowsweep.analysis.findings.plateau.shoulder import enough_at
from flowsweep.analysis.findings.plateau.start import PlateauStart
from flowsweep.analysis.statistics.intervals import mean_interval
from flowsweep.analysis.statistics.least_squares import Floats
from flowsweep.analysis.statistics.level_means import LevelMeans
from flowsweep.analysis.theory import bandwidth_delay_bytes
from flowsweep.defaults import BITS_PER_BYTE, FEWEST_FOR_INTERVAL, SECOND_MS

NEAREST = 3
"""Levels below the plateau whose slope counts, the nearest: far below other things may limit."""
FOLLOWS_WITHIN = math.log(1.15)
"""Goodput follows the window if window / goodput is the same at these levels within this factor. A flow at
its send buffer flies 80 to 100 % of it on average (docs/explanation/windows.md)."""
PROMISE_KEPT = 0.75
"""Where there is one such level only: goodput follows the window if it is at least this share of usable
window / round-trip time."""


@dataclass(frozen=True, slots=True)
class Knee:
    """The smallest window that is enough, of all flows together, in bytes, with its 95 % interval.

    Enough is a window whose mean goodput is at most a margin below the highest of those that were tried. Ends
    are null where nothing tells.
    """

    requested: float
    low: float | None
    high: float | None
    usable: float | None
    """In flight, measured; null where nothing is known of that."""
    usable_low: float | None
    usable_high: float | None
    follows_window: bool
    """Below, goodput is proportional to the window, and the estimate is that of `enough_at`; else it is
    interpolated between two levels."""


def knee(means: LevelMeans, found: PlateauStart, margin: float) -> Knee | None:
    """Find the smallest window that is enough.

    Args:
        means: Of windows, in bytes of all flows together; goodput in bit/s.
        found: Where the plateau starts.
        margin: Relative.

    Returns:
        None where the plateau starts at the lowest level. The interval assumes nothing of the response but
        that no window is enough if a larger one, below all that may be enough, is not: it begins above the
        largest window that was shown not to be enough, and ends at the smallest that was shown to be, each
        with 97.5 % confidence (`plateau_start`). In usable bytes it does not begin below the share of
        bandwidth × delay that is enough, with the minimum round trip that was seen, as no window carries more
        than itself in a round trip (RFC 6349, 3.3.1). It has no upper end where only the largest window was
        shown to be enough: goodput may rise beyond.
        The estimate is within the interval. Where goodput follows the usable window below the plateau it is
        of a smooth response (`enough_at`); what has to be requested has the ratio to the usable window that
        it has at the nearest levels below, or, where that leads beyond the last level below and the first on
        the plateau, is interpolated between these two by their usable windows. Elsewhere the estimate is a
        linear interpolation of logarithms between the same two levels, to where goodput is a margin below the
        plateau.
    """
    below = _nearest_below(means, found, margin)
    if not below:
        return None
    usable = _usable_logs(means)
    sizes = usable if usable is not None else np.log([means.levels[level] for level in means.level_of])
    size_of = np.array([sizes[means.level_of == level].mean() for level in range(len(means.levels))])
    follows = _follows(means, below, size_of, known=usable is not None)
    low, high = _bounds(means, found)
    if not follows:
        requested = _within(_interpolated(means, found, below[-1], margin), low, high)
        return Knee(requested, low, high, None, None, None, follows_window=False)
    error = 0.0 if means.fit is None else math.sqrt(means.fit.variance * len(means.levels) / len(means.rows))
    size = math.exp(enough_at(size_of, means.means, below, found.highest, error=error, margin=margin))
    ratio = math.exp(float(np.mean([math.log(means.levels[level]) - size_of[level] for level in below])))
    requested = _within(_requested(means, size_of, (below[-1], found.start), size, ratio), low, high)
    if usable is None:
        return Knee(requested, low, high, None, None, None, follows_window=True)
    usable_low, usable_high = _usable_bounds(means, found, size_of, margin)
    return Knee(
        requested, low, high, _within(size, usable_low, usable_high), usable_low, usable_high,
        follows_window=True,
    )  # fmt: skip


def excluded(found: PlateauStart) -> int | None:
    """Return the number of the largest level that was shown not to be enough; None where there is none."""
    return found.earliest - 1 if found.earliest > 0 else None


def shown_enough(means: LevelMeans, found: PlateauStart) -> int | None:
    """Return the number of the smallest level that was shown to be enough.

    None where that can be shown of no level, or of the largest only, beyond which goodput may rise.
    """
    return None if found.latest == len(means.levels) - 1 else found.latest


def base_rtt_ms(means: LevelMeans) -> float | None:
    """Return the minimum round-trip time (ms) of all trials; None where no trial tells."""
    known = [float(row["rtt_min_ms"]) for row in means.rows if row["rtt_min_ms"]]
    return min(known, default=None)


def _requested(
    means: LevelMeans, size_of: Floats, between: tuple[int, int], size: float, ratio: float
) -> float:
    """What has to be requested for a usable window; interpolated where the ratio leads beyond both levels."""
    levels = [float(means.levels[level]) for level in between]
    sizes = [float(size_of[level]) for level in between]
    requested = size * ratio
    if not levels[0] <= requested <= levels[1] and sizes[0] < sizes[1]:
        requested = math.exp(np.interp(math.log(size), sizes, np.log(levels)))
    return min(max(requested, levels[0]), levels[1])


def _bounds(means: LevelMeans, found: PlateauStart) -> tuple[float | None, float | None]:
    """Ends of the interval in requested bytes, of which there are whole ones only."""
    below, above = excluded(found), shown_enough(means, found)
    low = None if below is None else float(means.levels[below] + 1)
    return low, None if above is None else float(means.levels[above])


def _usable_bounds(
    means: LevelMeans, found: PlateauStart, size_of: Floats, margin: float
) -> tuple[float | None, float | None]:
    below, above = excluded(found), shown_enough(means, found)
    high = None if above is None else math.exp(size_of[above])
    rtt_ms, plateau_bps = base_rtt_ms(means), _least_plateau_bps(means, found)
    low = None if below is None else math.exp(size_of[below]) + 1
    if low is not None and high is not None and low > high:
        # A flight on the plateau that is less than one below it is not held back by its window.
        return None, None
    if rtt_ms is not None and plateau_bps is not None:
        product_bytes = bandwidth_delay_bytes(plateau_bps * (1 - margin), rtt_ms / SECOND_MS)
        if high is None or product_bytes < high:
            low = max(low or 0.0, product_bytes)
    return low, high


def _least_plateau_bps(means: LevelMeans, found: PlateauStart) -> float | None:
    """Goodput of the plateau, at least, with 97.5 % confidence: Student's t over the means of repeats."""
    on_it = np.isin(means.level_of, found.highest)
    repeats: dict[object, list[float]] = {}
    for one, log, counts in zip(means.placed, means.logs, on_it, strict=True):
        if counts:
            repeats.setdefault(one.row["repeat"], []).append(float(log))
    if len(repeats) < FEWEST_FOR_INTERVAL:
        return None
    _, least, _ = mean_interval([float(np.mean(own)) for own in repeats.values()])
    return math.exp(least)


def _within(size: float, low: float | None, high: float | None) -> float:
    return min(max(size, low or 0.0), math.inf if high is None else high)


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
    return rtt_ms / SECOND_MS / BITS_PER_BYTE / math.exp(delays[0]) >= PROMISE_KEPT


def _interpolated(means: LevelMeans, found: PlateauStart, last: int, margin: float) -> float:
    first = found.start
    goal = found.peak + math.log1p(-margin)
    share = (goal - means.means[last]) / (means.means[first] - means.means[last])
    sizes = np.log([means.levels[last], means.levels[first]])
    return math.exp(sizes[0] + float(np.clip(share, 0, 1)) * (sizes[1] - sizes[0]))
