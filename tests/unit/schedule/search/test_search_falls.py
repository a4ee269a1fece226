"""Searches where goodput falls again beyond its highest."""

import math
from functools import partial

import numpy as np
import pytest

from flowsweep.schedule.search.levels import levels_of
from flowsweep.schedule.search.peaks import hidden_peak
from flowsweep.schedule.search.plateau import belief_of
from flowsweep.schedule.search.response import ALLOWED
from flowsweep.schedule.search.tried import Tried
from searched_responses import PLATEAU, Case, asked, asked_flows, independent, searched


def _peak(fewest: int, last: int, share: float) -> Case:
    """Proportional up to the fewest flows that are enough; from beyond the last on a share of that."""

    def response(size: float) -> float:
        fallen = math.log(share) if math.exp(size) > last + 0.5 else 0.0
        return PLATEAU + min(size - math.log(fewest), 0.0) + fallen

    return Case(response, 0.97 * fewest)


@pytest.mark.parametrize("spread", [0.0001, 0.003, 0.01])
@pytest.mark.parametrize(("fewest", "last", "share"), [(3, 4, 0.5), (3, 3, 0.5), (4, 9, 0.6), (2, 2, 0.7)])
def test_the_fewest_flows_are_found_where_more_than_a_few_carry_less(
    fewest: int, last: int, share: float, spread: float
) -> None:
    found = searched(_peak(fewest, last, share), independent(spread), np.random.default_rng(3), asked_flows())
    assert found.belief is not None
    assert (found.end, found.belief.in_whole[0]) == ("precise", fewest)
    assert found.trials <= 40
    assert found.belief.lower is not None
    assert found.belief.lower.at[-1][0] == 32


@pytest.mark.parametrize("spread", [0.0001, 0.01, 0.03])
@pytest.mark.parametrize(("best", "most"), [(2, 32), (2, 64), (3, 64)])
def test_one_flow_is_not_taken_for_enough_while_numbers_before_a_fall_are_untried(
    best: int, most: int, spread: float
) -> None:
    """One flow carries more than all others of the first round; a few that are not in it far more."""
    goodputs = {number: float(number) for number in range(1, best + 1)}
    case = Case(lambda size: PLATEAU + math.log(goodputs.get(round(math.exp(size)), 0.9)), None)
    for seed in range(4):
        found = searched(case, independent(spread), np.random.default_rng(seed), asked_flows(most))
        assert found.belief is not None
        assert (found.end, found.belief.in_whole[0]) == ("precise", best)
        assert found.trials <= 30


@pytest.mark.parametrize(("fewest", "seed"), [(3, 0), (3, 1), (4, 0), (4, 1)])
def test_goodput_below_the_best_is_tried_before_all_numbers_of_a_fall(fewest: int, seed: int) -> None:
    """The first round has 2 and 8 flows; what is best with them is past the highest."""
    case = Case(lambda size: PLATEAU - abs(size - math.log(fewest)), None)
    search = asked_flows(128).model_copy(update={"low_flows": 2})
    found = searched(case, independent(0.01), np.random.default_rng(seed), search)
    assert found.belief is not None
    assert (found.end, found.belief.in_whole[0]) == ("precise", fewest)
    assert found.trials <= 30


@pytest.mark.parametrize("slope", [0.3, 1.0])
def test_one_flow_is_enough_where_the_numbers_before_a_fall_carry_less_as_well(slope: float) -> None:
    case = Case(lambda size: PLATEAU - slope * size, None)
    found = searched(case, independent(0.003), np.random.default_rng(1), asked_flows())
    assert found.end == "level"
    assert found.trials <= 16


def test_a_search_ends_where_goodput_falls_from_the_smallest_window_on() -> None:
    case = Case(lambda size: PLATEAU - 0.2 * size, None)
    ends = {searched(case, independent(0.003), np.random.default_rng(seed), asked()).end for seed in range(8)}
    assert ends == {"level"}


@pytest.mark.parametrize(
    ("least", "most", "last"), [(16, 64, 63), (16, 64, 40), (1, 128, 120), (1, 128, 124), (8, 512, 300)]
)
def test_a_search_comes_to_its_end_where_many_flows_carry_most_and_more_carry_less(
    least: int, most: int, last: int
) -> None:
    for seed in range(4):
        search = asked_flows(most).model_copy(update={"low_flows": least})
        found = searched(_peak(last, last, 0.5), independent(0.0001), np.random.default_rng(seed), search)
        assert found.end == "precise"
        assert found.trials <= 40
        assert found.belief is not None
        assert found.belief.in_whole[2] is not None
        assert 0.97 * last <= found.belief.in_whole[2] < 1.1 * last


def test_a_peak_is_not_passed_over_where_goodput_declines_from_the_corner_on() -> None:
    """No interval ends further below what is enough than a hidden peak may be higher."""
    share = math.exp(-ALLOWED / 2)
    for slope in (0.05, 0.1, 0.3, 1.0):
        ends, trials = [], []
        for seed in range(12):
            generator = np.random.default_rng(seed)
            corner = generator.uniform(math.log(2e5), math.log(1e7))
            enough = math.exp(corner - ALLOWED)
            case = Case(partial(_declining, corner, slope), enough)
            found = searched(case, independent(0.001), generator, asked())
            ends.append(found.end)
            trials.append(found.trials)
            assert found.belief is not None
            assert found.belief.low is not None
            assert found.belief.low <= enough
            assert found.belief.high is None or found.belief.high >= share * enough
        assert ends.count("precise") >= 11
        assert np.median(trials) <= 35


def _declining(corner: float, slope: float, size: float) -> float:
    return PLATEAU + min(size - corner, 0.0) - slope * max(size - corner, 0.0)


@pytest.mark.parametrize(("levels", "between"), [((1.0, 0.999, 0.7), None), ((0.9, 0.95, 0.6), 1456)])
def test_a_peak_may_hide_only_where_goodput_still_rose_before_the_best(
    levels: tuple[float, ...], between: int | None
) -> None:
    """Trials at 1024 B, 2048 B and 8192 B; where the estimate is the first, or beyond it."""
    goodputs = zip((1024, 2048, 8192), levels, strict=True)
    tried = [Tried(level, round_, math.log(share)) for level, share in goodputs for round_ in (1, 2)]
    enough = math.log(256 if between is None else 1536)
    assert hidden_peak(levels_of(tried), enough, math.log(max(levels))) == between


def test_levels_without_a_round_in_common_are_not_compared() -> None:
    """Such levels have an arbitrary difference, and no scatter that would tell so."""
    rounds = {1: (1, 2), 2: (1, 2), 3: (8, 16), 4: (8, 16)}
    tried = [Tried(level, round_, math.log(level)) for round_, both in rounds.items() for level in both]
    assert levels_of(tried).linked.tolist() == [
        [True, True, False, False],
        [True, True, False, False],
        [False, False, True, True],
        [False, False, True, True],
    ]


@pytest.mark.parametrize(("most", "last"), [(16, 15), (128, 127), (128, 126)])
def test_goodput_does_not_rise_up_to_a_number_at_which_it_is_lower(most: int, last: int) -> None:
    """Nearly as many flows as the most that may be carry twice as much."""
    for seed in range(4):
        found = searched(
            _peak(last, last, 0.5), independent(0.0001), np.random.default_rng(seed), asked_flows(most)
        )
        assert found.end != "rising"
        assert found.belief is not None
        assert found.belief.lower is not None
        assert found.belief.lower.at[-1][0] == most


@pytest.mark.parametrize("repeated", [0, 1])
def test_a_fall_is_told_while_little_is_known_of_the_noise(repeated: int) -> None:
    """Half of it at 32 flows; two other numbers were tried in a second round, or none."""
    goodputs = {2: 1.0, 4: 1.6, 8: 1.62, 32: 0.8}
    rounds = [(1, list(goodputs)), *((round_, [4, 8]) for round_ in range(2, 2 + repeated))]
    tried = [
        Tried(level, round_, math.log(goodputs[level]) + 0.16 * (round_ % 2) * (level == 8))
        for round_, levels in rounds
        for level in levels
    ]
    lower = belief_of(tried, [], 2, 32, precision=0.1, confidence=0.95)[0].lower
    assert lower is not None
    assert [level for level, _ in lower.at] == [32]
    assert not lower.sure


def test_no_level_is_enough_while_one_beyond_it_looks_far_below_the_plateau() -> None:
    """Level but for the largest, of which alone there are repeats: a bad fit has its corner in between."""
    rounds = [(2, 8, 32, 128), (6, 7, 128), (9, 11, 128)]
    tried = [
        Tried(level, round_, math.log(1.2 if level == 128 else 0.985))
        for round_, levels in enumerate(rounds, 1)
        for level in levels
    ]
    belief, end = belief_of(tried, [], 2, 128, precision=0.1, confidence=0.95)
    assert end == "budget"
    assert belief.enough < 32
    assert belief.high is None
