"""Who gets more, flow by flow: sentences and decisions, from rows whose shares are known."""

import math
from collections.abc import Sequence

import pytest

from flowsweep.analysis.background.fairness import fairness_hypotheses
from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.multiple_testing import decided
from flowsweep.analysis.statistics.observations import observations
from report_support import make_row

Row = dict


def rows(shares: Sequence[float], *, flows: int = 1, beside: int = 1, **more: object) -> list[Row]:
    """Trials of one point: `flows` of BBR beside some of CUBIC."""
    usual = {"congestion": "bbr", "congestion_asked": "bbr", "rtt_min_ms": 10.0, "jain_flows": 0.8}
    return [
        make_row(
            trial_id=f"{more.get('sweep', '')}{more.get('src', '')}{flows}-{repeat}", repeat=repeat,
            order_index=100 * flows + repeat, flows=flows, flows_per_pair=flows, share=share,
            flows_beside=beside, background=["probe", "cubic"], **(usual | more),
        )
        for repeat, share in enumerate(shares, start=1)
    ]  # fmt: skip


def told(summary: list[Row]) -> list[Finding]:
    return decided(fairness_hypotheses(observations(summary)))


def shares_of(ratio: float, flows: int, beside: int, noise: Sequence[float]) -> list[float]:
    """Shares where a flow gets `ratio` times as much as one beside it, times e^noise."""
    odds = [ratio * math.exp(each) * flows / beside for each in noise]
    return [each / (1 + each) for each in odds]


def test_a_flow_that_gets_more_is_told_with_equal_shares_beside_it() -> None:
    noise = (-0.02, 0.0, 0.02, 0.01, -0.01)
    (finding,) = told(rows(shares_of(3.0, 4, 1, noise), flows=4))
    assert finding.decision == "effect"
    assert finding.effect == pytest.approx(3.0, rel=1e-6)
    half = 2.776445 * 0.0158114 / math.sqrt(5)
    assert finding.interval_low == pytest.approx(3 * math.exp(-half), rel=1e-4)
    assert finding.claim == (
        "starlight → sara: a flow of bbr gets more than one of cubic, 3.00 [2.94, 3.06] times as much; bbr "
        "takes 92.3 %, equal shares by flow are 80.0 %."
    )


def test_most_of_the_goodput_may_be_no_more_than_equal_shares() -> None:
    """40 flows take 97.6 % beside one: that looks like dominance, and each gets as much as that one."""
    noise = (-0.002, 0.0, 0.002, 0.001)
    (finding,) = told(rows(shares_of(1.0, 40, 1, noise), flows=40))
    assert finding.decision == "no practical effect"
    assert "gets as much as one of cubic, to within 3 %" in finding.claim
    assert "bbr takes 97.6 %, equal shares by flow are 97.6 %" in finding.claim


def test_a_large_share_of_few_noisy_trials_is_undecided() -> None:
    """Twice as much in the mean, as trials that scatter by a factor of two each way may give by chance."""
    (finding,) = told(rows(shares_of(2.0, 1, 1, (-0.8, 0.1, 0.7))))
    assert finding.decision == "undecided"
    assert "is undecided: 2.00 [" in finding.claim
    (single,) = told(rows([0.9]))
    assert (single.decision, single.p_value, single.interval_low) == ("undecided", None, None)


def test_two_trials_that_happen_to_agree_test_nothing() -> None:
    (finding,) = told(rows([0.9, 0.9]))
    assert (finding.decision, finding.p_value) == ("undecided", None)


def test_how_it_goes_with_the_number_of_flows() -> None:
    noise = (-0.02, 0.0, 0.02)
    summary = rows(shares_of(0.5, 1, 1, noise)) + rows(shares_of(2.0, 40, 1, noise), flows=40)
    (change,) = [finding for finding in told(summary) if finding.axis == "flows"]
    assert (change.decision, change.n) == ("effect", 6)
    assert change.effect == pytest.approx(4.0)
    assert change.claim.startswith(
        "starlight → sara: a flow of bbr gets more, against one of cubic, with 40 flows than with 1 flow: "
        "0.500 times with 1 flow, 2.00 times with 40 flows; the second is 4.00 ["
    )


def test_how_it_goes_with_the_round_trip() -> None:
    noise = (-0.02, 0.0, 0.02)
    near = rows(shares_of(1.0, 1, 1, noise), src="near", dst="b", rtt_min_ms=10.0)
    far = rows(shares_of(0.25, 1, 1, noise), src="far", dst="b", rtt_min_ms=80.0)
    (change,) = [finding for finding in told(near + far) if finding.axis == "direction"]
    assert (change.decision, change.direction) == ("effect", None)
    assert change.claim.startswith(
        "A flow of bbr gets less, against one of cubic, over a round trip of 80 ms (far → b) than over a "
        "round trip of 10 ms (near → b): 1.00 times over"
    )
    alike = [row | {"rtt_min_ms": 11.0} for row in far]
    assert not [finding for finding in told(near + alike) if finding.axis == "direction"]


def test_how_it_goes_with_the_round_trip_of_a_dscp() -> None:
    noise = (-0.02, 0.0, 0.02)
    near = rows(shares_of(1.0, 1, 1, noise), dscp=0, rtt_min_ms=10.0)
    far = rows(shares_of(0.25, 1, 1, noise), dscp=8, rtt_min_ms=80.0)
    (change,) = [finding for finding in told(near + far) if finding.axis == "dscp"]
    assert (change.decision, change.direction) == ("effect", "starlight → sara")
    assert change.claim.startswith(
        "starlight → sara: a flow of bbr gets less, against one of cubic, over a round trip of 80 ms (DSCP "
        "8) than over a round trip of 10 ms (DSCP 0): 1.00 times over"
    )
    assert change.effect == pytest.approx(0.25, rel=0.02)
    alike = [row | {"rtt_min_ms": 11.0} for row in far]
    assert not [finding for finding in told(near + alike) if finding.axis == "dscp"]


def test_trials_that_got_nothing_or_all_take_no_part() -> None:
    assert told(rows([1.0, 1.0, 1.0])) == []
    assert told(rows([0.5, 0.5, 0.5], beside=0)) == []


def test_traffic_that_got_the_rate_it_asked_for_was_not_held_down() -> None:
    """20 of 100 Mbit/s beside one greedy flow: a fifth of the path, and all that was asked for."""
    summary = [row | {"goodput_bps": 80e6, "goodput_mean_bps": 80e6} for row in rows([0.8, 0.801, 0.799])]
    ids = [row["trial_id"] for row in summary]
    (greedy,) = told(summary)
    assert greedy.decision == "effect"
    for asked_bps in (20_000_000, 30_000_000):
        paced = dict.fromkeys(ids, asked_bps)
        (finding,) = decided(fairness_hypotheses(observations(summary), asked_bps=paced))
        assert (finding.decision, finding.effect) == ("described", None)
        assert "are not compared with equal shares" in finding.claim
    more = dict.fromkeys(ids, 60_000_000)
    (held,) = decided(fairness_hypotheses(observations(summary), asked_bps=more))
    assert held.decision == "effect", "it asked for more than its half, and got a fifth"


def test_trials_that_got_their_own_rate_are_not_compared_either() -> None:
    summary = [row | {"verdict": "application rate"} for row in rows([0.2, 0.2, 0.2001])]
    (finding,) = told(summary)
    assert finding.decision == "described"


def test_trials_in_which_one_side_starved_decide_nothing_and_are_counted() -> None:
    noise = (-0.02, 0.0, 0.02, 0.01, -0.01)
    starved = rows([1.0, 1.0])
    summary = rows(shares_of(3.0, 1, 1, noise)) + [
        row | {"trial_id": f"starved-{at}", "order_index": 900 + at} for at, row in enumerate(starved)
    ]
    (finding,) = told(summary)
    assert (finding.decision, finding.p_value) == ("undecided", None)
    assert finding.claim.endswith(" 2 further trials left out: one side got nothing.")


def test_traffic_that_shares_nothing_is_not_compared() -> None:
    """It went the other way, or between other hosts: a flow of either takes nothing from the other."""
    summary = rows((0.5, 0.502, 0.499)) + rows((0.7, 0.71, 0.69), sweep="other")
    back = frozenset(row["trial_id"] for row in summary if row["sweep"] != "other")
    (finding,) = decided(fairness_hypotheses(observations(summary), not_along=back))
    assert finding.sweep == "other"
    everything = frozenset(row["trial_id"] for row in summary)
    assert fairness_hypotheses(observations(summary), not_along=everything) == []
