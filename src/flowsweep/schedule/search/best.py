"""The search for the best of several settings: which are tried next, and when it ends."""

import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from flowsweep.defaults import (
    BEST_ROUND_MAX,
    BEST_TRIES_MIN,
    FEWEST_FOR_INTERVAL,
)
from flowsweep.moderated_variances import moderated
from flowsweep.plan.searching.model import Beside, BestSearch, Left
from flowsweep.scatter import LEAST_SPREAD
from flowsweep.schedule.search.levels import (
    Blocks,
    Floats,
    Levels,
    at_each_look,
    in_agreement,
    levels_of,
)
from flowsweep.schedule.search.tried import NOTHING_BESIDE, Tried, left_of, most_bytes

BestEnd = Literal["precise", "budget", "failures"]
"""precise: no other setting can be better by more than was asked. budget: no trial is left. failures: fewer
than two settings can be compared."""


@dataclass(frozen=True, slots=True)
class BestBelief:
    """What a search believes."""

    best: int
    """The number of the setting with the highest mean, of those that were tried often enough."""
    goodput_bps: float
    """Of it, a geometric mean."""
    behind: tuple[tuple[int, float, float, float], ...]
    """Of each other setting its number and by how much its goodput is below: natural logarithms, the estimate
    and an interval that holds for all of them together. The nearest come first."""
    open: tuple[int, ...]
    """Those that may be better by more than the precision."""
    trials: int = 0
    """Of the best."""
    odd: int = 0
    """Of these, those left out, since the others contradict them."""
    odd_of_all: int = 0
    """Trials of all settings that were left out."""

    @property
    def enough(self) -> bool:
        """Whether the best was tried often enough to be said to be it.

        One odd trial of four may be a stall of the host, or a bad state of the setting, which it has again
        and again; one of eight is no longer likely to be that.
        """
        return self.trials >= max(FEWEST_FOR_INTERVAL, _TRIALS_FOR_ODD_ONE * self.odd)

    @property
    def better_at_most(self) -> float | None:
        """By which share another setting may have more goodput; None where nothing is known of the noise."""
        least = min((low for _, _, low, _ in self.behind), default=0.0)
        return None if math.isinf(least) else math.expm1(max(0.0, -least))


@dataclass(frozen=True, slots=True)
class BestDecision:
    """What a search does after a round."""

    settings: tuple[int, ...]
    """Numbers of those to be tried in the next round; none at its end."""
    end: BestEnd | None
    belief: BestBelief | None
    """None before the first round, and where fewer than two settings can be compared."""
    left: Left
    """Of its budget, before these trials."""


def best_of(
    tried: Sequence[Tried], failed: Sequence[int] = (), *, precision: float, confidence: float
) -> tuple[BestBelief | None, BestEnd]:
    """Say what the trials of a search that is over show, and why it ended.

    Args:
        tried: Those that were whole.
        failed: Numbers of the settings of those that were not.
        precision: That was asked for.
        confidence: Likewise.

    Returns:
        A setting that was given up is none that is compared.
    """
    compared = _compared(tried, _given_up(failed))
    if len({one.level for one in compared}) < _FEWEST_SETTINGS:
        return None, "failures"
    found = _believed(compared, precision, confidence)
    return found, "budget" if found.open or not found.enough else "precise"


@lru_cache(maxsize=256)
def decide_best(
    search: BestSearch,
    trial_ns: int,
    settings: int,
    tried: tuple[Tried, ...],
    failed: tuple[int, ...] = (),
    beside: Beside = NOTHING_BESIDE,
) -> BestDecision:
    """Decide what comes after some rounds.

    Args:
        search: What is wanted.
        trial_ns: How long a trial sends, at most.
        settings: How many there are; their numbers begin at 0.
        tried: All trials so far that were whole.
        failed: Numbers of the settings of those that were not.
        beside: What each takes beside.

    Returns:
        All settings in each of the first two rounds; then, in each round,
        the best one so far as reference, to which drift does not matter, and the others that may be better
        by more than the precision: those that may be most. So each round is a block. A setting of which two
        trials failed is out, whatever its others gave.
    """
    trials = len(tried) + len(failed)
    left = left_of(search, trial_ns, tried, failed, beside)
    trial_bytes = most_bytes(tried, trial_ns, beside)
    given_up = _given_up(failed)
    taking_part = [setting for setting in range(settings) if setting not in given_up]
    tries = Counter([*(one.level for one in tried), *failed])
    due = tuple(setting for setting in taking_part if tries[setting] < BEST_TRIES_MIN)
    if due:
        if trials and (left.bytes == 0 or not left.holds(len(due), trial_bytes)):
            belief, _ = best_of(tried, failed, precision=search.precision, confidence=search.confidence)
            return BestDecision((), "budget", belief, left)
        return BestDecision(due, None, None, left)
    compared = _compared(tried, given_up)
    if len({one.level for one in compared}) < _FEWEST_SETTINGS:
        return BestDecision((), "failures", None, left)
    belief = _believed(compared, search.precision, search.confidence)
    if not belief.open and belief.enough:
        return BestDecision((), "precise", belief, left)
    next_ones = _next(belief)
    if left.bytes == 0 or not left.holds(len(next_ones), trial_bytes):
        return BestDecision((), "budget", belief, left)
    return BestDecision(next_ones, None, belief, left)


_FEWEST_SETTINGS = 2
_TRIALS_FOR_ODD_ONE = 8
"""Of the best, for each that is left out."""


def _given_up(failed: Sequence[int]) -> set[int]:
    """Numbers of the settings that failed too often."""
    return {setting for setting, times in Counter(failed).items() if times >= BEST_TRIES_MIN}


def _compared(tried: Sequence[Tried], given_up: Collection[int]) -> tuple[Tried, ...]:
    """The trials of the others."""
    return tuple(one for one in tried if one.level not in given_up)


def _believed(tried: Sequence[Tried], precision: float, confidence: float) -> BestBelief:
    """Compare all settings with the one that has the highest mean."""
    # Settings scatter unlike each other.
    kept = in_agreement(tried, fewest=_FEWEST_WITH_ODD_ONE, own=True)
    levels = levels_of(kept)
    often = levels.counts >= min(BEST_TRIES_MIN, levels.counts.max())
    best = int(np.where(often, levels.means, -math.inf).argmax())
    below: Floats = levels.means[best] - levels.means
    low, high = _ends(kept, levels, best, at_each_look(confidence))
    others = sorted((number for number in range(len(below)) if number != best), key=lambda one: below[one])
    behind = tuple(
        (levels.values[one], float(below[one]), float(low[one]), float(high[one])) for one in others
    )
    open_ = tuple(setting for setting, _, least, _ in behind if least < -math.log1p(precision))
    setting = levels.values[best]
    trials = sum(one.level == setting for one in tried)
    return BestBelief(
        setting,
        math.exp(float(levels.means[best])),
        behind,
        open_,
        trials=trials,
        odd=trials - round(float(levels.counts[best])),
        odd_of_all=len(tried) - len(kept),
    )


def _ends(tried: Sequence[Tried], levels: Levels, best: int, confidence: float) -> tuple[Floats, Floats]:
    """How far each setting is below the best, at least and at most: natural logarithms.

    Bonferroni's correction makes all of them hold together. Settings scatter unlike each other: each has its
    own noise, and degrees of freedom as of Welch's test, at most those of all trials: of two settings in
    rounds of two trials, what is left over of one is what is left over of the other.

    Of two trials of which one stalled the mean says that a setting is bad: with fewer than four its highest
    trial alone has to be as far below, at least. With more the odd one is left out.
    """
    below: Floats = levels.means[best] - levels.means
    if levels.freedom < 1:
        return np.full(len(below), -math.inf), np.full(len(below), math.inf)
    column = np.searchsorted(levels.values, [one.level for one in tried])
    off = _residuals(tried, levels, column)
    variance, own_freedom = _noise(levels, np.bincount(column, off**2, len(below)).astype(float))
    parts = variance / levels.counts
    together = parts + parts[best]
    freedom = np.minimum(own_freedom * together**2 / (parts**2 + parts[best] ** 2), levels.freedom)
    covariance = levels.covariance
    spread = np.diag(covariance) + covariance[best, best] - 2 * covariance[best]
    plain = 1 / levels.counts + 1 / levels.counts[best]
    confidence = 1 - (1 - confidence) / max(1, len(below) - 1)
    half = stdtrit(freedom, confidence) * np.sqrt(together * np.maximum(spread, 0) / plain)
    highest = np.full(len(below), -math.inf)
    np.maximum.at(highest, column, off)
    of_one = stdtrit(freedom, confidence) * np.sqrt(variance + parts[best])
    low = np.where(levels.counts < _FEWEST_WITH_ODD_ONE, np.minimum(-half, -highest - of_one), -half)
    return below + low, below + half


def _noise(levels: Levels, squares: Floats) -> tuple[Floats, float]:
    """(settings,) the variance of one trial of each, and its degrees of freedom.

    A handful of trials tells little of a setting's own noise: it is drawn towards that of all, as far as
    these are alike. Of a setting with a single trial it is that of the worst. `squares` are sums of what is
    left over of each.
    """
    repeats = levels.counts - 1
    freedom = repeats * levels.freedom / repeats.sum()
    known = freedom > 0
    found = moderated(np.maximum(squares[known] / freedom[known], LEAST_SPREAD**2), freedom[known])
    variance = np.full(len(squares), float(found.variances.max()))
    variance[known] = found.variances
    return variance, found.freedom


_FEWEST_WITH_ODD_ONE = 4
"""Trials of a setting that show which of them is the odd one, however much they scatter."""


def _residuals(tried: Sequence[Tried], levels: Levels, column: NDArray[np.intp]) -> Floats:
    """(trials,) what means of settings and effects of rounds leave over."""
    rounds = Blocks.of([one.round for one in tried])
    over = np.array([one.log_goodput for one in tried]) - levels.means[column]
    return np.asarray(over - rounds.means(over)[rounds.number])


def _next(belief: BestBelief) -> tuple[int, ...]:
    """The best one, and those that may be better by most; at least one."""
    might = sorted(belief.behind, key=lambda one: one[2])
    open_ = [setting for setting, *_ in might if setting in belief.open]
    nearest = [setting for setting, *_ in belief.behind]
    return tuple(sorted({belief.best, *(open_ or nearest[:1])[: BEST_ROUND_MAX - 1]}))
