"""The capacity of each hop, by how much longer larger probes take to it and back."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy

from flowsweep.analysis.statistics.intervals import half_width
from flowsweep.analysis.tests.path.hop_times import HopTimes
from flowsweep.defaults import PROBE_SIZES_TELL, SECOND_NS

HopNote = Literal["no answer", "too few answers", "between", "above", "behind a silent hop", "not clear"]

_CAPACITY_ERROR_MAX = 0.1
"""Half the interval of a slope, as a share of it; beyond, its two ends are reported and no capacity."""
_ERROR_MAX = 0.3
"""The same; beyond, the upper end of a capacity would be a guess."""
_HOSTS_NS = 2.0
"""Standard error, per byte: what hosts themselves take for it, one more than the next, is in slopes and in no
scatter. How much was seen on hops whose capacities are known (docs/guide/path.md)."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line through round-trip times over sizes."""

    at_zero_ns: float
    slope_ns: float
    """Per byte."""
    error_ns: float
    """Standard error of the slope."""
    freedom: int


@dataclass(frozen=True, slots=True)
class Hop:
    """One hop, as far as it is known. Rates in bit/s of IP packets."""

    times: HopTimes
    line: Line | None
    capacity_bps: float | None
    low_bps: float | None
    """Ends of the 95 % interval; where there is only `low_bps`, it is what the capacity is above."""
    high_bps: float | None
    note: HopNote | None

    @property
    def about_bps(self) -> float | None:
        """The capacity, or the middle (in time) of what it lies between: to compare, not to tell."""
        if self.low_bps is None or self.high_bps is None:
            return None
        return 2 / (1 / self.low_bps + 1 / self.high_bps)


def hop_capacities(path: Sequence[HopTimes]) -> list[Hop]:
    """Estimate the capacity of each hop of a path.

    The round-trip time to a hop grows with the probe's size by 8 / capacity for each link on the way there;
    answers have all the same size. So a link's share is the slope to the hop behind it less that to the hop
    before it (Jacobson, "pathchar", 1997; Downey, "Using pathchar to estimate Internet link
    characteristics", SIGCOMM 1999). These take the least time of each size. How long a probe waits does not
    depend on its size, though, so that any quantile makes the same slope, and the lower quartile varies less
    than the least, which hangs on a single probe. Slopes are by least squares; the interval of a difference
    of two is by their standard errors, a third one for what hosts take for a byte, and t with Welch's degrees
    of freedom. Where it is wide, its ends are shown; where it is very wide, or holds 0, the hop is "above"
    what its upper end stands for. A token bucket lets single packets pass: what it limits does not show here,
    but in trains.

    Args:
        path: Hops in their order, from `hop_times`.
    """
    hops: list[Hop] = []
    before = Line(0.0, 0.0, 0.0, 1)
    silent = False
    for times in path:
        line = _line(times)
        if line is None:
            hops.append(
                Hop(times, None, None, None, None, "too few answers" if times.answers else "no answer")
            )
            silent = True
            continue
        hops.append(_hop(times, line, before, silent=silent))
        before, silent = line, False
    return hops


def _line(times: HopTimes) -> Line | None:
    if len(times.quartile_ns) < PROBE_SIZES_TELL:
        return None
    sizes = np.array(list(times.quartile_ns), dtype=np.float64)
    took_ns = np.array(list(times.quartile_ns.values()), dtype=np.float64)
    fit = scipy.stats.linregress(sizes, took_ns)
    return Line(float(fit.intercept), float(fit.slope), float(fit.stderr), len(sizes) - 2)


def _hop(times: HopTimes, line: Line, before: Line, *, silent: bool) -> Hop:
    share_ns = line.slope_ns - before.slope_ns
    half_ns = _half_width_ns(line, before)
    low_bps = None if share_ns + half_ns <= 0 else _rate_bps(share_ns + half_ns)
    if low_bps is None:
        return Hop(times, line, None, None, None, "not clear")
    if silent:
        # Several links at once: each of them is faster than they are together.
        return Hop(times, line, None, low_bps, None, "behind a silent hop")
    if half_ns > _ERROR_MAX * share_ns:
        return Hop(times, line, None, low_bps, None, "above")
    high_bps = _rate_bps(share_ns - half_ns)
    if half_ns > _CAPACITY_ERROR_MAX * share_ns:
        return Hop(times, line, None, low_bps, high_bps, "between")
    return Hop(times, line, _rate_bps(share_ns), low_bps, high_bps, None)


def _half_width_ns(line: Line, before: Line) -> float:
    squares = line.error_ns**2, before.error_ns**2
    square = sum(squares) + _HOSTS_NS**2
    scatter = squares[0] ** 2 / line.freedom + squares[1] ** 2 / before.freedom
    freedom = square**2 / scatter if scatter else math.inf
    return half_width(math.sqrt(square), freedom)


def _rate_bps(ns_per_byte: float) -> float:
    return 8 * SECOND_NS / ns_per_byte
