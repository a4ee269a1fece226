"""Trials that ended well and carried nothing: named first, since nothing said of goodput can have them."""

from collections.abc import Sequence

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
        f"4 of {len(rows)} trials carried nothing, 0 bit/s, all in a row from 2026-03-01 12:02:00 to "
        f"12:02:36 UTC: {', '.join(first.evidence[:3])} and 1 more; what is said of goodput is of the other "
        f"{len(rows) - 4}."
    )
    assert all(set(dead).isdisjoint(one.evidence) for one in told[1:] if one.kind != "stalls")


def test_campaigns_of_nothing_but_zeros_are_no_campaigns_without_a_conclusion() -> None:
    rows = [row | {"goodput_bps": 0.0} for row in campaign(Grid(), 1)]
    [only] = findings(rows)
    assert only.claim.startswith(f"{len(rows)} of {len(rows)} trials carried nothing, 0 bit/s: ")
    assert only.claim.endswith(" more.")


def test_campaigns_that_carried_something_have_no_such_finding() -> None:
    assert "empty" not in {one.kind for one in findings(campaign(Grid(), 1))}


def empty(places: Sequence[int], **changes: object) -> str:
    """What is said where the trials at these places carried nothing."""
    rows = [row | changes for row in campaign(Grid(noise=0.003), 1)]
    for place in places:
        rows[place]["goodput_bps"] = 0.0
    return findings(rows)[0].claim


def test_an_outage_is_told_from_trials_that_carried_nothing_now_and_then() -> None:
    """Four of thirty were counted, and nothing said that they were four in a row."""
    assert " in a row" not in empty([10, 40, 70, 100])
    assert ", 4 of them in a row from 2026-03-01 12:08:00 to 12:08:36 UTC: " in empty([10, 40, 41, 42, 43])
    assert ", all in a row from " in empty([10, 12, 14, 16]), "the trials between are of the way back"
    assert " in a row" not in empty([10, 11, 12, 13], started_at=None)
