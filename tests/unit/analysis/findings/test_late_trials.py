"""Trials whose emulated path was late or lost packets of its own take no part in any conclusion."""

from flowsweep.analysis.findings.topics import findings
from synthetic_campaigns import Grid, Row, campaign

LATE = 51


def on_emulated_paths(seed: int) -> list[Row]:
    """64 trials without any effect; 51 of them late, which carried next to nothing at their window."""
    grid = Grid(flows=(1, 2), window_sums=(65_536, 131_072, 262_144, 524_288), repeats=4, noise=0.003)
    rows = [row | {"path_emulation": "kept up"} for row in campaign(grid, seed)]
    late = {"path_emulation": "late", "goodput_bps": 77e3, "verdict": "receive window"}
    return [row | late if place % 64 < LATE else row for place, row in enumerate(rows)]


def test_late_trials_are_named_first_and_left_out() -> None:
    rows = on_emulated_paths(1)
    late = {row["trial_id"] for row in rows if row["path_emulation"] == "late"}
    told = findings(rows)
    assert (told[0].kind, told[0].decision, told[0].effect) == ("emulation", "described", LATE / 64)
    assert told[0].claim == (
        "This machine could not keep up with the emulated path in 51 of 64 trials (more than 1.00 % of "
        "the packets arrived over 1 ms late): no other finding uses them. Run the plan again while "
        "the machine has less to do."
    )
    assert set(told[0].evidence) == late
    assert len(told) > 1
    assert all(late.isdisjoint(one.evidence) for one in told[1:])
    assert not any("receive window" in one.claim for one in told)


def test_nothing_is_concluded_where_all_trials_were_late() -> None:
    rows = [row | {"path_emulation": mark} for row in campaign(Grid(), 1) for mark in ("late", "overloaded")]
    [only] = findings(rows)
    assert "nothing is concluded from them" in only.claim
    assert "packets were lost that it should have carried" in only.claim


def test_trials_that_kept_up_and_real_paths_have_no_such_finding() -> None:
    rows = campaign(Grid(), 1)
    kept = [row | {"path_emulation": "kept up"} for row in rows]
    assert "emulation" not in {one.kind for one in (*findings(rows), *findings(kept))}
