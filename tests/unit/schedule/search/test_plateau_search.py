"""Searches for the plateau in virtual time: what they find, what does not fool them, and that they end."""

import math
from itertools import pairwise

import numpy as np
import pytest

from flowsweep import defaults
from flowsweep.defaults import SECOND_NS, TRIAL_OVERHEAD_NS
from flowsweep.schedule.search.belief import Belief, whole_from
from flowsweep.schedule.search.levels import levels_of
from flowsweep.schedule.search.plateau import belief_of, decide
from flowsweep.schedule.search.tried import Tried
from long_tests import long_after, long_but_for
from searched_responses import (
    CASES,
    HIGH_BYTES,
    LOW_BYTES,
    Case,
    Noise,
    Searched,
    asked,
    asked_flows,
    correlated,
    drifting,
    false_plateau,
    heavy_tailed,
    holds,
    independent,
    searched,
    smooth,
)

GRID = 90
"""Trials of ten windows, three numbers of flows and three repeats."""
SEARCHES = 24

KINDS_OF_NOISE = {
    "independent": independent(0.01),
    "heavy-tailed": heavy_tailed(0.01),
    "alike in neighbours": correlated(0.01, 0.7),
    "drifting": drifting(0.01, -0.2),
}


@pytest.mark.parametrize("noise", KINDS_OF_NOISE.values(), ids=KINDS_OF_NOISE)
@pytest.mark.parametrize("kind", long_but_for("corner", of=["corner", "soft"]))
def test_the_smallest_window_that_is_enough_is_found_in_a_fraction_of_a_grid(kind: str, noise: Noise) -> None:
    generator = np.random.default_rng(19)
    cases = [CASES[kind](generator) for _ in range(SEARCHES)]
    found = [searched(case, noise, generator, asked()) for case in cases]
    assert all(one.end == "precise" for one in found)
    assert np.median([one.trials for one in found]) <= 0.15 * GRID
    assert max(one.trials for one in found) <= 0.35 * GRID
    errors = [
        abs(one.belief.enough / case.enough_bytes - 1)
        for one, case in zip(found, cases, strict=True)
        if one.belief is not None and case.enough_bytes is not None
    ]
    assert len(errors) == SEARCHES
    assert max(errors) <= 0.15
    assert sum(bool(holds(one, case)) for one, case in zip(found, cases, strict=True)) >= SEARCHES - 2


@pytest.mark.parametrize(
    "kind", long_after(2, of=["shoulder", "declining", "falls off", "dip", "two levels"])
)
def test_what_goes_on_beyond_does_not_move_where_the_plateau_begins(kind: str) -> None:
    generator = np.random.default_rng(23)
    cases = [CASES[kind](generator) for _ in range(SEARCHES)]
    found = [searched(case, independent(0.005), generator, asked()) for case in cases]
    assert sum(false_plateau(one, case) for one, case in zip(found, cases, strict=True)) <= 2


def test_windows_beyond_which_goodput_falls_off_are_not_taken_for_where_its_plateau_begins() -> None:
    """Of the first round one window may be on the plateau, and all larger ones may be past the fall."""
    generator = np.random.default_rng(4)
    for _ in range(SEARCHES):
        case = CASES["falls off"](generator)
        found = searched(case, independent(0.003), generator, asked())
        assert found.end == "precise", case
        assert found.belief is not None
        assert found.belief.enough == pytest.approx(case.enough_bytes, rel=0.1)


def test_an_interval_without_ends_holds_nothing() -> None:
    case = Case(float, 1e6)
    ends = ((None, None, False), (9e5, None, True), (None, 9e5, False), (9e5, 1.1e6, True))
    for low, high, expected in ends:
        assert holds(Searched(9, "budget", Belief(1e6, low, high, 1e9)), case) == expected, (low, high)
    assert holds(Searched(9, "failures", None), case) is None


def test_windows_that_contradict_the_response_decide_alone() -> None:
    """With much noise a response through two plateaus fits, and may place its end where nothing was tried."""
    held = []
    for seed in range(16):
        generator = np.random.default_rng(seed)
        case = CASES["two levels"](generator)
        found = searched(case, independent(0.03), generator, asked(trials=45))
        assert not false_plateau(found, case), seed
        held.append(bool(holds(found, case)))
    assert sum(held) >= 15


def test_a_dip_is_lower_than_a_smaller_window_and_a_low_plateau_is_not() -> None:
    logs = {100: 1.0, 200: 2.0, 400: 1.98, 800: 1.5, 1600: 2.0}
    shaken = {1: 0.01, 2: -0.01, 3: 0.0}
    tried = [
        Tried(level, round_, log + (-1) ** number * shift)
        for round_, shift in shaken.items()
        for number, (level, log) in enumerate(logs.items())
    ]
    assert levels_of(tried).lower_than_before(0.99).tolist() == [False, False, False, True, False]
    once = [one for one in tried if one.round == 1]
    assert not levels_of(once).lower_than_before(0.99).any(), "of which nothing is known of the noise"


def test_where_the_smallest_window_is_enough_the_range_has_no_beginning_of_a_plateau() -> None:
    generator = np.random.default_rng(5)
    case = CASES["flat"](generator)
    assert {searched(case, independent(0.003), generator, asked()).end for _ in range(8)} == {"level"}


def test_where_goodput_rises_up_to_the_largest_window_no_plateau_is_claimed() -> None:
    generator = np.random.default_rng(5)
    case = CASES["rising"](generator)
    assert {searched(case, independent(0.003), generator, asked()).end for _ in range(8)} == {"rising"}


def test_a_search_that_knows_too_little_ends_with_its_budget_and_an_interval_that_holds_the_truth() -> None:
    generator = np.random.default_rng(8)
    cases = [CASES["shoulder"](generator) for _ in range(8)]
    found = [searched(case, independent(0.05), generator, asked(trials=30)) for case in cases]
    assert all(one.end == "budget" and one.trials <= 30 for one in found)
    assert sum(bool(holds(one, case)) for one, case in zip(found, cases, strict=True)) >= 7


def test_windows_that_fail_are_not_tried_again_and_those_below_are() -> None:
    generator = np.random.default_rng(3)
    case = CASES["corner"](generator)
    found = searched(case, independent(0.003), generator, asked(), lambda window: window > 32 << 20)
    assert found.end == "precise"
    assert holds(found, case)
    odd = searched(case, independent(0.003), generator, asked(), lambda window: window == LOW_BYTES)
    assert odd.end == "precise"
    assert holds(odd, case)
    nothing = searched(case, independent(0.003), generator, asked(), lambda window: window > 100 << 10)
    assert nothing.end == "failures"


@pytest.mark.parametrize("granted_bytes", [4 << 20, 5 << 20, 20 << 20])
def test_where_goodput_rises_up_to_what_hosts_grant_a_search_ends_there(granted_bytes: int) -> None:
    generator = np.random.default_rng(5)
    case = CASES["rising"](generator)
    for _ in range(8):
        found = searched(case, independent(0.003), generator, asked(), lambda window: window > granted_bytes)
        assert found.end == "rising"
        assert found.trials <= 18


def test_refused_windows_are_not_tried_in_another_size_and_do_not_end_a_search() -> None:
    """Four of the first round: all that is larger than what worked."""
    search = asked().model_copy(update={"low_bytes": 1 << 10})
    first = decide(search, SECOND_NS, ()).levels
    tried = tuple(Tried(level, 1, math.log(level)) for level in first[:-4])
    decided = decide(search, SECOND_NS, tried, first[-4:])
    assert decided.end is None
    assert max(decided.levels) <= first[-5] == decided.bounds[1]
    below = decide(search, SECOND_NS, tried, (first[1],) * 3)
    assert below.end == "failures"


def test_smallest_windows_that_fail_are_not_tried_again_and_do_not_end_a_search() -> None:
    search = asked().model_copy(update={"low_bytes": 4 << 10})
    first = decide(search, SECOND_NS, ()).levels
    tried = tuple(Tried(level, 1, math.log(min(level, 1 << 20))) for level in first[3:])
    decided = decide(search, SECOND_NS, tried, first[:3])
    assert (decided.end, decided.bounds) == (None, (first[3], HIGH_BYTES))
    assert min(decided.levels) > first[2]
    assert decide(search, SECOND_NS, (), first[:3]).end == "failures"


@pytest.mark.parametrize("smallest_bytes", [100 << 10, 300 << 10, 3 << 20])
def test_a_search_comes_to_its_end_though_all_windows_below_one_fail(smallest_bytes: int) -> None:
    generator = np.random.default_rng(11)
    search = asked().model_copy(update={"low_bytes": 4 << 10})
    for _ in range(4):
        case = CASES["corner"](generator)
        found = searched(case, independent(0.003), generator, search, lambda window: window < smallest_bytes)
        assert found.end in ("precise", "level")


@pytest.mark.parametrize(("spread", "ended"), [(0.01, 8), (0.03, 6)])
@pytest.mark.parametrize(("low_bytes", "of_first"), [(4 << 10, 3), (64 << 10, 1)])
def test_a_few_windows_below_those_that_work_are_tried_and_no_more(
    low_bytes: int, of_first: int, spread: float, ended: int
) -> None:
    """Goodput is level from the least on that works: what would tell most is below, and fails."""
    failed: list[float] = []

    def fails(window: float) -> bool:
        if window < 200 << 10:
            failed.append(window)
        return window < 200 << 10

    search = asked().model_copy(update={"low_bytes": low_bytes})
    first = decide(search, SECOND_NS, ()).levels
    assert sum(window < 200 << 10 for window in first) == of_first
    ends = []
    for seed in range(8):
        failed.clear()
        generator = np.random.default_rng(seed)
        found = searched(smooth(100.0, math.log(150e3)), independent(spread), generator, search, fails)
        ends.append(found.end)
        assert len(failed) <= 3
    assert ends.count("level") >= ended


def test_a_smallest_window_that_failed_is_not_tried_again() -> None:
    tried = tuple(Tried(level << 18, 1, math.log(1e9)) for level in (1, 4, 16, 64, 256))
    decided = decide(asked(), SECOND_NS, tried, (LOW_BYTES,))
    assert decided.end is None
    assert min(decided.levels) > LOW_BYTES
    assert decided.bounds == (1 << 18, HIGH_BYTES)


def test_what_was_tried_says_the_same_once_failures_ended_a_search() -> None:
    generator = np.random.default_rng(3)
    tried = tuple(
        Tried(window, round_, math.log(1e9) + generator.normal(0, 0.1) + min(0.0, math.log(window / 1e6)))
        for round_ in (1, 2, 3)
        for window in (64 << 10, 1 << 20, 4 << 20, 64 << 20)
    )
    asked_for = {"precision": 0.1, "confidence": 0.95}
    for failed, end in ((), "budget"), ((1 << 20,) * 3, "failures"), ((128 << 20,) * 3, "budget"):
        assert belief_of(tried, failed, LOW_BYTES, HIGH_BYTES, **asked_for)[1] == end


@pytest.mark.parametrize(("rounds", "ends"), [(2, {"budget"}), (3, {"precise", "budget"})])
def test_a_search_that_was_broken_off_after_two_rounds_did_not_end_as_precise(
    rounds: int, ends: set[str]
) -> None:
    seen = set()
    for seed in range(12):
        generator = np.random.default_rng(seed)
        tried: list[Tried] = []
        for round_ in range(1, rounds + 1):
            for window in decide(asked(), SECOND_NS, tuple(tried)).levels:
                log = min(0.0, math.log(window / 1e6)) + generator.normal(0, 0.003)
                tried.append(Tried(window, round_, math.log(1e9) + log))
        seen.add(belief_of(tried, (), LOW_BYTES, HIGH_BYTES, precision=0.1, confidence=0.95)[1])
    assert seen <= ends
    assert "precise" in seen or rounds < 3


@pytest.mark.parametrize(
    ("low", "high"), [(LOW_BYTES, HIGH_BYTES), (1, 16), (1000, 20_000), (1 << 20, 1 << 40)]
)
def test_the_first_round_spans_the_range(low: int, high: int) -> None:
    search = asked().model_copy(update={"low_bytes": low, "high_bytes": high})
    windows = decide(search, SECOND_NS, ()).levels
    assert (windows[0], windows[-1]) == (low, high)
    assert all(below < above for below, above in pairwise(windows))


@pytest.mark.parametrize("noise", KINDS_OF_NOISE.values(), ids=KINDS_OF_NOISE)
def test_the_fewest_flows_that_are_enough_are_found(noise: Noise) -> None:
    generator = np.random.default_rng(29)
    wrong = 0
    for _ in range(SEARCHES):
        # Between two numbers of flows: at one of them the plateau's beginning cannot be told in noise.
        fewest = int(generator.integers(2, 12))
        case = smooth(60.0, math.log(fewest - generator.uniform(0.3, 0.7)))
        found = searched(case, noise, generator, asked_flows())
        assert found.belief is not None
        assert found.end == "precise"
        fewest, low, high = found.belief.in_whole
        assert low is not None
        assert high is not None
        assert found.trials <= 0.35 * GRID
        assert low <= fewest <= high <= math.ceil(1.1 * fewest)
        truth = whole_from(case.enough_bytes or 0)
        wrong += not low <= truth <= high
    assert wrong <= 2


def test_one_flow_may_be_enough_and_the_most_may_not() -> None:
    generator = np.random.default_rng(31)
    quiet = independent(0.003)
    enough, rising = (smooth(60.0, math.log(corner)) for corner in (0.5, 40.0))
    assert {searched(enough, quiet, generator, asked_flows()).end for _ in range(8)} == {"level"}
    assert {searched(rising, quiet, generator, asked_flows()).end for _ in range(8)} == {"rising"}


@pytest.mark.parametrize("most", [4, 5, 7, 16, 1000])
def test_searches_for_flows_end_over_any_range(most: int) -> None:
    generator = np.random.default_rng(37)
    for corner in np.geomspace(0.4, 2.0 * most, 12):
        found = searched(smooth(60.0, math.log(corner)), independent(0.01), generator, asked_flows(most))
        assert found.end in ("precise", "level", "rising", "budget")
        assert found.trials <= 60


@pytest.mark.long
def test_who_wants_to_be_surer_takes_more_trials() -> None:
    medians = []
    for confidence in (0.8, 0.95, 0.99):
        generator = np.random.default_rng(41)
        search = asked(trials=200).model_copy(update={"confidence": confidence})
        cases = [CASES["soft"](generator) for _ in range(12)]
        found = [searched(case, independent(0.02), generator, search) for case in cases]
        medians.append(np.median([one.trials for one in found]))
    assert medians[0] < medians[1] < medians[2]


def test_a_usual_confidence_is_not_written_so_that_trials_keep_their_names() -> None:
    assert "confidence" not in asked().model_dump()
    assert asked().model_copy(update={"confidence": 0.9}).model_dump()["confidence"] == 0.9


def test_budgets_of_time_and_bytes_end_a_search() -> None:
    generator = np.random.default_rng(3)
    tried = tuple(
        Tried(window, round_, math.log(1e9) + generator.normal(0, 0.1) + min(0.0, math.log(window / 1e6)))
        for round_ in (1, 2, 3)
        for window in (64 << 10, 1 << 20, 4 << 20, 64 << 20)
    )
    assert decide(asked(), SECOND_NS, tried).end is None
    few = asked().model_copy(update={"duration_max_ns": 13 * (SECOND_NS + TRIAL_OVERHEAD_NS)})
    assert decide(few, SECOND_NS, tried).end == "budget"
    little = asked().model_copy(update={"bytes_max": 500_000_000})
    assert decide(little, SECOND_NS, tried).end == "budget"
    assert asked().trials_within(SECOND_NS) == defaults.SEARCH_TRIALS


def test_no_round_begins_that_may_send_more_than_is_left() -> None:
    """A trial of a second on the plateau sends 125 MB: the first round is 6 of them and less."""
    generator = np.random.default_rng(3)
    case = smooth(60.0, math.log(1e6))
    first = decide(asked(), SECOND_NS, ()).levels
    sent = sum(math.exp(case.response(math.log(window))) for window in first) / 8
    for bytes_max in (10**6, round(sent) + 3 * 120_000_000, round(sent) + 3 * 130_000_000):
        search = asked().model_copy(update={"bytes_max": bytes_max})
        found = searched(case, independent(0.001), generator, search)
        assert found.end == "budget"
        assert found.trials == len(first) + (3 if bytes_max == round(sent) + 3 * 130_000_000 else 0)


def test_what_is_left_of_a_budget_is_said() -> None:
    search = asked(trials=30).model_copy(update={"duration_max_ns": 60 * SECOND_NS, "bytes_max": 10**9})
    tried = tuple(Tried(window << 16, 1, math.log(1e9)) for window in (1, 4, 16, 64))
    left = decide(search, SECOND_NS, tried, failed=(256 << 16,)).left
    trial_ns = SECOND_NS + TRIAL_OVERHEAD_NS
    assert left == (30 - 5, 60 * SECOND_NS - 5 * trial_ns, 10**9 - 4 * 125_000_000)
    assert decide(asked(trials=30), SECOND_NS, tried).left == (26, None, None)


def test_what_trials_that_end_early_leave_of_a_budget_is_for_others() -> None:
    search = asked(trials=30).model_copy(update={"duration_max_ns": 20 * SECOND_NS, "bytes_max": 10**10})
    trial_ns = 4 * SECOND_NS
    whole = tuple(Tried(window << 16, 1, math.log(1e9)) for window in (1, 4, 16, 64))
    early = tuple(one._replace(lasted_ns=SECOND_NS) for one in whole)
    each_ns = trial_ns + TRIAL_OVERHEAD_NS
    left = decide(search, trial_ns, whole).left
    assert left == (0, 20 * SECOND_NS - 4 * each_ns, 10**10 - 4 * 500_000_000)
    left_ns = 16 * SECOND_NS - 4 * TRIAL_OVERHEAD_NS
    assert decide(search, trial_ns, early).left == (left_ns // each_ns, left_ns, 10**10 - 4 * 125_000_000)


@pytest.mark.parametrize("seed", [3, 7, 9])
def test_a_slow_rise_that_shows_is_no_plateau(seed: int) -> None:
    """2 % more for each factor e: "within 3 %" of the highest is 14 times beyond the corner of 1 MB."""
    corner = math.log(1e6)

    def response(size: float) -> float:
        return math.log(1e9) + min(size - corner, 0.0) + 0.02 * max(0.0, size - corner)

    found = searched(Case(response, None), independent(0.02), np.random.default_rng(seed), asked())
    assert found.end != "precise"
    assert found.belief is not None
    assert found.belief.high is None


def test_a_rise_beyond_a_level_is_told_only_where_it_is_sure() -> None:
    def rise(slope: float, spread: float) -> float:
        generator = np.random.default_rng(7)
        tried = [
            Tried(2**power, round_, slope * power * math.log(2) + float(generator.normal(0, spread)))
            for round_ in range(3)
            for power in (20, 22, 24, 26)
        ]
        return levels_of(tried).rise_beyond(math.log(2**20) - 0.1, 0.975)

    assert rise(0.02, 0.001) == pytest.approx(0.02 * (6 * math.log(2) + 0.1), rel=0.1)
    assert rise(0.0, 0.01) == 0.0
    assert rise(0.002, 0.03) == 0.0
