"""How many trials a search will probably take."""

from itertools import pairwise

import pytest

from flowsweep.defaults import SECOND_NS
from flowsweep.plan.searching.model import Beside
from flowsweep.schedule.search.rehearsal import Terms, rehearsed
from searched_responses import asked

TERMS = Terms(SECOND_NS, Beside())


@pytest.mark.parametrize("trials", [12, 60])
def test_a_rehearsal_keeps_to_the_budget_and_says_how_much_it_takes(trials: int) -> None:
    found = rehearsed(asked(trials=trials), TERMS, trials)
    assert 4 <= found.least <= found.median <= found.most <= trials


def test_a_finer_search_takes_more() -> None:
    medians = [rehearsed(asked(precision=share), TERMS, 60).median for share in (0.3, 0.1, 0.05)]
    assert all(coarse < fine for coarse, fine in pairwise(medians))


def test_bytes_are_left_out_where_the_rate_is_not_known() -> None:
    search = asked()
    assert rehearsed(search.model_copy(update={"bytes_max": 1}), TERMS, 60) == rehearsed(search, TERMS, 60)


@pytest.mark.long
def test_where_the_rate_is_known_bytes_end_a_search() -> None:
    """At 80 Mbit/s a trial sends 10 MB: 25 times that hold more than one round, and no search to 2 %."""
    search = asked(precision=0.02).model_copy(update={"bytes_max": 250_000_000})
    known = TERMS._replace(rate_bps=80e6)
    found = rehearsed(search, known, 60)
    assert found.most < rehearsed(search, TERMS, 60).least
    assert not found.known
    assert rehearsed(asked().model_copy(update={"bytes_max": 10**10}), known, 60).known


def test_what_ends_early_leaves_more_of_the_time() -> None:
    search = asked(precision=0.02).model_copy(update={"duration_max_ns": 130 * SECOND_NS})
    whole = rehearsed(search, TERMS._replace(trial_ns=8 * SECOND_NS), 60)
    early = rehearsed(search, TERMS._replace(trial_ns=8 * SECOND_NS, lasts_ns=2 * SECOND_NS), 60)
    assert whole.most < early.least


def test_no_search_is_known_before_its_third_round() -> None:
    assert not rehearsed(asked(trials=12), TERMS, 12).known
    assert rehearsed(asked(trials=60), TERMS, 60).known
