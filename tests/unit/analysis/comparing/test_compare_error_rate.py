"""What comparisons of campaigns with known truth claim: identical ones, unlike noise, failures, one point."""

import math
from dataclasses import replace

import numpy as np
import pytest

from compared_campaigns import Drawn, called_different, drawn
from flowsweep.analysis.comparing.comparison import compare
from synthetic_campaigns import heavy_tailed

pytestmark = pytest.mark.whole

COUNT = 60
"""With a rate of 5 %, more than 8 have a chance of 0.5 %."""
MOST = 8
A_LARGE_LOSS = math.log(0.7)


@pytest.mark.long
def test_three_repeats_against_thirty_of_the_same_call_no_point_different() -> None:
    """Welch's t alone took the least of twenty variances of three for chance: a false claim in 30 %."""
    found = called_different(Drawn(20, 3, block=0.0), Drawn(20, 30, block=0.0), COUNT, 20)
    assert found <= MOST


@pytest.mark.parametrize(
    "how",
    [
        {},
        *(
            pytest.param(how, marks=pytest.mark.long)
            for how in ({"uneven": True}, {"draw": heavy_tailed}, {"block": 0.1})
        ),
    ],
)
def test_three_repeats_each_err_seldom(how: dict[str, object]) -> None:
    one = replace(Drawn(20, 3), **how)
    assert called_different(one, one, COUNT, 21) <= MOST


@pytest.mark.long
@pytest.mark.parametrize("noisy", [3, 30])
def test_a_campaign_that_varies_more_is_not_called_different(noisy: int) -> None:
    ways = [Drawn(20, repeats, *((0.09, 0.09) if repeats == noisy else (0.03, 0.03))) for repeats in (3, 30)]
    assert called_different(ways[0], ways[1], COUNT, 22) <= MOST


def test_one_point_that_fell_by_30_percent_is_found_among_20() -> None:
    """Three repeats each, noise of 3 %: Welch's t at the point alone found it in 84 %."""
    rng = np.random.default_rng(23)
    fallen = Drawn(20, 3, block=0.01, shift=A_LARGE_LOSS, at=7)
    found = 0
    for _ in range(COUNT):
        shifts = [
            point.shift for point in compare(drawn(Drawn(20, 3, block=0.01), rng), drawn(fallen, rng)).points
        ]
        found += shifts[7].outcome == "slower"
    assert found >= 0.95 * COUNT


def test_points_that_share_no_repeat_are_undecided() -> None:
    """Nothing tells what their repeats had in common."""
    rows = [
        row for row in drawn(Drawn(2, 6), np.random.default_rng(24)) if (row["repeat"] + row["flows"]) % 2
    ]
    assert {point.shift.interval_low_percent for point in compare(rows, rows).points} == {None}
