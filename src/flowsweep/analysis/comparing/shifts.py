"""How much goodput differs between two campaigns, with intervals that hold together."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import scipy

from flowsweep.analysis.statistics.least_squares import Floats
from flowsweep.analysis.statistics.uncertain import Uncertain
from flowsweep.defaults import SIGNIFICANCE

Outcome = Literal["faster", "slower", "same", "undecided"]
"""What the second campaign is beside the first."""

OVERALL_SHARE = 0.8
"""Of the error rate; the rest is of the points. Their deviations have many degrees of freedom, so that a
small share costs them little."""
_ALONE_SHARE = 0.15
"""Of the error rate, of what is left to points, where these vary unlike each other: for each by itself."""
_WIDEST = math.log(1e6)
"""An interval that reaches from a millionth to the millionfold is none."""
_LEAST_P = 1e-16
_HALVINGS = 60


@dataclass(frozen=True, slots=True)
class Shift:
    """How much goodput differs, B against A."""

    percent: float
    """100 · (ratio of geometric means − 1)."""
    interval_low_percent: float | None
    """Ends of the interval; null where a campaign has no repeats to tell chance from change. All
    intervals of a comparison, overall and at points, hold together with a probability of 95 %."""
    interval_high_percent: float | None
    p_value: float | None
    """Of "there is no shift"; not corrected."""
    p_adjusted: float | None
    """Likewise, corrected for all shifts of the comparison: below 0.05 the interval leaves 0 out."""
    repeats_a: int
    repeats_b: int
    outcome: Outcome


def overall_shift(found: Uncertain | None, shift: float, repeats: tuple[int, int], *, alone: bool) -> Shift:
    """Make the overall shift.

    Args:
        found: One difference of means; None where nothing tells chance.
        shift: Its value; natural logarithm.
        repeats: Of A and of B.
        alone: There is one point only, which then is the overall shift, and nothing is corrected.
    """
    share = 1.0 if alone else OVERALL_SHARE
    if found is None:
        return _shift(shift, None, None, None, repeats)
    half = float(found.half_widths(share * SIGNIFICANCE / 2)[0])
    p_value = _p_value(found)
    return _shift(shift, half, p_value, min(p_value / share, 1.0), repeats)


def point_shifts(
    overall: Uncertain | None,
    deviations: Uncertain | None,
    points: Sequence[tuple[float, int, int]],
    alone: Uncertain | None = None,
) -> list[Shift]:
    """Make the shifts of several points.

    Args:
        overall: The mean shift.
        deviations: Of each point from it.
        points: Shift of each (natural logarithm), and its trials in A and in B; taken where there are no
            deviations.
        alone: The shifts by the trials of each point alone, where points vary unlike each other.

    Returns:
        A point's shift is the overall one and its deviation, and so is its interval: what repeats have in
        common is in the first, which is taken once and not once for each point; the deviations are corrected
        for their number after Bonferroni. Both parts share the error rate, 4 % and 1 % together. Of that 1 %
        three quarters are for the shifts by the trials of each point alone, if there are any, and of both
        intervals the narrower one counts.
    """
    if overall is None or deviations is None:
        return [_shift(shift, None, None, None, (a, b)) for shift, a, b in points]
    values = overall.value + deviations.value
    halves = _halves(overall, deviations, alone, SIGNIFICANCE, len(points))
    p_values = _crossings(values, overall, deviations, alone, 1)
    adjusted = _crossings(values, overall, deviations, alone, len(points))
    return [
        _shift(float(value), float(half), float(p), float(corrected), (a, b))
        for value, half, p, corrected, (_, a, b) in zip(
            values, halves, p_values, adjusted, points, strict=True
        )
    ]


def decided(shift: Shift, margin: float) -> Shift:
    """Decide by the interval: within the margin, beyond 0, or neither."""
    return replace(shift, outcome=_outcome(shift, margin))


def moved(shift: Shift, to: Shift) -> Shift:
    """Put a shift where another one of fewer trials is, with the wider interval of both.

    What is left after trials were chosen by their goodput varies less than all did: its own interval is too
    narrow.
    """
    low, high = shift.interval_low_percent, shift.interval_high_percent
    to_low, to_high = to.interval_low_percent, to.interval_high_percent
    if low is None or high is None or to_low is None or to_high is None:
        return replace(to, interval_low_percent=None, interval_high_percent=None)
    value = math.log1p(to.percent / 100)
    half = max(_half(low, high), _half(to_low, to_high))
    return replace(
        to, interval_low_percent=_percent(value - half), interval_high_percent=_percent(value + half)
    )


def _half(low_percent: float, high_percent: float) -> float:
    return (math.log1p(high_percent / 100) - math.log1p(low_percent / 100)) / 2


def _outcome(shift: Shift, margin: float) -> Outcome:
    low, high = shift.interval_low_percent, shift.interval_high_percent
    if low is None or high is None:
        return "undecided"
    if -100 * margin <= low and high <= 100 * margin:
        return "same"
    if low <= 0 <= high:
        return "undecided"
    return "faster" if shift.percent > 0 else "slower"


def _shift(
    value: float, half: float | None, p_value: float | None, adjusted: float | None, repeats: tuple[int, int]
) -> Shift:
    half = None if half is None or half > _WIDEST else half
    none = half is None
    return Shift(
        percent=_percent(value),
        interval_low_percent=None if half is None else _percent(value - half),
        interval_high_percent=None if half is None else _percent(value + half),
        p_value=None if none else p_value,
        p_adjusted=None if none else adjusted,
        repeats_a=repeats[0],
        repeats_b=repeats[1],
        outcome="undecided",
    )


def _percent(log_ratio: float) -> float:
    return 100 * math.expm1(log_ratio)


def _p_value(found: Uncertain) -> float:
    """Two-sided, by the rule that leaves most to chance."""
    value = abs(float(found.value[0]))
    if not np.any(found.errors):
        return float(value == 0)
    return float(np.max(2 * scipy.stats.t.sf(value / found.errors, found.freedom)))


def _halves(
    overall: Uncertain, deviations: Uncertain, alone: Uncertain | None, rate: Floats | float, points: int
) -> Floats:
    """Half the widths of points' intervals that together err at some rate."""
    common = overall.half_widths(OVERALL_SHARE * rate / 2)
    apart = 1 - OVERALL_SHARE - (0.0 if alone is None else _ALONE_SHARE)
    pooled = common + deviations.half_widths(apart * rate / 2 / points)
    return (
        pooled if alone is None else np.minimum(pooled, alone.half_widths(_ALONE_SHARE * rate / 2 / points))
    )


def _crossings(
    values: Floats, overall: Uncertain, deviations: Uncertain, alone: Uncertain | None, points: int
) -> Floats:
    """Error rates at which the intervals of some shifts just reach 0, by bisection of the logarithm."""
    low, high = np.full(len(values), math.log(_LEAST_P)), np.zeros(len(values))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        beyond = np.abs(values) > _halves(overall, deviations, alone, np.exp(middle), points)
        low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
    return np.exp(high)
