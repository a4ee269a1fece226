"""A small form of tests/truth/test_false_claims.py: what all findings claim where there is nothing."""

import pytest

from flowsweep.analysis.findings.topics import findings
from judged_campaigns import KINDS, ORDERS, counted, rows_of
from shared_noise import shared_noise

pytestmark = pytest.mark.whole

SOME = 40
MOST = 6
"""Of 40 campaigns: more come with a probability of 0.3 % where 5 % of campaigns have a false claim."""


@pytest.mark.long
@pytest.mark.parametrize("name", ["neighbours 0.7", "one point, hourly, a daily cycle"])
def test_campaigns_that_share_noise_say_what_each_says_alone(name: str) -> None:
    kind = KINDS[name]
    numbers = (0, ORDERS, 2 * ORDERS)  # of one order
    alone = [findings(rows_of(kind, number)) for number in numbers]
    with shared_noise():
        assert [findings(rows_of(kind, number)) for number in numbers] == alone


@pytest.mark.parametrize(
    "name",
    [
        "neighbours 0.95",
        *(
            pytest.param(name, marks=pytest.mark.long)
            for name in ("independent", "slow trials fail", "one point, hourly, neighbours 0.7")
        ),
    ],
)
def test_where_nothing_is_to_be_found_little_is_claimed(name: str) -> None:
    with shared_noise():
        assert counted(KINDS[name], range(SOME))["any false claim"] <= MOST


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    [
        "10 %",
        *(pytest.param(name, marks=pytest.mark.long) for name in ("cycle", "failures at the largest window")),
    ],
)
def test_what_is_there_is_found(name: str) -> None:
    with shared_noise():
        assert counted(KINDS[name], range(SOME // 2))["found"] == SOME // 2


@pytest.mark.long
def test_nearly_all_steps_are_found() -> None:
    with shared_noise():
        assert counted(KINDS["step"], range(SOME))["found"] >= 0.9 * SOME
