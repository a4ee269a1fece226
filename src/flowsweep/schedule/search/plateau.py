"""The search for the least that is enough: which windows, or numbers of flows, are tried next, and its end.

What it says of windows holds of numbers of flows alike, whose steps are wide: neighbours may be further apart
than the precision.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from flowsweep.defaults import FEWEST_FOR_INTERVAL
from flowsweep.plan.searching.model import Beside, Left, OfPlateau
from flowsweep.schedule.search.belief import Belief, Lower, whole_from
from flowsweep.schedule.search.design import most_telling, near, spread_out
from flowsweep.schedule.search.falls import (
    before_fall,
    below_best,
    fall_of,
    lower_of,
    toward_fall,
)
from flowsweep.schedule.search.interval_ends import below_plateau, contradicted, narrowed, shown_ends
from flowsweep.schedule.search.levels import Levels, at_each_look, in_agreement, levels_of
from flowsweep.schedule.search.peaks import hidden_peak
from flowsweep.schedule.search.response import ALLOWED, Response, fitted
from flowsweep.schedule.search.tried import (
    NOTHING_BESIDE,
    Tried,
    bounds_of,
    least_to_try,
    left_of,
    most_bytes,
    too_many_failed,
)

End = Literal["precise", "level", "rising", "budget", "failures"]
"""precise: as was asked. level: the smallest window that worked is enough. rising: the largest is not.
budget: no trial is left. failures: too many trials failed."""
Shown = Literal["not enough", "undecided", "enough"]
"""Of a level: whether goodput is within the margin of the plateau there."""

_FIRST_NOISE = 0.03
"""Of a trial, while none was repeated: natural logarithm."""
_FAR_BELOW = math.log(64)
"""Windows further below the plateau do not count: other things may limit there."""
_CORNER = 100.0
"""The sharpness of a response without a shoulder."""
_MISFIT = 4.0
"""What a response leaves over varies more than trials alike by this factor where it does not fit,"""
_LEAST_MISFIT = 0.005
"""where it is not below that of such noise anyway, natural logarithm;"""
_ENOUGH_FREEDOM = 2
"""degrees of freedom that tell the variance of trials alike."""
_SURELY_BELOW = 0.1
"""A window whose goodput is lower by this, natural logarithm, is not on the plateau."""
_REFERENCE = math.log(2)
"""How far beyond the estimate a window is surely on the plateau."""
_WIDE = 6
"""An interval that is wider than this many precisions says little of where to look."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What a search does after a round."""

    levels: tuple[int, ...]
    """Windows in bytes, or numbers of flows, to be tried in the next round; none at its end."""
    end: End | None
    belief: Belief | None
    """None before the first round, and where too little is known."""
    left: Left
    """Of its budget, before these levels."""
    bounds: tuple[int, int]
    """The smallest and the largest level that may be enough, as `bounds_of` has them."""


def belief_of(
    tried: Sequence[Tried], failed: Sequence[int], low: int, high: int, *, precision: float, confidence: float
) -> tuple[Belief, End]:
    """Say what the trials of a search that is over show, and why it ended.

    Args:
        tried: Those that were whole; three windows at least.
        failed: Levels of those that were not.
        low: The smallest window of its range.
        high: The largest.
        precision: That was asked for.
        confidence: Likewise.
    """
    seen = Seen.of(tried, low, bounds_of(tried, failed, low, high)[1], confidence)
    if too_many_failed(tried, failed):
        return seen.cautious, "failures"
    end = seen.end(precision)
    # No search ends as precise sooner (`decide`).
    early = end == "precise" and max(one.round for one in tried) < FEWEST_FOR_INTERVAL
    return (seen.cautious, "budget") if early or end is None else (seen.belief, end)


@lru_cache(maxsize=256)
def decide(
    search: OfPlateau,
    trial_ns: int,
    tried: tuple[Tried, ...],
    failed: tuple[int, ...] = (),
    beside: Beside = NOTHING_BESIDE,
) -> Decision:
    """Decide what comes after some rounds.

    Args:
        search: What is wanted.
        trial_ns: How long a trial sends, at most.
        tried: All trials so far that were whole.
        failed: Levels of those that were not.
        beside: What each takes beside.

    Returns:
        A first round of windows over the whole range; then, in each round, a window on the plateau as
        reference, to which drift does not matter, and two about the estimate: those that tell most by the
        response that is believed. So each round is a block.
    """
    trials = len(tried) + len(failed)
    left = left_of(search, trial_ns, tried, failed, beside)
    bounds = bounds_of(tried, failed, search.low, search.high)
    if not trials:
        return Decision(spread_out(search), None, None, left, bounds)
    if too_many_failed(tried, failed) or len({one.level for one in tried}) < FEWEST_FOR_INTERVAL:
        return Decision((), "failures", None, left, bounds)
    seen = Seen.of(tried, search.low, bounds[1], search.confidence)
    if left.bytes == 0:
        return Decision((), "budget", seen.cautious, left, bounds)
    if max(one.round for one in tried) >= FEWEST_FOR_INTERVAL and (end := seen.end(search.precision)):
        return Decision((), end, seen.belief, left, bounds)
    lowest = least_to_try(failed, bounds[0], search.low)
    # What would tell most is below, but fails: whether the least that works is enough can be told.
    clip = lowest == bounds[0] > search.low
    levels = _next(seen, search.precision, (lowest, bounds[1]), clip=clip)
    if not left.holds(len(levels), most_bytes(tried, trial_ns, beside)):
        return Decision((), "budget", seen.cautious, left, bounds)
    return Decision(levels, None, seen.cautious, left, bounds)


@dataclass(frozen=True, slots=True)
class Seen:
    """What trials show."""

    levels: Levels
    counted: tuple[Tried, ...]
    """Trials that say where the plateau begins."""
    fit: Response | None
    """Of the trials that count; None where goodput follows no such response."""
    response: Response
    """Its interval is narrowed to what windows show themselves."""
    reference: tuple[int, ...]
    """Numbers of windows on the plateau."""
    high: int
    """The largest that may be tried."""
    confidence: float
    """Of this look."""

    @classmethod
    def of(cls, tried: Sequence[Tried], low: int, high: int, confidence: float) -> "Seen":
        """From trials that were whole, the range that may be tried, and a search's confidence in the end."""
        confidence = at_each_look(confidence)
        kept = in_agreement(tried)
        levels = levels_of(kept)
        counting = _counting(levels)
        counted = tuple(one for one in kept if one.level in counting)
        response = fitted(counted, low, high, confidence)
        reference = _reference(levels, response)
        ends = shown_ends(levels, response, reference, confidence)
        fits = not _misfits(levels, response) and not contradicted(response, ends)
        # Beyond such a fall no plateau begins; a response to the few windows below may say so all the same.
        fits = fits and response.enough < math.log(levels.falls_from(1 - (1 - confidence) / 2))
        # Where goodput goes on rising by more than the margin, its highest is not the response's plateau.
        rise = levels.rise_beyond(response.enough + _REFERENCE, 1 - (1 - confidence) / 2)
        fits = fits and rise <= ALLOWED
        fit = response if fits else None
        if not fits:
            response = _between_windows(levels, response)
            reference = _reference(levels, response)
            ends = shown_ends(levels, response, reference, confidence)
        return cls(levels, counted, fit, narrowed(response, ends), reference, high, confidence)

    @property
    def belief(self) -> Belief:
        """In bytes, or flows, and bit/s."""
        low, high = (
            None if end is None else math.exp(end) for end in (self.response.low, self.response.high)
        )
        plateau_bps = math.exp(float(self.levels.means[list(self.reference)].mean()))
        return Belief(math.exp(self.response.enough), low, high, plateau_bps, self._lower)

    @property
    def cautious(self) -> Belief:
        """What is believed before the end: none is enough while one beyond it looks far below the plateau.

        A response may fit badly while too little was repeated to tell that it does (`_misfits`).
        """
        belief = self.belief
        if self.levels.freedom >= _ENOUGH_FREEDOM or belief.lower is not None:
            return belief
        beyond = np.log(self.levels.values) > self.response.enough
        below = float(self.levels.means[list(self.reference)].mean()) - self.levels.means
        return replace(belief, high=None) if (beyond & (below > 2 * ALLOWED)).any() else belief

    @property
    def judged(self) -> Levels:
        """The levels with what the fit leaves over as their noise where more is known of that."""
        freedom = len(self.counted) - len({one.round for one in self.counted}) - 2
        if self.fit is None or freedom <= self.levels.freedom:
            return self.levels
        return replace(self.levels, variance=self.fit.variance, freedom=freedom)

    @property
    def _lower(self) -> Lower | None:
        return lower_of(self.judged, self.response, self.reference, self._known[1], self.confidence)

    @property
    def _known(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """(levels,) twice: which are known not to be enough, and which to be."""
        at_least, at_most = below_plateau(self.judged, self.response, self.reference, self.confidence)
        return at_least > ALLOWED, at_most <= ALLOWED

    @property
    def shown(self) -> tuple[Shown, ...]:
        """What is known of each level that was tried."""
        short, enough = self._known
        return tuple(
            "not enough" if no else "enough" if yes else "undecided"
            for no, yes in zip(short, enough, strict=True)
        )

    @property
    def only_whole(self) -> set[int] | None:
        """The one whole number in the interval, and the one below, as far as both are in the range.

        None where there are several.
        """
        _, low, high = self.belief.in_whole
        if low is None or low != high:
            return None
        return {number for number in (low - 1, low) if number >= self.levels.values[0]}

    @property
    def toward_fall(self) -> int | None:
        """A number between the best and where goodput falls, if only the fall ends the interval."""
        fallen = fall_of(self.levels, self.reference, self.confidence)
        if fallen is None or self.response.high != math.log(fallen - 1):
            return None
        _, at_most = below_plateau(self.levels, self.response, self.reference, self.confidence)
        return toward_fall(self.levels, fallen, at_most <= ALLOWED)

    def before_fall(self, reach: float) -> int | None:
        """A number that may be better than the smallest, if that is enough for all that was tried."""
        _, at_most = below_plateau(self.levels, self.response, self.reference, self.confidence)
        fallen = fall_of(self.levels, self.reference, self.confidence)
        return before_fall(self.levels, self.reference, fallen, reach) if at_most[0] <= ALLOWED else None

    def _falls_at_once(self, reach: float) -> bool:
        """Whether goodput falls from the smallest level on, as far as the precision matters."""
        least, above = self.levels.values[:2]
        if max(self.reference) > 0 or fall_of(self.levels, self.reference, self.confidence) is None:
            return False
        return above - least == 1 or math.log(above / least) <= reach

    @property
    def _falls_at_most(self) -> bool:
        """Whether goodput is lower again, or looks so, at the largest level that worked."""
        lower = self._lower
        return lower is not None and lower.at[-1][0] == self.levels.values[-1]

    def end(self, precision: float) -> End | None:
        """Why nothing more needs to be tried; None where something does."""
        _, at_most = below_plateau(self.levels, self.response, self.reference, self.confidence)
        low, high = self.response.low, self.response.high
        reach = math.log1p(precision)
        if at_most[0] <= ALLOWED or self._falls_at_once(reach):
            return "level" if self.before_fall(reach) is None else None
        near_most = low is not None and low >= math.log(self.high) - reach
        if near_most and high is None and not self._falls_at_most:
            return "rising"
        if (only := self.only_whole) is not None:
            return "precise" if only <= set(self.levels.values) else None
        return "precise" if self._close(reach) and self._hidden_peak is None else None

    def _close(self, reach: float) -> bool:
        """Whether both ends of the interval are as near as is wanted."""
        ends = (self.response.low, self.response.high)
        return all(end is not None and abs(end - self.response.enough) <= reach for end in ends)

    def hidden_peak(self, reach: float) -> int | None:
        """A level at which goodput may be higher than at all others, where else the search would end."""
        last = max(one.round for one in self.counted)
        return self._hidden_peak if last >= FEWEST_FOR_INTERVAL and self._close(reach) else None

    @property
    def _hidden_peak(self) -> int | None:
        lower = self._lower
        if lower is None or not lower.sure or lower.again is not None or lower.at[-1][0] < lower.highest[0]:
            return None
        plateau = float(self.levels.means[list(self.reference)].mean())
        return hidden_peak(self.levels, self.response.enough, plateau)


def _misfits(levels: Levels, response: Response) -> bool:
    """Whether goodput follows no such response: there may be a second plateau below."""
    if math.isnan(response.variance) or levels.freedom < _ENOUGH_FREEDOM:
        return False
    noise = max(levels.variance, _LEAST_MISFIT**2)
    return response.variance > _MISFIT * noise


def _between_windows(levels: Levels, response: Response) -> Response:
    """Go by neighbouring windows alone: where goodput, interpolated, is a margin below its highest."""
    below_top = levels.means.max() - levels.means
    first = int((below_top <= ALLOWED).argmax())
    sizes = np.log(levels.values)
    last = max(first - 1, 0)
    enough = float(np.interp(-ALLOWED, -below_top[[last, first]], sizes[[last, first]]))
    return replace(response, enough=enough, sharpness=_CORNER, low=None, high=None)


def _counting(levels: Levels) -> set[int]:
    """Windows whose goodput says where the plateau begins: not those far below it, or that fall off again."""
    noise = _FIRST_NOISE if math.isnan(levels.variance) else math.sqrt(levels.variance)
    fallen = max(2 * ALLOWED, 4 * noise)
    below_top = levels.means.max() - levels.means
    first = int((below_top <= _SURELY_BELOW).argmax())
    on_it = int((below_top <= min(fallen, _SURELY_BELOW)).argmax())
    least = levels.values[first] / math.exp(_FAR_BELOW) * 0.9
    return {
        window
        for number, window in enumerate(levels.values)
        if window >= least and (number <= on_it or below_top[number] <= fallen)
    }


def _reference(levels: Levels, response: Response) -> tuple[int, ...]:
    """Numbers of windows that are on the plateau: well beyond the estimate, and not surely fallen off."""
    below_top = levels.means.max() - levels.means
    noise = 0.0 if math.isnan(levels.variance) else math.sqrt(levels.variance)
    fallen = np.maximum(ALLOWED, 3 * noise / np.sqrt(levels.counts))
    beyond = tuple(
        number
        for number, window in enumerate(levels.values)
        if math.log(window) > response.enough + _REFERENCE and below_top[number] <= fallen[number]
    )
    return beyond or (int(levels.means.argmax()),)


def _next(seen: Seen, precision: float, bounds: tuple[int, int], *, clip: bool) -> tuple[int, ...]:
    """Choose the windows of a round, within bounds; `clip`: the least, which worked, for smaller ones."""
    levels, response = seen.levels, seen.response
    reach = math.log1p(precision)
    at = min(max(response.enough, math.log(bounds[0])), math.log(bounds[1]))
    usual = max(seen.reference, key=lambda number: (levels.counts[number], levels.means[number]))
    of_reference = levels.values[usual]
    low, high = response.low, response.high
    between = seen.before_fall(reach)
    if between is None and seen.only_whole is not None:
        about = sorted(seen.only_whole)
    elif (between := between or seen.toward_fall or seen.hidden_peak(reach)) is not None:
        about = [below_best(levels, near(levels, _about(at, reach)[0], reach), bounds[0]), between]
    elif low is None or high is None or high - low > _WIDE * reach:
        about = [near(levels, window, reach) for window in _about(at, reach)]
    else:
        about = most_telling(
            seen.counted, replace(response, enough=at), of_reference, count=2, reach=reach, bounds=bounds
        )
    if clip:
        about = [max(one, bounds[0]) for one in about]
    chosen = {one for one in (*about, of_reference) if bounds[0] <= one <= bounds[1]}
    if len(chosen) == 1:  # which tells nothing in a round by itself
        others = [number for number, level in enumerate(levels.values) if level not in chosen]
        chosen.add(levels.values[max(others, key=lambda number: (number in seen.reference, number))])
    return tuple(sorted(chosen))


def _about(at: float, reach: float) -> tuple[float, float]:
    """What is nearly as far from the estimate, a logarithm, as is wanted; its whole neighbours at least."""
    above = whole_from(math.exp(at))
    return max(1, min(math.exp(at - 0.9 * reach), above - 1)), max(math.exp(at + 0.9 * reach), above)
