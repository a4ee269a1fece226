"""Whether trials fail more often at some hours of the day: told where they do, and not of outages."""

from collections.abc import Callable
from datetime import timedelta

import numpy as np
import pytest

from analysis_support import STARTED_AT
from fates import fail
from flowsweep.analysis.findings.failing_hours import failing_hour_hypotheses
from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.multiple_testing import decided
from flowsweep.analysis.findings.topics import findings
from synthetic_campaigns import KIB, Grid, Row, campaign

MIDNIGHT = STARTED_AT.replace(hour=0)
DAYS = 14


def hourly(fails: Callable[[int, int], bool], days: int = DAYS, directions: int = 1) -> list[Row]:
    """A point once an hour; `fails` of day and hour."""
    ways = (("a", "b"), ("b", "a"))[:directions]
    rows = campaign(Grid(flows=(1,), window_sums=(1024 * KIB,), directions=ways, repeats=24 * days), 2)
    for place, row in enumerate(rows):
        hours = place // directions
        row["started_at"] = (MIDNIGHT + timedelta(hours=hours, seconds=place % directions)).isoformat()
        if fails(*divmod(hours, 24)):
            fail(row)
    return rows


def told(rows: list[Row]) -> list[Finding]:
    return decided(list(failing_hour_hypotheses(rows)))


def test_failures_of_the_evening_are_told_as_such() -> None:
    """All failed between 18 and 23 h, and only their share was said."""
    rng = np.random.default_rng(1)
    rows = hourly(lambda day, hour: 18 <= hour < 23 and rng.random() < 0.4)
    failed = sum(row["status"] == "failed" for row in rows)
    [found] = [one for one in findings(rows) if (one.kind, one.axis) == ("failures", "started_at")]
    assert found.decision == "effect"
    assert found.claim == (
        f"Trials fail more often at some hours of the day: {failed} of 70 did not end ok from 18:00 to 23:00 "
        "UTC, 0 of 266 at other hours."
    )
    assert found.effect == pytest.approx(failed / 70)
    assert len(found.evidence) == failed


def test_hours_may_reach_over_midnight() -> None:
    [found] = told(hourly(lambda day, hour: hour in (23, 0) and day % 2 == 0))
    assert " 14 of 28 did not end ok from 23:00 to 01:00 UTC, 0 of 308 at other hours" in found.claim


@pytest.mark.long
@pytest.mark.parametrize("directions", [1, 2])
def test_outages_at_any_hour_are_no_habit(directions: int) -> None:
    """Hours of them seem to tell of the time of day, as trial by trial they would."""
    rng, claimed = np.random.default_rng(5), 0
    for _ in range(100):
        begins = rng.integers(24 * DAYS, size=6)
        down = {int(begin) + by for begin in begins for by in range(int(rng.integers(2, 12)))}
        found = told(hourly(lambda day, hour, down=down: 24 * day + hour in down, directions=directions))  # type: ignore[misc]
        claimed += sum(one.decision == "effect" for one in found)
    assert claimed <= 11, "with a rate of 5 %, more have a chance of 0.4 %"


def test_what_may_be_chance_is_said_to_be() -> None:
    rows = hourly(lambda day, hour: (day, hour) in {(1, 5), (4, 6), (9, 17), (11, 3)})
    [found] = told(rows)
    assert found.decision == "undecided"
    assert found.claim.startswith(
        "Whether trials fail more often at some hours of the day is undecided: that 3 of 56 did not end ok "
        "from 03:00 to 07:00 UTC, 1 of 280 at other hours may be chance."
    )


def test_a_point_that_runs_in_the_evening_only_says_nothing_of_evenings() -> None:
    rows = hourly(lambda day, hour: hour == 20 and day % 2 == 0)
    for row in rows:
        if row["started_at"][11:13] == "20":
            row["window_sum_bytes"] = 64 * KIB
    [found] = told(rows)
    assert found.decision == "undecided"


def test_two_days_and_starts_that_are_not_known_are_not_asked() -> None:
    assert told(hourly(lambda day, hour: day in (3, 8) and hour == 4)) == []
    rows = hourly(lambda day, hour: hour == 4)
    assert told([{**row, "started_at": None} for row in rows]) == []
    assert told(hourly(lambda day, hour: True)) == []
