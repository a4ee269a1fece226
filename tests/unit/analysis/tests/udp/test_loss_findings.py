"""What a campaign of datagrams concludes: from which rate on they are lost, and which streams broke."""

from datetime import timedelta

import pytest

from analysis_support import STARTED_AT
from datagram_support import Stream, make_udp_outcome, make_udp_trial
from flowsweep.analysis.findings.topics import findings
from flowsweep.archive import tables_of
from summary_support import summed

LOSSES = {8_000_000: 0, 16_000_000: 1, 32_000_000: 30}
"""Lost of a thousand, by rate."""


def campaign():
    for repeat in (1, 2, 3):
        for src, dst in (("a", "b"), ("b", "a")):
            for rate, lost in LOSSES.items():
                sent = rate // 8_000
                trial = make_udp_trial(repeat=repeat, src=src, dst=dst, rate_bps=rate)
                lost_here = sent * lost * (dst == "b") // 1000
                yield make_udp_outcome(trial, [Stream(sent=sent, lost=lost_here + repeat * bool(lost_here))])
    yield make_udp_outcome(make_udp_trial(repeat=4, flows=3), [Stream(), Stream(), Stream(broken_at_s=2)])


@pytest.fixture(scope="module")
def found():
    outcomes = [
        outcome.__class__(
            outcome.record.model_copy(update={"started_at": STARTED_AT + timedelta(seconds=5 * index)}),
            **{name: getattr(outcome, name) for name in ("samples", "flows", "counters", "of_tests")},
        )
        for index, outcome in enumerate(campaign())
    ]
    tables = tables_of(outcomes)
    rows = summed(*outcomes)
    return findings(rows, tables=tables)


def test_the_highest_rate_within_the_limit_is_named_for_each_direction(found):
    there, back = sorted((one for one in found if one.kind == "loss"), key=lambda one: one.direction)
    assert (there.direction, there.effect, there.interval_low, there.interval_high) == (
        "a → b", 8e6, 8e6, 16e6
    )  # fmt: skip
    assert there.claim == (
        "a → b: up to 8.00 Mbit/s no trial loses more than 0.100 % of its datagrams, at 16.0 Mbit/s "
        "up to 0.250 % of the datagrams are lost (median of 3 trials 0.200 %)."
    )
    assert (back.effect, back.interval_low, back.interval_high) == (32e6, None, None)
    assert "the highest rate that was offered" in back.claim
    assert there.figure is not None
    assert there.figure.kind == "offered"


def test_broken_streams_are_counted_and_explained(found):
    (one,) = [one for one in found if one.kind == "broken"]
    assert one.claim == (
        "1 of 21 flows broke, in 1 of 19 trials (a → b 1), most often: no datagram for 10 s."
    )
    assert (one.effect, one.n) == (pytest.approx(1 / 21), 19)


def test_the_rate_is_an_axis_like_any_other(found):
    effects = [one for one in found if one.kind == "effect" and one.axis == "rate_bps"]
    assert [one.decision for one in effects] == ["effect"]


def test_what_limits_is_said(found):
    claims = " ".join(one.claim for one in found if one.kind == "verdict")
    assert "the rate that was asked for" in claims
    assert "what the path loses" in claims


def test_a_rate_at_which_nothing_came_counts():
    rates = {8_000_000: 0, 16_000_000: 1}
    outcomes = [
        make_udp_outcome(
            make_udp_trial(repeat=repeat, rate_bps=rate),
            [Stream(sent=rate // 8_000, lost=lost * rate // 8_000)],
        )
        for repeat in (1, 2, 3)
        for rate, lost in rates.items()
    ]
    tables = tables_of(outcomes)
    rows = summed(*outcomes)
    assert {row["goodput_bps"] for row in rows if row["rate_sum_bps"] == 16_000_000} == {0.0}
    [loss] = [one for one in findings(rows, tables=tables) if one.kind == "loss"]
    assert loss.claim == (
        "a → b: up to 8.00 Mbit/s no trial loses more than 0.100 % of its datagrams, at 16.0 Mbit/s up to "
        "100 % of the datagrams are lost (median of 3 trials 100 %)."
    )


@pytest.mark.parametrize(
    ("lost", "words"),
    [
        (50, "; 1 trial with broken flows, whose other flows lost up to 5.00 %, is not counted."),
        (0, "; 1 trial with broken flows is not counted."),
    ],
)
def test_a_trial_with_broken_flows_below_the_highest_rate_is_named(lost, words):
    outcomes = [
        make_udp_outcome(
            make_udp_trial(repeat=repeat, rate_bps=rate),
            [Stream(sent=rate // 2_000, lost=rate // 2_000 // of)],
        )
        for repeat in (1, 2, 3)
        for rate, of in ((8_000_000, 10**6), (16_000_000, 10**6), (32_000_000, 10**6), (64_000_000, 20))
    ]
    torn = make_udp_trial(repeat=4, flows=2, rate_bps=8_000_000)
    outcomes.append(make_udp_outcome(torn, [Stream(sent=1_000, lost=lost), Stream(broken_at_s=2)]))
    tables = tables_of(outcomes)
    rows = summed(*outcomes)
    assert [row["loss"] for row in rows if row["status"] != "ok"] == [lost / 1_000]
    [loss] = [one for one in findings(rows, tables=tables) if one.kind == "loss"]
    assert loss.claim.startswith("a → b: up to 32.0 Mbit/s no trial loses more than 0.100 % of its datagrams")
    assert loss.claim.endswith(f"(median of 3 trials 5.00 %){words}")


@pytest.mark.parametrize(
    ("lossy", "torn", "claim", "interval"),
    [
        (
            (), (32_000_000,),
            ("up to 16.0 Mbit/s, the highest rate that was offered in a whole trial, no trial loses more "
            "than 0.100 %; at 32.0 Mbit/s flows broke in all 3 trials."),
            (16e6, 32e6),
        ),
        (
            (), (32_000_000, 64_000_000),
            ("up to 16.0 Mbit/s, the highest rate that was offered in a whole trial, no trial loses more "
            "than 0.100 %; from 32.0 Mbit/s to 64.0 Mbit/s flows broke in all 6 trials."),
            (16e6, 32e6),
        ),
        (
            (8_000_000, 16_000_000), (4_000_000,),
            ("already at 8.00 Mbit/s up to 10.0 % of the datagrams are lost (median of 3 trials 10.0 %), the "
            "lowest rate that was offered in a whole trial; at 4.00 Mbit/s flows broke in all 3 trials."),
            (None, None),
        ),
    ],
)  # fmt: skip
def test_rates_at_which_flows_broke_in_all_trials_were_offered(lossy, torn, claim, interval):
    outcomes = [
        make_udp_outcome(
            make_udp_trial(repeat=repeat, rate_bps=rate),
            [Stream(sent=rate // 2_000, lost=rate // 20_000 * (rate in lossy), broken_at_s=broken_at_s)],
        )
        for repeat in (1, 2, 3)
        for rate in (8_000_000, 16_000_000, *torn)
        for broken_at_s in (2 if rate in torn else None,)
    ]
    tables = tables_of(outcomes)
    [loss] = [one for one in findings(summed(*outcomes), tables=tables) if one.kind == "loss"]
    assert loss.claim == f"a → b: {claim}"
    assert (loss.interval_low, loss.interval_high) == interval


def test_a_rate_at_which_no_flow_broke_is_not_within_those_at_which_all_did():
    """Its source sent too little at 48 Mbit/s: "from 32 to 64 Mbit/s flows broke" was said."""
    torn = (32_000_000, 64_000_000, 96_000_000)
    outcomes = [
        make_udp_outcome(
            make_udp_trial(repeat=repeat, rate_bps=rate),
            [Stream(sent=rate // 2_000, broken_at_s=2 if rate in torn else None)],
        )
        for repeat in (1, 2, 3)
        for rate in (8_000_000, 16_000_000, 48_000_000, *torn)
    ]
    tables = tables_of(outcomes)
    rows = [
        row | ({"offered_share": 0.5} if row["rate_sum_bps"] == 48e6 else {}) for row in summed(*outcomes)
    ]
    [loss] = [one for one in findings(rows, tables=tables) if one.kind == "loss"]
    where = "; at 32.0 Mbit/s and from 64.0 Mbit/s to 96.0 Mbit/s flows broke in all 9 trials; in 3 trials"
    assert where in loss.claim
    assert (loss.interval_low, loss.interval_high) == (16e6, 32e6)


@pytest.mark.parametrize(("torn", "interval"), [((), (None, None)), ((64_000_000,), (16e6, 64e6))])
def test_the_interval_does_not_end_where_flows_broke_in_some_trials_only(torn, interval):
    """The sources of the others sent too little at 32 Mbit/s, and the method said "broke in all"."""
    outcomes = [
        make_udp_outcome(
            make_udp_trial(repeat=repeat, rate_bps=rate),
            [
                Stream(
                    sent=rate // 2_000, broken_at_s=2 if rate in torn or (rate, repeat) == (32e6, 1) else None
                )
            ],
        )
        for repeat in (1, 2, 3)
        for rate in (8_000_000, 16_000_000, 32_000_000, *torn)
    ]
    tables = tables_of(outcomes)
    rows = [
        row | ({"offered_share": 0.5} if row["rate_sum_bps"] == 32e6 else {}) for row in summed(*outcomes)
    ]
    [loss] = [one for one in findings(rows, tables=tables) if one.kind == "loss"]
    assert "up to 16.0 Mbit/s, the highest rate that was offered in a whole trial" in loss.claim
    assert "flows broke in 1 of 3 trials" in loss.claim or torn
    assert (loss.interval_low, loss.interval_high) == interval
