"""What is said of verdicts, and of theory beside the measurement."""

from dataclasses import replace
from typing import Any

import pytest

from flowsweep.analysis.findings.advice import path_payload_bps
from flowsweep.analysis.findings.host_advice import advice_hypotheses
from flowsweep.analysis.findings.theory import theory_hypotheses
from flowsweep.analysis.findings.verdict import verdict_hypotheses
from flowsweep.analysis.statistics.observations import DIRECTION
from flowsweep.analysis.statistics.regions import regions
from limited_trials import KIB, Row, trial
from queued_trials import observed


def test_a_path_is_what_its_plan_says_or_what_it_once_carried() -> None:
    real = trial(link_payload_bps=None)
    assert path_payload_bps([trial(), real]) == 96.53e6
    assert path_payload_bps([real]) is None
    full = real | {"verdict": "congestion window: queue", "goodput_bps": 80e6}
    assert path_payload_bps([real, full]) == 80e6


def outcomes(axis: str, *pairs: tuple[Any, str]) -> list[Row]:
    return [trial(**{axis: level}, verdict=verdict) for level, verdict in pairs]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (
            outcomes("window_sum_bytes", (KIB, "a"), (2 * KIB, "a"), (4 * KIB, "b"), (8 * KIB, "b")),
            {"a": "window sum up to 2 KiB", "b": "window sum from 4 KiB on"},
        ),
        (
            outcomes("window_sum_bytes", (KIB, "a"), (2 * KIB, "b"), (4 * KIB, "b"), (8 * KIB, "c")),
            {
                "a": "window sum up to 1 KiB", "b": "window sum 2 KiB to 4 KiB",
                "c": "window sum from 8 KiB on",
            },
        ),
        (outcomes("flows", (1, "a"), (2, "b"), (4, "a")),
         {"a": "number of flows 1, 4", "b": "number of flows 2"}),
        (outcomes("congestion_asked", ("cubic", "a"), ("bbr", "b")),
         {"a": "congestion control cubic", "b": "congestion control bbr"}),
        (outcomes("rate_bps", (10**7, "a"), (None, "b")),
         {"a": "application rate per flow 10.0 Mbit/s", "b": "application rate per flow unlimited"}),
    ],
    ids=["a knee", "three regions", "with a hole", "words", "not set"],
)  # fmt: skip
def test_regions_are_told_by_the_axis_that_tells_them_apart(rows: list[Row], words: dict[str, str]) -> None:
    found = regions(rows, "verdict")
    assert found is not None
    assert found.words == words


def test_outcomes_that_no_axis_tells_apart_have_no_regions() -> None:
    rows = outcomes("flows", (1, "a"), (1, "b"), (2, "a"), (2, "b"))
    assert regions(rows, "verdict") is None
    assert regions(outcomes("flows", (1, "a"), (2, "a")), "verdict") is None


def test_verdicts_are_counted_and_placed() -> None:
    small = [trial(trial_id=f"s{k}", repeat=k) for k in (1, 2, 3)]
    full = {"verdict": "congestion window: queue", "goodput_bps": 96e6, "window_sum_bytes": 4096 * KIB}
    [hypothesis] = verdict_hypotheses(observed(*small, trial(**full), trial(**full)))
    assert hypothesis.say("described") == (
        "slac → in2p3: the receive window limits 3 of 5 trials (window sum 1 MiB); the path itself limits 2 "
        "of 5 trials (window sum 4 MiB), at 96.0 Mbit/s of 96.5 Mbit/s."
    )
    assert (hypothesis.p_value, hypothesis.estimate.effect, hypothesis.estimate.unit, hypothesis.n) == (
        None,
        0.6,
        "1",
        5,
    )
    assert hypothesis.evidence[:3] == ("s1", "s2", "s3")


@pytest.mark.parametrize(
    ("beside", "said"),
    [
        ({"background": ["probe", "cubic"], "share": 0.6},
         ", beside cubic, to which 40.0 % of the goodput of all traffic goes"),
        ({"background": ["cubic", "voice"], "share": 0.7},
         ", beside cubic and voice, to which 30.0 % of the goodput of all traffic goes"),
        ({"background": ["cubic"], "share": None}, ", beside cubic"),
        ({"background": ["probe"], "share": None}, ""),
        ({"background": []}, ""),
    ],
    ids=["one", "two", "share not known", "a probe", "none"],
)  # fmt: skip
def test_traffic_beside_trials_is_named_where_the_path_limits(beside: Row, said: str) -> None:
    full = trial(verdict="congestion window: queue", goodput_bps=57e6, **beside)
    [hypothesis] = verdict_hypotheses(observed(full))
    assert hypothesis.say("described") == (
        f"slac → in2p3: the path itself limits the only trial, at 57.0 Mbit/s of 96.5 Mbit/s{said}."
    )
    [theory] = theory_hypotheses(observed(full))
    assert (", goodput beside " in theory.say("described")) == bool(said)


@pytest.mark.parametrize("verdict", ["receive window", "sender CPU", "application rate", "not clear"])
def test_traffic_beside_trials_is_no_reason_for_what_the_path_has_no_part_in(verdict: str) -> None:
    [hypothesis] = verdict_hypotheses(observed(trial(verdict=verdict, background=["cubic"], share=0.6)))
    assert "cubic" not in hypothesis.say("described")


def test_trials_without_a_verdict_ask_nothing() -> None:
    assert verdict_hypotheses(observed(trial(verdict=None))) == []
    imported = trial()
    del imported["verdict"]
    assert verdict_hypotheses(observed(imported)) == []


def test_a_host_is_advised_once_for_all_sweeps_and_not_where_the_plan_filled_the_path() -> None:
    one, other = trial(trial_id="1"), trial(trial_id="2", flows=4, goodput_bps=80e6)
    back = trial(src="in2p3", dst="slac", **{DIRECTION: "in2p3 → slac"})
    told = advice_hypotheses([observed(one, other), observed(one, back)])
    claims = [hypothesis.say("described") for hypothesis in told]
    assert claims[0].startswith("To fill the path, in2p3 needs a receive window of at least 2.11 MB: ")
    assert claims[0].endswith("Without it goodput is 63.0 Mbit/s, where the path carries 96.5 Mbit/s.")
    assert claims[1].startswith("To fill the path, slac needs ")
    assert len(claims) == 2
    full = trial(verdict="congestion window: queue", goodput_bps=96e6, window_recv_bytes=4096 * KIB)
    assert advice_hypotheses([observed(one, full)]) == []


def test_windows_that_are_asked_for_and_those_that_are_not_have_bounds_of_their_own() -> None:
    """The plan asks for 1 MiB in one sweep, and the kernel chooses in another: both are too small."""
    settings = {"net.core.rmem_max": "1048576", "net.ipv4.tcp_rmem": "4096 131072 1000000"}
    tuned = trial(trial_id="2", window_bytes=None, window_send_bytes=None, window_recv_bytes=None)
    [told] = advice_hypotheses(
        [observed(trial(trial_id="1", flows=1)), observed(tuned | {"rtt_min_ms": 170.0})],
        hosts={"in2p3": {"sysctls": settings}},
    )
    claim = told.say("described")
    assert "`sysctl -w net.core.rmem_max=2162688`" in claim
    assert '`sysctl -w net.ipv4.tcp_rmem="4096 131072 4194304"`' in claim
    assert told.evidence == ("1", "2")


@pytest.mark.parametrize("share", [0.25, 0.0526, None])
def test_what_others_may_carry_is_not_promised(share: float | None) -> None:
    """They may go the other way, or along another path, and `share` is of all goodput: it tells no part."""
    beside = trial(background=["cubic"], share=share, goodput_bps=20e6, window_recv_bytes=256 * KIB)
    [told] = advice_hypotheses([observed(beside)])
    assert told.estimate.effect is None
    assert told.say("described").endswith(
        "Without it goodput is 20.0 Mbit/s, and cubic may have had a part of the path."
    )


def test_what_ran_beside_a_trial_need_not_have_been_on_its_path() -> None:
    full = trial(verdict="congestion window: queue", link_payload_bps=None, goodput_bps=20e6, share=0.25)
    assert path_payload_bps([full]) == 20e6


def test_what_a_host_gains_is_of_one_of_its_directions() -> None:
    sends = trial(trial_id="1", src="in2p3", dst="slac", verdict="send window", **{DIRECTION: "in2p3 → slac"})
    slow = {"goodput_bps": 2e6, "link_payload_bps": 10e6, "window_recv_bytes": 64 * KIB}
    [told] = advice_hypotheses([observed(sends), observed(trial(trial_id="2", **slow))])
    said = told.say("described")
    assert "needs a send window" in said
    assert "needs a receive window" in said
    assert said.endswith(
        "Without it goodput slac → in2p3 is 2.00 Mbit/s, where the path carries 10.0 Mbit/s."
    )
    assert told.estimate is not None
    assert told.estimate.effect == pytest.approx(5.0)


def test_a_queue_that_drops_before_the_path_is_full_is_named() -> None:
    row = trial(verdict="congestion window: queue", goodput_bps=6.2e6, link_queue_drops=9)
    [hypothesis] = verdict_hypotheses(observed(row, row))
    assert hypothesis.say("described") == (
        "slac → in2p3: the path's queue, which drops before the path is full, limits both trials, at 6.20 "
        "Mbit/s of 96.5 Mbit/s."
    )


def test_trials_whose_queue_drops_early_are_told_apart_from_those_that_fill_the_path() -> None:
    early = trial(verdict="congestion window: queue", goodput_bps=6.2e6, link_queue_drops=9)
    full = trial(verdict="congestion window: queue", goodput_bps=96e6, link_queue_drops=9)
    [hypothesis] = verdict_hypotheses(observed(early, early, full))
    assert hypothesis.say("described") == (
        "slac → in2p3: the path itself limits 1 of 3 trials, at 96.0 Mbit/s of 96.5 Mbit/s; the path's "
        "queue, which drops before the path is full, limits 2 of 3 trials, at 6.20 Mbit/s of 96.5 Mbit/s."
    )


def test_a_policer_that_links_counted_is_named_and_others_beside_it_are_not_taken_for_it() -> None:
    policed = trial(verdict="congestion window: loss", link_policer_drops=8, link_queue_drops=4)
    [hypothesis] = verdict_hypotheses(observed(policed, policed))
    assert hypothesis.say("described").startswith(
        "slac → in2p3: the congestion window, held down by what a policer drops, limits both trials"
    )
    mixed = trial(verdict="congestion window: loss", link_policer_drops=8, link_queue_drops=5)
    beside = policed | {"background": ["datagrams"]}
    for other in (mixed, beside, trial(verdict="congestion window: loss", link_policer_drops=None)):
        [hypothesis] = verdict_hypotheses(observed(policed, other))
        assert "held down by loss, limits both trials" in hypothesis.say("described")


def test_how_much_was_lost_is_said_where_losses_limit() -> None:
    rows = [trial(verdict="congestion window: loss", loss_share=share) for share in (0.001, 0.002, None)]
    [hypothesis] = verdict_hypotheses(observed(*rows))
    assert hypothesis.say("described") == (
        "slac → in2p3: the congestion window, held down by loss, limits all 3 trials, with 0.150 % of all "
        "bytes retransmitted (median of the trials)."
    )
    queue = trial(verdict="congestion window: queue", loss_share=0.001)
    assert "retransmitted" not in verdict_hypotheses(observed(queue))[0].say("described")


@pytest.mark.parametrize("share", [0.07, None])
def test_a_queue_that_background_traffic_fills_does_not_drop_early(share: float | None) -> None:
    row = trial(
        verdict="congestion window: queue",
        goodput_bps=6.2e6,
        link_queue_drops=9,
        background=["cross"],
        share=share,
    )
    [hypothesis] = verdict_hypotheses(observed(row, row))
    assert hypothesis.say("described").startswith(
        "slac → in2p3: the path itself limits both trials, at 6.20 "
    )


def test_hosts_whose_cores_are_all_in_use_are_named_where_nothing_is_clear() -> None:
    busy = trial(verdict="not clear", cores_busy_send=1.0, cores_busy_recv=0.99)
    [hypothesis] = verdict_hypotheses(observed(busy, busy))
    assert hypothesis.say("described").endswith(
        "it is not clear what limits both trials, all cores of the sender and the receiver were in use."
    )


def test_datagrams_that_their_own_source_held_back_are_told_from_the_path() -> None:
    def said(verdict: str, **more: Any) -> str:
        row = trial(test="udp", verdict=verdict, **more)
        [hypothesis] = verdict_hypotheses(observed(row))
        return hypothesis.say("described")

    assert "the sender's own device, behind a full socket buffer, limits" in said("send window")
    assert "what the sender's own device drops limits" in said("host drops", loss=0.6, loss_at_sender=0.55)
    assert "what the hosts or their devices drop limits" in said("host drops", loss=0.6, loss_at_sender=0.0)
    assert "what the path loses limits" in said("path loss", loss=0.6)


def test_what_is_not_clear_is_said() -> None:
    [hypothesis] = verdict_hypotheses(observed(trial(verdict="not clear"), trial(verdict="not clear")))
    assert hypothesis.say("described") == "slac → in2p3: it is not clear what limits both trials."


def test_goodput_is_compared_with_theory_over_repeats() -> None:
    # Ratios 0.9, 1.0 and their geometric mean 0.948683 in three repeats; standard error of the logarithms
    # 0.05268 / √3 = 0.030415, t(0.975, 2) = 4.3027: factor e^0.13086 = 1.1398.
    goodputs_bps = (57.6e6, 64e6, 64e6 * 0.9**0.5)
    rows = [trial(repeat=repeat, goodput_bps=bps) for repeat, bps in enumerate(goodputs_bps, start=1)]
    [hypothesis] = theory_hypotheses(observed(*rows))
    assert hypothesis.estimate.effect == pytest.approx(0.948683, abs=1e-6)
    assert hypothesis.estimate.low == pytest.approx(0.948683 / 1.1398, rel=1e-3)
    assert hypothesis.estimate.high == pytest.approx(0.948683 * 1.1398, rel=1e-3)
    assert hypothesis.say("described") == (
        "slac → in2p3: where windows limit (3 trials in 3 repeats), goodput is 0.949 [0.832, 1.08] of the "
        "most that they allow, usable window × flows / minimum round trip."
    )


def test_a_ratio_that_differs_between_points_is_told_with_its_range() -> None:
    rows = [
        trial(repeat=repeat, flows=flows, goodput_bps=64e6 * share)
        for repeat in (1, 2, 3) for flows, share in ((1, 0.9), (2, 1.0))
    ]  # fmt: skip
    [hypothesis] = theory_hypotheses(replace(observed(*rows), factors=("flows",)))
    assert "goodput is 0.949 [0.949, 0.949] (0.900 to 1.00 by point) of the most that" in str(
        hypothesis.say("described")
    )


@pytest.mark.parametrize("repeats", [1, 2])
def test_fewer_than_three_repeats_have_no_interval(repeats: int) -> None:
    rows = [trial(repeat=repeat, goodput_bps=64e6) for repeat in range(repeats)]
    [hypothesis] = theory_hypotheses(observed(*rows))
    assert (hypothesis.estimate.effect, hypothesis.estimate.low) == (1, None)


def test_a_theory_is_asked_only_where_it_applies() -> None:
    lossy = {"verdict": "congestion window: loss", "theory_cubic_bps": 50e6, "theory_padhye_bps": 40e6}
    [cubic] = theory_hypotheses(observed(trial(**lossy)))
    assert "CUBIC" in cubic.say("described")
    [reno] = theory_hypotheses(observed(trial(**lossy, congestion="reno")))
    assert reno.estimate.effect == pytest.approx(63 / 40)
    assert theory_hypotheses(observed(trial(**lossy, congestion="bbr"))) == []
    assert theory_hypotheses(observed(trial(rtt_min_ms=0.02))) == []


def test_trials_without_a_verdict_are_counted() -> None:
    """Of a kernel that tells too little, say: "both trials" of 3 that ended well would hide one."""
    rows = [trial(), trial(), trial(verdict=None)]
    [told] = verdict_hypotheses(observed(*rows))
    assert told.say("described") == (
        "slac → in2p3: the receive window limits 2 of 3 trials; 1 of 3 trials cannot be judged."
    )
    assert (told.estimate.effect, told.n) == (pytest.approx(2 / 3), 3)


def test_theory_says_of_how_many_limited_trials_it_speaks() -> None:
    rows = [trial(), trial(repeat=2), trial(repeat=3, theory_window_bps=None)]
    [told] = theory_hypotheses(observed(*rows))
    assert "where windows limit (2 of 3 trials in 2 repeats)" in told.say("described")


def test_losses_of_a_sender_that_paces_itself_are_not_put_on_its_congestion_window() -> None:
    rows = [trial(verdict="congestion window: loss", limit_cwnd_share=0.0, loss_share=0.0015)] * 2
    [told] = verdict_hypotheses(observed(*rows))
    assert told.say("described").startswith("slac → in2p3: loss limits both trials, with 0.150 % of all ")


def test_goodputs_that_differ_are_not_put_into_one_number_without_a_word() -> None:
    full = {"verdict": "congestion window: queue"}
    rows = [trial(goodput_bps=rate_bps, **full) for rate_bps in (80e6, 90e6, 96e6)]
    assert "limits all 3 trials, at a median of 90.0 Mbit/s of 96.5 Mbit/s" in said_of(rows)
    one_and_two = [
        trial(goodput_bps=share * link_bps, link_payload_bps=link_bps, **full)
        for link_bps, share in ((38.6e6, 0.99), (77.2e6, 0.98), (77.2e6, 1.0))
    ]
    assert (
        ", at 38.2 Mbit/s to 77.2 Mbit/s: in the median 99.0 % of what the links of a trial carry"
        in said_of(one_and_two)
    )


def said_of(rows: list[Row]) -> str:
    [told] = verdict_hypotheses(observed(*rows))
    return told.say("described")
