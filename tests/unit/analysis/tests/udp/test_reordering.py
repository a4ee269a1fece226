"""Datagrams that come out of order, or twice, are said to do so."""

from analysis_support import Row
from datagram_support import Stream, make_udp_outcome, make_udp_trial
from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.topics import findings
from flowsweep.analysis.tests.udp.loss import broken_hypotheses
from summary_support import summed


def rows_of(*streams: Stream) -> list[Row]:
    return summed(*(make_udp_outcome(make_udp_trial(repeat=n), [one]) for n, one in enumerate(streams, 1)))


def reordering(rows: list[Row]) -> list[Finding]:
    return [one for one in findings(rows) if one.kind == "reordering"]


def test_shares_and_extent_are_said_and_no_cause_is_claimed() -> None:
    """Delays vary in any queue, and by more than datagrams are apart: that was "a likely cause"."""
    jittery = {"delay_variation_ms": 7.93, "spacing_send_median_us": 392.0}
    rows = [row | jittery for row in rows_of(*[Stream(reordered=680, extent=31, duplicates=10)] * 3)]
    (found,) = reordering(rows)
    assert (found.decision, found.direction, found.effect, found.n) == ("described", "a → b", 0.68, 3)
    assert found.claim == (
        "a → b: 68.0 % of the datagrams came after later ones, the first of which came up to 31 datagrams "
        "earlier, and 1.00 % came again: parallel paths or links can do that, and devices with several "
        "queues."
    )
    assert "delay variation" not in found.method


def test_trials_that_differ_say_between_which_shares() -> None:
    (found,) = reordering(rows_of(Stream(reordered=10, extent=2), Stream(reordered=30, extent=5)))
    assert found.claim.startswith(
        "a → b: 2.00 % of the datagrams came after later ones (1.00 % to 3.00 % in 2 trials), the first "
        "of which came up to 5 datagrams earlier"
    )


def test_duplicates_alone_are_said_and_few_of_either_are_not() -> None:
    (found,) = reordering(rows_of(Stream(duplicates=5)))
    assert (found.claim, found.effect) == ("a → b: 0.500 % of the datagrams came again.", 0.005)
    assert not reordering(rows_of(Stream(reordered=1, extent=1, duplicates=1)))


def test_streams_of_both_ways_at_once_are_named_as_such() -> None:
    rows = [row | {"simultaneous": True} for row in rows_of(Stream(duplicates=5))]
    (found,) = reordering(rows)
    assert (found.direction, found.claim) == ("a ⇄ b", "a ⇄ b: 0.500 % of the datagrams came again.")
    torn = [row | {"status": "failed", "flows_broken": 1, "error": "broke: flow 0: reset"} for row in rows]
    (broken,) = broken_hypotheses(torn)
    assert broken.say("described") == ("1 of 1 flow broke, in 1 of 1 trial (a ⇄ b 1), most often: reset.")


def test_what_is_not_known_of_a_trial_is_no_zero() -> None:
    """Of three trials of another tool one said how many came late: 10 % became 3.33 %."""
    unknown = {"reordered": None, "duplicates": None, "reordering_extent_max": None}
    told, *others = rows_of(Stream(reordered=100, extent=3), Stream(duplicates=20), Stream())
    (found,) = reordering([told, *(row | unknown for row in others)])
    assert (found.effect, found.evidence) == (0.1, (told["trial_id"],))
    assert found.claim.startswith(
        "a → b: 10.0 % of the datagrams came after later ones (known of 1 of 3 trials), the first of which"
    )
    (found,) = reordering([told, others[0] | {"reordered": None}, others[1] | unknown])
    assert "10.0 % of the datagrams came after later ones (known of 1 of 3 trials)" in found.claim
    assert "and 1.00 % came again (known of 2 of 3 trials)" in found.claim
    assert not reordering([row | unknown for row in others])


def test_an_extent_that_is_not_known_is_not_told_as_none() -> None:
    """What iperf3 says of datagrams out of order has no extent: "up to 0 datagrams earlier" was said."""
    rows = rows_of(Stream(reordered=10, extent=4), Stream(reordered=10, extent=9), Stream())
    unknown = {"reordering_extent_max": None}
    (found,) = reordering([row | unknown for row in rows])
    assert "came after later ones (0 % to 1.00 % in 3 trials): parallel paths" in found.claim
    (found,) = reordering([rows[0], rows[1] | unknown, rows[2] | unknown])
    earlier = "the first of which came up to 4 datagrams earlier (known of 1 of 2 trials): parallel paths"
    assert earlier in found.claim
    (found,) = reordering([*rows[:2], rows[2] | unknown])
    assert "came up to 9 datagrams earlier: parallel paths" in found.claim, "none came late in the third"
