"""Trials that ended well and carried nothing: named first, since nothing said of goodput can have them."""

from flowsweep.analysis.findings.topics import findings
from synthetic_campaigns import Grid, campaign


def test_trials_that_carried_nothing_are_named_before_all_else() -> None:
    rows = campaign(Grid(noise=0.003), 1)
    dead = [row["trial_id"] for row in rows[10:14]]
    told = findings([row | {"goodput_bps": 0.0} if row["trial_id"] in dead else row for row in rows])
    first = told[0]
    assert (first.kind, first.decision, first.effect, first.effect_unit) == (
        "empty", "described", 4 / len(rows), "1",
    )  # fmt: skip
    assert set(first.evidence) == set(dead)
    assert first.claim == (
        f"4 of {len(rows)} trials carried nothing, 0 bit/s: {', '.join(first.evidence[:3])} and 1 more; what "
        f"is said of goodput is of the other {len(rows) - 4}."
    )
    assert all(set(dead).isdisjoint(one.evidence) for one in told[1:] if one.kind != "stalls")


def test_campaigns_of_nothing_but_zeros_are_no_campaigns_without_a_conclusion() -> None:
    rows = [row | {"goodput_bps": 0.0} for row in campaign(Grid(), 1)]
    [only] = findings(rows)
    assert only.claim.startswith(f"{len(rows)} of {len(rows)} trials carried nothing, 0 bit/s: ")
    assert only.claim.endswith(" more.")


def test_campaigns_that_carried_something_have_no_such_finding() -> None:
    assert "empty" not in {one.kind for one in findings(campaign(Grid(), 1))}
