"""Which trials of two directions ran next to each other."""

import numpy as np
import pytest

from flowsweep.analysis.statistics.design import design
from flowsweep.analysis.statistics.observations import observations
from flowsweep.analysis.statistics.turns import in_time, ran_apart, turns_of
from synthetic_campaigns import Grid, campaign


@pytest.mark.parametrize(
    ("ways", "turns"),
    [
        ("abab", [0, 1]),
        ("abba", [0, 1]),
        ("baabba", [0, 1, 2]),
        ("aabb", [0, 0]),
        ("bbaa", [0, 0]),
        ("aabbaabb", [0, 0, 1, 1]),
        ("aaabbabb", [0, 0, 1, 2]),
    ],
)
def test_pairs_of_the_same_runs_are_one_turn(ways: str, turns: list[int]) -> None:
    starts = np.array([[place for place, own in enumerate(ways) if own == way] for way in "ab"], dtype=float)
    assert turns_of(starts).tolist() == turns


def test_what_began_at_the_same_time_is_a_turn_of_its_own() -> None:
    """As with traffic both ways at once, or days in place of times."""
    starts = np.zeros((2, 4))
    assert turns_of(starts).tolist() == [0, 1, 2, 3]


def test_a_single_pair_is_not_apart() -> None:
    assert not ran_apart(np.array([0]))
    assert ran_apart(np.array([0, 0]))
    assert not ran_apart(np.array([0, 0, 1]))


def test_a_campaign_in_blocks_stays_as_it_is() -> None:
    rows = campaign(Grid(), 1)
    [observed] = observations(rows)
    grid = design(observed)
    assert in_time(grid) is grid
    starts = sorted(row["started_at"] for row in rows)
    by_source = sorted(rows, key=lambda row: row["src"])
    [apart] = observations([row | {"started_at": at} for row, at in zip(by_source, starts, strict=True)])
    grid = design(apart)
    assert len(in_time(grid).units) == 2 * len(grid.units)
    assert set(in_time(grid).trials) == set(grid.trials)
