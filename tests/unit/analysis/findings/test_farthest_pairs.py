"""Two trials of a repeat, or of a point: only their difference is known, and counts once."""

from dataclasses import replace

from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.topics import findings
from synthetic_campaigns import Grid, Row, campaign

TWO_POINTS = Grid(
    flows=(1,), window_sums=(1 << 18, 1 << 20), directions=(("a", "b"),), repeats=20, noise=0.05
)


def outliers(rows: list[Row]) -> Finding:
    [finding] = [finding for finding in findings(rows) if finding.kind == "outliers"]
    return finding


def rows_of(rows: list[Row], finding: Finding) -> list[Row]:
    return [row for row in rows if row["trial_id"] in finding.evidence]


def test_two_trials_of_each_repeat_are_one_difference() -> None:
    """It was "of 20 trials", of 40, and one of the two was the farthest because it came first."""
    rows = campaign(TWO_POINTS, 1)
    said = outliers(rows)
    assert " of 20 differences between the two trials of a repeat that scatter as these do, " in said.claim
    one, other = rows_of(rows, said)
    assert one["repeat"] == other["repeat"]
    assert one["window_sum_bytes"] != other["window_sum_bytes"]
    assert all(said.claim.count(trial_id) == 1 for trial_id in said.evidence)
    assert ". The two trials that deviate most from each other are " in said.claim
    assert said.claim.endswith(
        "% less goodput than expected from its point and the latter; which of them is unusual is not known."
    ) == (said.effect < 0)


def test_two_repeats_of_each_point_are_one_difference() -> None:
    rows = campaign(replace(TWO_POINTS, flows=(1, 2, 4, 8, 16), repeats=2), 1)
    said = outliers(rows)
    assert " of 10 differences between the two repeats of a point that scatter as these do, " in said.claim
    one, other = rows_of(rows, said)
    assert (one["flows"], one["window_sum_bytes"]) == (other["flows"], other["window_sum_bytes"])


def test_where_only_some_have_one_other_all_are_counted() -> None:
    rows = campaign(replace(TWO_POINTS, window_sums=(1 << 18, 1 << 19, 1 << 20), repeats=12), 1)
    left = [row for row in rows if row["window_sum_bytes"] != 1 << 19 or row["repeat"] > 6]
    assert len(left) == 30
    assert " of 24 differences among 30 trials that scatter as these do, " in outliers(left).claim


def test_of_four_in_each_repeat_one_is_named() -> None:
    rows = campaign(replace(TWO_POINTS, window_sums=(1 << 18, 1 << 19, 1 << 20, 1 << 21)), 1)
    said = outliers(rows)
    assert " of 80 trials that scatter as these do, " in said.claim
    assert len(said.evidence) == 1
    assert f". The trial that deviates most is {said.evidence[0]} (" in said.claim
