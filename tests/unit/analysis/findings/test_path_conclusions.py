"""What an expert would add to a verdict: what drops, what a queue adds, what autotuning allows."""

import numpy as np
import pytest

from drop_paths import DropPath, trace
from flowsweep.analysis.findings.autotuning import autotuning_hypotheses
from flowsweep.analysis.findings.bufferbloat import bufferbloat_hypotheses
from flowsweep.analysis.findings.drops import TRIALS_MAX, drop_hypotheses, lossy_trials
from flowsweep.analysis.findings.hypothesis import Hypothesis
from flowsweep.analysis.tests.tcp.least_round_trips import LeastRoundTripRow
from queued_trials import LOSS, QUEUE, Row, hosts, observed, trial


def said(hypotheses: list[Hypothesis]) -> str:
    [hypothesis] = hypotheses
    return hypothesis.say("described")


def test_a_standing_queue_is_told_as_time_and_as_bytes() -> None:
    rows = [trial(1), trial(2, repeat=2, rtt_median_ms=328.0), trial(3, repeat=3, rtt_median_ms=316.28)]
    [hypothesis] = bufferbloat_hypotheses(observed(*rows))
    # 284.8 ms, 307.8 ms and their geometric mean, 296.1; 19.3 Mbit/s · 296.1 ms / 8 = 714 kB.
    assert hypothesis.estimate.effect == pytest.approx(0.29608, rel=1e-4)
    assert hypothesis.say("described").startswith("a → b: where the path is full its queue adds 296 ms [")
    at = " to a round trip of 20.2 ms (714 KB waiting) in 3 trials (medians of trials, the highest 308 ms)"
    assert at in said([hypothesis])


def test_queues_of_both_directions_are_one_wait_and_no_bytes_of_either() -> None:
    rows = [trial(n, repeat=n, simultaneous=True) for n in (1, 2, 3)]
    claim = said(bufferbloat_hypotheses(observed(*rows)))
    assert claim.startswith("a → b: where the path is full the queues of both directions together add 285 ms")
    assert "waiting" not in claim
    assert " Round trips of all that shares the path are as much longer: CoDel at the " in claim


def test_queues_of_points_that_differ_are_told_apart() -> None:
    rows = [
        trial(f"{name} {repeat}", repeat=repeat, congestion_asked=name, rtt_median_ms=median_ms + repeat)
        for name, median_ms in (("bbr", 27.0), ("cubic", 198.0))
        for repeat in (1, 2, 3)
    ]
    [hypothesis] = bufferbloat_hypotheses(observed(*rows))
    assert hypothesis.say("described").startswith(
        "a → b: where the path is full its queue adds between 8.80 ms [6.64 ms, 11.7 ms] (the least of 2 "
        "points: bbr) and 180 ms [177 ms, 182 ms] (the most: cubic) to a round trip of 20.2 ms (21.2 KB and "
        "434 KB waiting) in 6 trials (medians of trials, the highest 181 ms)."
    )
    assert hypothesis.estimate.effect == pytest.approx(0.1798), "that of the point where it is most"


def test_what_a_queue_adds_is_never_less_than_nothing() -> None:
    """It was "adds between 15 ms [−38.8 ms, 68.8 ms]"."""
    rows = [
        trial(f"{name} {repeat}", repeat=repeat, congestion_asked=name, rtt_median_ms=20.2 + wait_ms)
        for name, waits_ms in (("bbr", (1.0, 4.0, 40.0)), ("cubic", (190.0, 200.0, 210.0)))
        for repeat, wait_ms in enumerate(waits_ms, 1)
    ]
    [hypothesis] = bufferbloat_hypotheses(observed(*rows))
    # A standard error of 12.53 ms, and t(0.975; 2) = 4.303: a factor of exp(53.9 / 15) = 36.4.
    assert "adds between 15 ms [412 us, 546 ms] (the least of 2 points: bbr) and 200 ms [" in said(
        [hypothesis]
    )
    assert "logarithm of each mean" in hypothesis.method


def test_trials_that_are_missing_do_not_change_what_a_queue_adds_by_repeat() -> None:
    rows = [trial(n, repeat=n, rtt_median_ms=20.2 + 90 + 10 * n) for n in (1, 2, 3)]
    claim = said(bufferbloat_hypotheses(observed(*rows, trial(4, flows=16, rtt_median_ms=20.2 + 130))))
    assert " adds 110 ms [87.5 ms, 138 ms] to " in claim
    assert ". Means of repeats are without 1 trial of points that not all of these have. All that " in claim


def test_what_a_longer_path_takes_is_no_queue() -> None:
    """Trials whose only flow took the longer one of two paths: 40 ms of theirs are propagation."""
    rows = [trial(n, repeat=n, rtt_min_ms=10.2, rtt_median_ms=61.0) for n in (1, 2)]
    rows += [trial(n, repeat=n, rtt_min_ms=50.4, rtt_median_ms=108.0) for n in (3, 4)]
    claim = said(bufferbloat_hypotheses(observed(*rows)))
    assert claim.startswith("a → b: where the path is full its queue adds 54.1 ms [")
    assert " to round trips of 10.2 ms to 50.4 ms, the least of each trial, as trials took paths of " in claim
    assert " in 4 trials (medians of trials, the highest 57.6 ms)" in claim


def test_trials_whose_flows_take_paths_of_unlike_length_tell_no_queue() -> None:
    flows = {
        str(n): [
            LeastRoundTripRow(trial_id=str(n), flow=flow, least_us=least_us + n, acked_bytes=1)
            for flow, least_us in enumerate((10_200, 50_400))
        ]
        for n in (1, 2, 3)
    }
    rows = [trial(n, repeat=n, flows=2, rtt_min_ms=10.2, rtt_median_ms=74.0) for n in (1, 2, 3)]
    assert bufferbloat_hypotheses(observed(*rows), flows) == []
    rows += [trial(n, repeat=n, rtt_min_ms=10.2, rtt_median_ms=61.0) for n in (4, 5, 6)]
    claim = said(bufferbloat_hypotheses(observed(*rows), flows))
    assert " adds 50.8 ms [50.8 ms, 50.8 ms] to a round trip of 10.2 ms (123 KB waiting) in 3 of 6 " in claim
    assert ". That is without 3 trials whose flows took paths of unlike length: " in claim


@pytest.mark.parametrize(
    "unlike",
    [
        {"verdict": "send window"},  # a buffer handed over in bursts: 31.9 ms on 6.1 ms in a lab
        {"verdict": LOSS},
        {"rtt_median_ms": 38.0},  # less than a round trip
        {"rtt_min_ms": 2.0, "rtt_median_ms": 15.0},  # less than 20 ms
        {"rtt_median_ms": None},
    ],
)
def test_what_looks_like_bufferbloat_and_is_none_is_not_told(unlike: Row) -> None:
    assert bufferbloat_hypotheses(observed(trial(1, **unlike), trial(2, **unlike))) == []


def test_a_ceiling_of_autotuning_below_bandwidth_times_delay_is_told() -> None:
    # 96.5 Mbit/s · 175 ms / 8 = 2.11 MB; 2 MiB of buffer are 1 MiB of window: 47.9 Mbit/s.
    far = trial(1, rtt_min_ms=175.0, link_payload_bps=96.5e6, verdict="receive window")
    claim = said(autotuning_hypotheses(observed(far), hosts(rmem=2 << 20, wmem=16 << 20)))
    assert claim == (
        "a → b: autotuning cannot fill the path with 1 flow: each needs 2.11 MB in flight (96.5 Mbit/s × 175 "
        "ms), and net.ipv4.tcp_rmem of b ends at 2097152 B, of which about half becomes a receive window: "
        "about 47.9 Mbit/s."
    )
    both = autotuning_hypotheses(observed(far), hosts(rmem=2 << 20, wmem=1 << 20))
    assert [hypothesis.estimate.effect for hypothesis in both] == [pytest.approx(0.4967, rel=1e-3)] * 2
    # A send buffer limits the writer, not what is in flight: that was seen to be several times of it.
    assert said(both[:1]).startswith("a → b: autotuning may not fill the path with 1 flow: ")
    assert said(both[:1]).endswith(
        "net.ipv4.tcp_wmem of a ends at 1048576 B, all of which may be in flight, and at times more: about "
        "47.9 Mbit/s."
    )
    scale = {"net.ipv4.tcp_rmem": f"4096 131072 {2 << 20}", "net.ipv4.tcp_adv_win_scale": "-2"}
    old = {"b": {"kernel": "5.4.0-26-generic", "sysctls": scale}}
    claim = said(autotuning_hypotheses(observed(far), old))
    assert claim.endswith("of which about 25 % becomes a receive window: about 24.0 Mbit/s.")


def test_no_ceiling_is_told_where_it_suffices_is_not_known_or_does_not_count() -> None:
    far = trial(1, rtt_min_ms=175.0, link_payload_bps=96.5e6)
    low = hosts(rmem=2 << 20, wmem=1 << 20)
    assert autotuning_hypotheses(observed(far), low) != []
    assert autotuning_hypotheses(observed(far), hosts(rmem=6 << 20, wmem=3 << 20)) == []
    assert autotuning_hypotheses(observed(far | {"goodput_bps": 95e6}), low) == [], "it was filled"
    assert autotuning_hypotheses(observed(far), None) == []
    assert autotuning_hypotheses(observed(far | {"flows": 4}), low) == []
    asked = far | {"window_send_bytes": 1 << 20, "window_recv_bytes": 1 << 20}
    assert autotuning_hypotheses(observed(asked), low) == []


@pytest.mark.parametrize("share", [0.25, 0.0526, None])
def test_of_a_path_that_others_may_use_nothing_is_promised(share: float | None) -> None:
    far = trial(1, rtt_min_ms=175.0, link_payload_bps=96.5e6, goodput_bps=10e6, background=["cubic"])
    [told] = autotuning_hypotheses(observed(far | {"share": share}), hosts(rmem=1 << 20, wmem=16 << 20))
    assert told.estimate.effect is None
    assert "cannot fill the path (of which cubic may have a part) with 1 flow" in told.say("described")


def test_links_that_count_their_drops_are_believed() -> None:
    small = trial(1, verdict=QUEUE, rtt_at_loss_ms=21.2, link_queue_drops=54, link_random_drops=0)
    assert said(drop_hypotheses(observed(small), {})) == (
        "a → b: the emulated link's queue overflowed in 1 trial: packets were dropped at a full queue in 54 "
        "intervals of 100 ms, at random in none; round trips then are 1 ms longer than the minimum."
    )
    [found] = drop_hypotheses(observed(small, trial(2, verdict=QUEUE, recoveries=1)), {})
    assert found.evidence == (small["trial_id"],), "the one whose link did not drop is no evidence"
    unknown = small | {"rtt_at_loss_ms": None}
    assert said(drop_hypotheses(observed(unknown), {})).endswith(
        "in 1 trial: packets were dropped at a full queue in 54 intervals of 100 ms, at random in none."
    )
    random = trial(1, verdict=LOSS, link_queue_drops=1, link_random_drops=40)
    assert said(drop_hypotheses(observed(random), {})).endswith(
        "loses packets at random, in 1 trial: packets were dropped at random in 40 intervals of 100 ms, at a "
        "full queue in 1."
    )
    both = trial(1, verdict=LOSS, link_queue_drops=20, link_random_drops=20)
    assert said(drop_hypotheses(observed(both), {})).endswith(
        "drops packets for more than one reason, in 1 trial: packets were dropped at a full queue in 20 "
        "intervals of 100 ms, at random in 20."
    )


@pytest.mark.parametrize(
    ("most", "other"),
    [
        ("link_queue_drops", "link_random_drops"),
        ("link_random_drops", "link_queue_drops"),
        ("link_policer_drops", "link_random_drops"),
    ],
)
def test_trials_in_which_something_else_dropped_are_no_evidence_of_the_main_cause(
    most: str, other: str
) -> None:
    """The queue was said to overflow in 12 trials: in 4 of them packets were lost at random only."""
    none = {"link_queue_drops": 0, "link_random_drops": 0, "link_policer_drops": 0, "rtt_at_loss_ms": 21.2}
    rows = [
        trial(
            number, verdict=LOSS, **none | ({most: 30} if number <= 8 else {other: 2, "rtt_at_loss_ms": 900})
        )
        for number in range(1, 13)
    ]
    [found] = drop_hypotheses(observed(*rows), {})
    assert " in 8 of 12 trials: " in found.say("described")
    assert " in 240 intervals of 100 ms, " in found.say("described")
    assert " (in 4 other trials packets were dropped otherwise)" in found.say("described")
    assert " in 8 intervals" not in found.say("described"), "of the other cause, in those others"
    assert found.evidence == tuple(row["trial_id"] for row in rows[:8])
    if most == "link_queue_drops":
        assert found.say("described").endswith("; round trips then are 1 ms longer than the minimum.")


@pytest.mark.parametrize("duration_s", [3_600.0, 86_400.0])
def test_counters_of_a_trial_of_an_hour_or_more_are_of_longer_intervals(duration_s: float) -> None:
    long = trial(1, verdict=LOSS, link_queue_drops=1, link_random_drops=40, duration_s=duration_s)
    [found] = drop_hypotheses(observed(long), {})
    assert "at random in 40 intervals of 100 ms or more, at a full queue in 1" in found.say("described")
    assert found.method.startswith("intervals of 100 ms or more in which")


def test_what_overflows_is_tied_to_its_window() -> None:
    rows = [
        trial(number, verdict=QUEUE, rtt_at_loss_ms=21.2, window_sum_bytes=size, flows=1,
              link_queue_drops=9 if size == 1 << 20 else 0, recoveries=int(size == 1 << 20))
        for number, size in enumerate([1 << 18, 1 << 19, 1 << 20] * 2)
    ]  # fmt: skip
    assert said(drop_hypotheses(observed(*rows), {})).startswith(
        "a → b: the emulated link's queue overflowed in 2 of 6 trials (window sum from 1 MiB on): "
    )


def test_a_policer_of_a_link_is_called_so_and_no_samples_are_asked() -> None:
    policed = trial(1, verdict=LOSS, link_queue_drops=1, link_random_drops=0, link_policer_drops=40)
    assert lossy_trials([policed]) == []
    [found] = drop_hypotheses(observed(policed), {})
    assert found.say("described") == (
        "a → b: the emulated link's policer drops what exceeds its rate, in 1 trial: packets were dropped by "
        "the policer in 40 intervals of 100 ms, at a full queue in 1, at random in none. Sending at its rate "
        "loses less."
    )
    assert found.estimate.effect == pytest.approx(1 / 41)
    mixed = trial(1, verdict=LOSS, link_queue_drops=20, link_random_drops=0, link_policer_drops=20)
    assert said(drop_hypotheses(observed(mixed), {})).endswith(
        "in 1 trial: packets were dropped at a full queue in 20 intervals of 100 ms, by the policer in 20, "
        "at random in none."
    )


def test_beside_background_traffic_links_tell_what_drops_where_there_is_one_reason() -> None:
    counts = {"link_queue_drops": 1, "link_random_drops": 0, "link_policer_drops": 40, "rtt_at_loss_ms": None}
    mixed = trial(1, verdict=LOSS, background=["datagrams"], **counts)
    probed = mixed | {"background": ["probe"]}
    assert (lossy_trials([mixed]), lossy_trials([probed])) == ([mixed["trial_id"]], [])
    assert drop_hypotheses(observed(mixed), {}) == []
    alone = mixed | {"link_queue_drops": 0}
    assert "the emulated link's policer drops" in said(drop_hypotheses(observed(alone), {}))


def test_a_full_queue_of_an_unknown_path_is_seen_by_its_round_trips() -> None:
    assert said(drop_hypotheses(observed(trial(1), trial(2)), {})) == (
        "a → b: a full queue drops, in 2 trials: round trips are 400 ms longer than the minimum when packets "
        "are lost."
    )


def test_fewer_trials_than_the_path_limits_are_counted_against_them() -> None:
    """Beside "the path itself limits all 3 trials" a bare "2 trials" would be another count of the same."""
    rows = [trial(1), trial(2), trial(3, recoveries=0, rtt_median_ms=None)]
    assert "a full queue drops, in 2 of 3 trials: " in said(drop_hypotheses(observed(*rows), {}))
    told = said(bufferbloat_hypotheses(observed(*rows)))
    assert " in 2 of 3 trials (medians of trials, the highest 285 ms)" in told


@pytest.mark.parametrize(
    ("path", "words"),
    [
        (DropPath("random", rate_bps=400e6), "packets are lost at any goodput, and no queue stands"),
        (DropPath("shallow"), "a shallow buffer, or a policer that lets no burst pass"),
        (DropPath("policer"), "a policer drops: trials begin 2."),
    ],
    ids=["at random", "a shallow buffer", "a policer"],
)
def test_drops_without_a_queue_are_told_by_when_they_come(path: DropPath, words: str) -> None:
    rows = [trial(name, verdict=LOSS, rtt_median_ms=20.5, rtt_at_loss_ms=21.0) for name in range(6)]
    assert lossy_trials(rows) == [row["trial_id"] for row in rows]
    traces = {row["trial_id"]: trace(path, seed) for seed, row in enumerate(rows)}
    [hypothesis] = drop_hypotheses(observed(*rows), traces)
    assert words in hypothesis.say("described")
    assert hypothesis.estimate.effect is not None
    assert hypothesis.estimate.low is not None
    assert hypothesis.estimate.low < hypothesis.estimate.effect


def test_few_trials_are_looked_at_and_only_those_that_need_it() -> None:
    many = [trial(name, verdict=LOSS, rtt_at_loss_ms=21.0) for name in range(1_000)]
    chosen = lossy_trials(many)
    assert len(chosen) <= TRIALS_MAX
    assert np.diff([int(name) for name in chosen]).max() <= 5
    others = [trial(1), trial(2, verdict=LOSS, link_queue_drops=3), trial(3, verdict=LOSS)]
    assert lossy_trials(others) == []


def test_trials_without_losses_say_nothing_of_drops() -> None:
    assert drop_hypotheses(observed(trial(1, recoveries=0), trial(2, verdict="receive window")), {}) == []
