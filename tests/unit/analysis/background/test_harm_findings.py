"""Harm after Ware et al. 2019, against the same trials alone."""

import math
from collections.abc import Sequence

import pytest

from flowsweep.analysis.background.harm import harm, harm_hypotheses
from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.multiple_testing import decided
from flowsweep.analysis.statistics.observations import observations
from report_support import make_row

Row = dict
NOISE = (-0.01, 0.0, 0.01)


def rows(
    goodput_bps: float, *, noise: Sequence[float] = NOISE, flows: int = 4, beside: str = "", **more: object
) -> list[Row]:
    """Trials of one point, alone or beside other traffic."""
    usual = {
        "sweep": beside or "alone", "congestion": "cubic", "congestion_asked": "cubic", "loss_share": None,
        "loss": None, "rtt_loaded_ms": None, "rtt_median_ms": None, "interval_s": 1.0, "omit_s": 2.0,
    }  # fmt: skip
    return [
        make_row(
            trial_id=f"{more.get('sweep', beside)}{flows}-{repeat}", repeat=repeat, flows=flows,
            flows_per_pair=flows, order_index=1000 * bool(beside) + 100 * flows + repeat,
            goodput_mean_bps=goodput_bps * math.exp(each), background=[beside] if beside else [],
            flows_beside=1 if beside else None, share=0.5 if beside else None, **(usual | more),
        )
        for repeat, each in enumerate(noise, start=1)
    ]  # fmt: skip


def told(summary: list[Row]) -> list[Finding]:
    return decided(harm_hypotheses(observations(summary)))


def test_harm_is_that_of_ware_et_al() -> None:
    assert harm(10.0, 4.0, more_is_better=True) == pytest.approx(0.6)
    assert harm(20.0, 50.0, more_is_better=False) == pytest.approx(0.6)
    assert harm(4.0, 5.0, more_is_better=True) == pytest.approx(-0.25)
    assert harm(0.0, 0.0, more_is_better=False) == 0.0


def test_goodput_that_is_taken_away_is_harm() -> None:
    (finding,) = told(rows(20e6) + rows(12e6, beside="quic"))
    assert (finding.kind, finding.decision, finding.n) == ("harm", "effect", 6)
    assert finding.effect == pytest.approx(0.4)
    assert finding.interval_low == pytest.approx(0.4, abs=0.02)
    assert finding.interval_low < 0.4 < finding.interval_high
    assert finding.claim.startswith(
        "starlight → sara: quic harms cubic: goodput goes from 20.0 Mbit/s to 12.0 Mbit/s; harm 0.400 ["
    )
    assert finding.claim.endswith("(equal shares by flow of a full path: 0.200).")


def test_beside_traffic_with_a_rate_of_its_own_equal_shares_are_no_measure() -> None:
    summary = rows(20e6) + rows(12e6, beside="datagrams")
    paced = {row["trial_id"]: 8_000_000 for row in summary if row["background"]}
    (finding,) = decided(harm_hypotheses(observations(summary), asked_bps=paced))
    assert finding.effect == pytest.approx(0.4)
    assert "equal shares" not in finding.claim
    greedy = dict.fromkeys(paced, 60_000_000)
    (finding,) = decided(harm_hypotheses(observations(summary), asked_bps=greedy))
    assert "equal shares" in finding.claim


def test_round_trips_and_losses_are_worse_where_they_are_higher() -> None:
    alone = rows(20e6, rtt_median_ms=10.0, loss_share=0.001)
    beside = rows(20e6, beside="bbr", rtt_median_ms=40.0, loss_share=0.004)
    goodput, rtt, loss = told(alone + beside)
    assert goodput.decision == "no practical effect"
    assert "bbr does cubic no harm: goodput stays the same to within 3 %" in goodput.claim
    assert rtt.effect == pytest.approx(0.75)
    assert "the round trip goes from 10 ms to 40 ms" in rtt.claim
    assert loss.effect == pytest.approx(0.75)
    assert "loss goes from 0.100 % to 0.400 %" in loss.claim


def test_without_losses_alone_there_is_no_ratio_and_nothing_is_tested() -> None:
    alone = rows(20e6, loss_share=0.0)
    *_, loss = told(alone + rows(12e6, beside="bbr", loss_share=0.004))
    assert (loss.decision, loss.effect) == ("described", 1.0)
    assert "loss of cubic goes from 0 % to 0.400 %" in loss.claim


def test_trials_of_other_settings_are_no_reference() -> None:
    """A sweep alone with a larger window looks like one: its goodput is higher, and for another reason."""
    alone = [row | {"window_bytes": 1 << 24, "window_send_bytes": 1 << 24} for row in rows(20e6)]
    (finding,) = told(alone + rows(12e6, beside="quic"))
    assert finding.decision == "described"
    assert finding.claim == (
        "starlight → sara: how much quic harms cubic is not known: no trials of this campaign are the same "
        "without background traffic. Add a sweep without it."
    )
    probed = [row | {"background": ["probe"]} for row in rows(20e6)]
    (finding,) = told(probed + rows(12e6, beside="quic"))
    assert "is not known" in finding.claim


def test_lower_goodput_of_noisy_trials_is_no_harm_shown() -> None:
    noise = (-0.6, 0.0, 0.6)
    (finding,) = told(rows(20e6, noise=noise) + rows(13e6, beside="quic", noise=noise))
    assert finding.decision == "undecided"
    assert "whether quic harms cubic is undecided" in finding.claim


def test_points_count_alike_and_those_of_too_few_trials_do_not() -> None:
    alone = rows(20e6, flows=1) + rows(20e6, flows=40)
    beside = rows(10e6, flows=1, beside="quic") + rows(19e6, flows=40, beside="quic")
    (finding,) = told(alone + beside)
    assert finding.effect == pytest.approx(1 - math.sqrt(0.5 * 0.95))
    assert (
        "from 20.0 Mbit/s to 10.0 Mbit/s with 1 flow, from 20.0 Mbit/s to 19.0 Mbit/s with 40 flows"
        in finding.claim
    )
    assert "(equal shares by flow of a full path: 0.0244 to 0.500)" in finding.claim
    (finding,) = told(alone + beside[:4])
    assert finding.effect == pytest.approx(0.5)
    assert (finding.decision, finding.n) == ("effect", 6)


def test_beside_traffic_of_another_way_equal_shares_are_no_measure() -> None:
    summary = rows(20e6) + rows(12e6, beside="quic")
    trials = frozenset(row["trial_id"] for row in summary if row["background"])
    (finding,) = decided(harm_hypotheses(observations(summary), not_along=trials))
    assert finding.effect == pytest.approx(0.4)
    assert "equal shares" not in finding.claim
