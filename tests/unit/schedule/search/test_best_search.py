"""Searches for the best setting in virtual time: what they find, what does not fool them, and their ends."""

import math
from collections import Counter

import numpy as np
import pytest
from scipy.special import stdtrit
from scipy.stats import binom

from flowsweep.defaults import SECOND_NS
from flowsweep.plan.searching.model import BestSearch
from flowsweep.schedule.search.best import best_of, decide_best
from flowsweep.schedule.search.levels import in_agreement
from flowsweep.schedule.search.tried import Tried
from long_tests import long_after
from searched_responses import Noise, independent
from searched_settings import BAD_STATE, LEVELS, NOISE, PRECISION, UNLIKE, asked, searched, shortfall

ASKED = {"precision": PRECISION, "confidence": 0.95}

SEARCHES = 36
# Some searches hang on the last digits of a processor's arithmetic: another one draws another sample of them.
_MAY = {UNLIKE: (0.05, 0.03), NOISE["1 %, one of 20 stalls"]: (0.01, 0.03), BAD_STATE: (0.05, 1.0)}
"""Shares of searches that may be wrong, and undecided, where settings scatter unlike each other, trials stall
or settings have two states; elsewhere none."""
_CHANCE = 0.999
"""That no more of all searches are than the test allows, where these are their shares."""
_TRIALS_OF_A_SETTING = {UNLIKE: 10, BAD_STATE: 40}
"""The median, at most."""


@pytest.mark.parametrize("noise", NOISE.values(), ids=NOISE)
@pytest.mark.parametrize("kind", long_after(2, of=LEVELS))
def test_no_other_setting_is_better_by_more_than_was_asked(kind: str, noise: Noise) -> None:
    generator = np.random.default_rng(190)
    shares = []
    wrong = undecided = 0
    for _ in range(SEARCHES):
        levels = LEVELS[kind](generator, int(generator.integers(2, 13)))
        found = searched(levels, noise, generator, asked())
        belief = found.decided.belief
        assert belief is not None
        shares.append(len(found.tried) / len(levels))
        if found.decided.end == "budget":
            undecided += 1
            continue
        assert found.decided.end == "precise"
        assert belief.better_at_most is not None
        assert belief.better_at_most <= PRECISION
        wrong += shortfall(found, levels) > math.log1p(PRECISION)
    wrong_most, undecided_most = binom.ppf(_CHANCE, SEARCHES, _MAY.get(noise, (0.0, 0.0)))
    assert wrong <= wrong_most
    assert undecided <= undecided_most
    assert np.median(shares) <= _TRIALS_OF_A_SETTING.get(noise, 6)


def test_every_setting_is_tried_twice_and_the_best_three_times_then_only_what_may_be_better() -> None:
    levels = np.array([0.0, -0.02, -0.5, -0.6, -0.7, -0.8, -0.9, -1.0])
    found = searched(levels, independent(0.005), np.random.default_rng(1), asked())
    tries = Counter(one.level for one in found.tried)
    assert min(tries.values()) == 2
    assert found.decided.belief is not None
    assert tries[found.decided.belief.best] >= 3
    assert all(tries[setting] == 2 for setting in range(2, 8))


def test_a_best_setting_that_stalled_once_is_not_given_up() -> None:
    levels = [math.log(1e9) - 0.3 * setting for setting in range(4)]
    firsts = [Tried(setting, 1, log) for setting, log in enumerate(levels)]
    seconds = [Tried(setting, 2, log + 0.001) for setting, log in enumerate(levels)]
    stalled = (Tried(0, 1, levels[0] - 2), *firsts[1:], *seconds)
    decided = decide_best(asked(), SECOND_NS, 4, stalled)
    assert 0 in decided.settings
    assert decided.end is None


GOOD, BAD = math.log(1.29), math.log(0.51)


@pytest.mark.parametrize(
    ("logs", "kept"),
    [
        ([GOOD, GOOD + 0.01, BAD, BAD, GOOD], 5),
        ([GOOD, GOOD + 0.01, BAD, GOOD], 3),
        ([GOOD, GOOD + 0.01, BAD, GOOD, BAD, GOOD, GOOD, GOOD], 6),
        ([GOOD, GOOD + 0.01, *[GOOD, BAD, GOOD, GOOD, GOOD] * 3], 17),
        ([BAD, BAD + 0.01, GOOD, BAD], 4),
        ([BAD, BAD + 0.01, GOOD, BAD, BAD, BAD, BAD, BAD], 8),
    ],
)
def test_a_state_that_comes_again_is_not_left_out(logs: list[float], kept: int) -> None:
    tried = [Tried(0, at, log) for at, log in enumerate(logs, start=1)]
    assert len(in_agreement(tried, fewest=4, own=True)) == kept


def test_a_setting_that_once_did_better_than_the_best_stays() -> None:
    """Its other three trials were in a bad state that it may leave again."""
    tried = tuple(
        Tried(setting, round_, 20 + log + 0.01 * (round_ % 2))
        for round_, logs in enumerate(
            [(GOOD - 0.15, BAD), (GOOD - 0.15, GOOD), (GOOD - 0.15, BAD), (GOOD - 0.15, BAD)], start=1
        )
        for setting, log in enumerate(logs)
    )
    decided = decide_best(asked(), SECOND_NS, 2, tried)
    assert (decided.settings, decided.end) == ((0, 1), None)


def test_two_settings_in_two_rounds_have_one_degree_of_freedom() -> None:
    """Their difference is known from two values, 0.14 and 0.10, however many trials that took."""
    tried = (Tried(0, 1, 20.0), Tried(1, 1, 19.86), Tried(0, 2, 20.0), Tried(1, 2, 19.90))
    decided = decide_best(asked(), SECOND_NS, 2, tried)
    assert decided.belief is not None
    ((_, below, low, high),) = decided.belief.behind
    assert (below, high - below) == pytest.approx((0.12, stdtrit(1, 0.98) * 0.02))
    assert low < -math.log1p(PRECISION)
    assert decided.settings == (0, 1)


@pytest.mark.parametrize(("rounds", "end"), [(4, None), (7, None), (8, "precise")])
def test_one_odd_trial_of_the_best_has_to_stay_the_only_one_of_eight(rounds: int, end: str | None) -> None:
    """One of four may be a bad state that it has again and again."""
    odd = {(0, 2): -1.0}
    tried = tuple(
        Tried(setting, round_, 20 - 0.2 * setting + 0.001 * (round_ % 3) + odd.get((setting, round_), 0.0))
        for round_ in range(1, rounds + 1)
        for setting in range(3)
    )
    decided = decide_best(asked(), SECOND_NS, 3, tried)
    assert decided.end == end
    assert decided.belief is not None
    assert (decided.belief.best, decided.belief.odd) == (0, 1)
    assert best_of(tried, **ASKED)[1] == (end or "budget")


def test_a_setting_that_fails_twice_is_out() -> None:
    generator = np.random.default_rng(2)
    found = searched([0.0, -0.4, -0.5], independent(0.01), generator, asked(), failing=0)
    assert found.failed == (0, 0)
    assert found.decided.end == "precise"
    assert found.decided.belief is not None
    assert found.decided.belief.best == 1
    assert {one.level for one in found.tried} == {1, 2}


def test_a_setting_that_fails_twice_is_out_even_if_it_is_the_best() -> None:
    generator = np.random.default_rng(2)
    tried: list[Tried] = []
    failed: list[int] = []
    while (decided := decide_best(asked(), SECOND_NS, 3, tuple(tried), tuple(failed))).settings:
        round_ = 1 + max((one.round for one in tried), default=0)
        for setting in decided.settings:
            if setting == 0 and round_ > 2:
                failed.append(setting)
            else:
                tried.append(Tried(setting, round_, 20 - setting / 20 + generator.normal(0, 0.02)))
    assert failed == [0, 0]
    assert decided.end == "precise"
    assert decided.belief is not None
    assert decided.belief.best == 1
    assert 0 not in {setting for setting, *_ in decided.belief.behind}
    assert best_of(tried, failed, **ASKED) == (decided.belief, "precise")


def test_where_one_setting_works_nothing_is_compared() -> None:
    generator = np.random.default_rng(3)
    found = searched([0.0, -0.4], independent(0.01), generator, asked(), failing=0)
    assert (found.decided.end, found.decided.belief, found.failed) == ("failures", None, (0, 0))


@pytest.mark.parametrize("search", [asked(trials=20), asked(bytes_max=3 * 8 * 125_000_000)])
def test_a_budget_ends_a_search_that_cannot_tell(search: BestSearch) -> None:
    generator = np.random.default_rng(4)
    found = searched(np.zeros(8), independent(0.4), generator, search)
    assert found.decided.end == "budget"
    assert len(found.tried) <= 32  # 3 GB, and the round that goes beyond
    assert found.decided.belief is not None
    assert found.decided.belief.open


@pytest.mark.parametrize(("rounds", "trials"), [(0.5, 8), (1.9, 8), (2.1, 16)])
def test_no_round_begins_that_may_send_more_than_is_left(rounds: float, trials: int) -> None:
    """But for the first, before which nothing is known."""
    most = asked(bytes_max=round(rounds * 8 * 125_000_000))
    found = searched(np.zeros(8), independent(1e-4), np.random.default_rng(4), most)
    assert (found.decided.end, len(found.tried)) == ("budget", trials)


def test_what_was_tried_says_the_same_once_it_is_over() -> None:
    generator = np.random.default_rng(5)
    found = searched([-0.2, 0.0, -0.3], independent(0.02), generator, asked())
    assert best_of(found.tried, **ASKED) == (found.decided.belief, "precise")
    assert best_of(found.tried[:1], **ASKED) == (None, "failures")
    broken_off, end = best_of(found.tried[:4], **ASKED)
    assert end == "budget"
    assert broken_off is not None


@pytest.mark.parametrize("count", [2, 3])
def test_nothing_is_known_of_noise_before_a_setting_was_tried_twice(count: int) -> None:
    tried = [Tried(setting, 1, 20.0 - setting) for setting in range(count)]
    found, end = best_of(tried, **ASKED)
    assert end == "budget"
    assert found is not None
    assert (found.best, found.better_at_most, len(found.open)) == (0, None, count - 1)
