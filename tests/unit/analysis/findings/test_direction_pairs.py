"""Why it is undecided which direction is faster, where a single pair of trials is left."""

import pytest

from flowsweep.analysis.findings.topics import findings
from synthetic_campaigns import Grid, campaign


@pytest.mark.parametrize(
    ("failed", "why"),
    [
        (
            [("a", 2), ("a", 3)],
            "only one repeat has both; 2 trials left out: that of the other direction is missing",
        ),
        (
            [("a", 2), ("b", 3)],
            "only one repeat has both; 2 trials left out: that of the other direction is missing",
        ),
        ([(end, repeat) for end in "ab" for repeat in (2, 3)], "both ran only once"),
    ],
)
def test_directions_of_which_failures_left_one_pair(failed: list[tuple[str, int]], why: str) -> None:
    """It was "both ran only once" of three trials and one."""
    rows = campaign(Grid(flows=(1,), window_sums=(1 << 20,)), 1)
    for row in rows:
        if (row["dst"], row["repeat"]) in failed:
            row["status"] = "failed"
    [direction] = [one for one in findings(rows) if one.kind == "direction"]
    assert direction.claim == f"Whether a → b or b → a is faster is undecided: {why}."
