"""Effects say where they compare trials whose goodput was still growing."""

import pytest

from flowsweep.analysis.findings.effects import effect_hypotheses
from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.multiple_testing import decided
from flowsweep.analysis.findings.still_growing import is_growing, with_growing_trials
from flowsweep.analysis.statistics.observations import observations
from flowsweep.defaults import SECOND_NS
from synthetic_campaigns import Grid, Row, campaign

STEADY, GROWING = {4: 1.0, 5: 1.0, 7: 1.0, 9: 1.0}, {4: 0.4, 5: 0.5, 7: 0.7, 9: 0.9}
"""By seconds of a trial of 10 s: what its beginning tells, as a share of the whole."""


def trials() -> list[Row]:
    grid = Grid(
        flows=(1,), window_sums=(1 << 20,), lengths=(2000, 16000), repeats=6, directions=(("a", "b"),)
    )
    rows = campaign(grid, 1)
    return [row | {"duration_s": 10.0} for row in rows]


def length_of(rows: list[Row], growing: tuple[int, ...]) -> Finding:
    [observed] = observations(rows)
    cuts = {
        row["trial_id"]: {
            seconds * SECOND_NS: row["goodput_bps"] * share
            for seconds, share in (GROWING if row["length_bytes"] in growing else STEADY).items()
        }
        for row in rows
    }
    told = with_growing_trials(effect_hypotheses(observed), observed, cuts, margin=0.03)
    return next(one for one in decided(list(told)) if one.axis == "length_bytes")


def test_levels_that_differ_in_it_are_named() -> None:
    claim = length_of(trials(), (16000,)).claim
    assert claim.endswith(
        "In 6 of 12 trials (6 of 6 at length 16 KB, 0 of 6 at length 2 KB) goodput was still growing: the "
        "first three quarters tell over 3 % less than the whole. Steady rates are not compared."
    )


def test_it_is_said_where_all_grow_and_not_where_none_does() -> None:
    assert "In 12 of 12 trials goodput was still growing" in length_of(trials(), (2000, 16000)).claim
    assert "growing" not in length_of(trials(), ()).claim


@pytest.mark.parametrize(
    ("cut", "growing"),
    [
        (STEADY, False),
        (GROWING, True),
        # Up to speed after a third: only what begins earlier tells less.
        ({4: 0.6, 5: 0.995, 7: 1.0}, False),
        # It wavers.
        ({5: 1.02, 7: 0.95}, False),
        # Too short to be cut.
        ({9: 0.9}, False),
        ({}, False),
    ],
)
def test_what_counts_as_growing(cut: dict[int, float], *, growing: bool) -> None:
    row = {"duration_s": 10.0, "goodput_bps": 1e8}
    assert (
        is_growing(row, {seconds * SECOND_NS: share * 1e8 for seconds, share in cut.items()}, 0.03) == growing
    )
