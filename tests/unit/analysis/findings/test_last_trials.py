"""Directions whose last trials all failed: said before all else, with since when."""

import numpy as np
import pytest

from fates import fail, one_of_twenty
from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.last_trials import last_trial_hypotheses, tells_last_trials
from flowsweep.analysis.findings.multiple_testing import decided
from flowsweep.analysis.findings.topics import findings
from flowsweep.report.opening import opening
from synthetic_campaigns import KIB, Grid, Row, campaign

ONE_POINT = Grid(flows=(1,), window_sums=(1024 * KIB,), directions=(("a", "b"),), repeats=60)


def ended(count: int, grid: Grid = ONE_POINT, src: str = "a") -> list[Row]:
    """A campaign of which the last trials from a host failed."""
    rows = campaign(grid, 4)
    for row in [row for row in rows if row["src"] == src][-count:]:
        fail(row)
    return rows


def told(rows: list[Row]) -> list[Finding]:
    return decided(list(last_trial_hypotheses(rows)))


def test_a_path_that_no_longer_works_is_said_first() -> None:
    """Nothing had worked for two days, and the reader learned of the highest goodput."""
    rows = ended(20)
    found = findings(rows)
    said = "None of the last 20 trials of a → b, since 2026-03-01 12:08 UTC, ended ok."
    assert (found[0].kind, found[0].axis, found[0].claim) == ("failures", "started_at", said)
    assert found[0].evidence == tuple(row["trial_id"] for row in rows[40:])
    lines = opening(rows, found)
    assert lines is not None
    assert lines.lines[0] == ("Last trials", said)


def test_of_several_directions_the_one_that_fails_is_named() -> None:
    grid = Grid(flows=(1,), window_sums=(1024 * KIB,), repeats=10)
    [found] = told(ended(4, grid, "b"))
    assert found.claim == "None of the last 4 trials of b → a, since 2026-03-01 12:02 UTC, ended ok."
    [found] = told(ended(10, grid, "b"))
    assert found.claim == "None of the 10 trials of b → a ended ok."


def test_of_many_directions_three_are_named() -> None:
    ways = tuple((f"h{number}", "hub") for number in range(6))
    rows = campaign(Grid(flows=(1,), window_sums=(1024 * KIB,), directions=ways, repeats=10), 4)
    for row in rows[-30:]:
        if row["src"] != "h0":
            fail(row)
    [found] = told(rows)
    assert found.claim.count("None of the last 5 trials of ") == 3
    assert found.claim.endswith(" Nor did the last ones of 2 further directions.")


@pytest.mark.parametrize("count", [1, 2, 60])
def test_the_last_two_are_too_few_and_a_campaign_of_nothing_else_says_so_elsewhere(count: int) -> None:
    assert told(ended(count)) == []


def test_trials_after_them_and_starts_that_are_not_known_say_nothing() -> None:
    rows = ended(20)
    assert told([*rows, {**rows[0], "started_at": "2026-03-02T00:00:00+00:00", "sweep": "another"}]) == []
    assert told([{**row, "started_at": None} for row in rows]) == []


def test_of_failures_at_random_it_is_seldom_said() -> None:
    count = 0
    for seed in range(100):
        rows = campaign(Grid(flows=(1, 2), repeats=5), seed)
        one_of_twenty(np.random.default_rng(seed), rows)
        count += bool(told(rows))
    assert count <= 5


def test_findings_of_failures_that_are_tested_do_not_claim_it() -> None:
    rows = ended(20)
    assert [tells_last_trials(one) for one in findings(rows) if one.kind == "failures"] == [True, False]
