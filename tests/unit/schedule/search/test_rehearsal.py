"""How many trials a search will probably take."""

from itertools import pairwise

import pytest

from flowsweep.defaults import SECOND_NS
from flowsweep.plan.searching.model import Beside
from flowsweep.schedule.search.rehearsal import rehearsed
from searched_responses import asked


@pytest.mark.parametrize("trials", [12, 60])
def test_a_rehearsal_keeps_to_the_budget_and_says_how_much_it_takes(trials: int) -> None:
    found = rehearsed(asked(trials=trials), SECOND_NS, Beside())
    assert 4 <= found.least <= found.median <= found.most <= trials


def test_a_finer_search_takes_more() -> None:
    medians = [rehearsed(asked(precision=share), SECOND_NS, Beside()).median for share in (0.3, 0.1, 0.05)]
    assert all(coarse < fine for coarse, fine in pairwise(medians))


def test_bytes_are_left_out_since_the_rate_is_not_known() -> None:
    search = asked()
    assert rehearsed(search.model_copy(update={"bytes_max": 1}), SECOND_NS, Beside()) == rehearsed(
        search, SECOND_NS, Beside()
    )
