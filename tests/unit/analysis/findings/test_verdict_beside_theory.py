"""What is said of a verdict where a window, a link or congestion control alone does not explain goodput."""

from typing import Any

from flowsweep.analysis.findings.advice import window_advice
from flowsweep.analysis.findings.theory import theory_hypotheses
from flowsweep.analysis.findings.verdict import verdict_hypotheses
from flowsweep.analysis.statistics.observations import DIRECTION
from flowsweep.analysis.verdict_words import limit_words
from queued_trials import observed

Row = dict[str, Any]
KIB = 1024


def trial(**changes: Any) -> Row:
    """A trial from "slac" to "in2p3" whose send window is asked for."""
    usual: Row = {
        "trial_id": "t", "test": "tcp", "sweep": "s", "repeat": 1, "src": "slac", "dst": "in2p3", "flows": 1,
        "window_bytes": None, "window_send_bytes": 32 * KIB, "window_recv_bytes": None,
        "congestion": "cubic", "rtt_min_ms": 44.24, DIRECTION: "slac → in2p3",
    }  # fmt: skip
    return usual | changes


def test_more_than_a_link_can_carry_is_explained_by_the_mean_over_a_trial() -> None:
    """Medians of bbr's intervals were 1.05 times what the link carries."""
    rows = [
        trial(repeat=repeat, verdict="congestion window: queue", goodput_bps=201e6, goodput_mean_bps=193e6,
              link_payload_bps=193.07e6)
        for repeat in (1, 2, 3)
    ]  # fmt: skip
    [compared] = theory_hypotheses(observed(*rows))
    assert compared.say("described").endswith(
        "goodput is 1.04 [1.04, 1.04] of what its packets can carry as payload. These are medians of "
        "intervals, and no mean of what the link carried: data that waited behind a lost packet, or in a "
        "buffer, count when they are read. In the mean over a trial it is 1.00 [1.00, 1.00]."
    )
    [compared] = theory_hypotheses(observed(*(row | {"goodput_bps": 193e6} for row in rows)))
    assert "medians of intervals" not in compared.say("described")
    losing = [row | {"goodput_bps": 193e6, "goodput_mean_bps": 185e6} for row in rows]
    [compared] = theory_hypotheses(observed(*losing))
    assert compared.say("described").endswith(
        "of what its packets can carry as payload. That is of median intervals; in the mean over a trial it "
        "is 0.958 [0.958, 0.958]."
    )


def test_more_than_a_window_allows_is_explained_by_the_mean_over_a_trial() -> None:
    """Five rounds in the median interval of 200 ms, where the mean over the trial has 4.9."""
    rows = [
        trial(repeat=repeat, verdict="receive window", goodput_bps=2.32e6, goodput_mean_bps=2.25e6,
              theory_window_bps=2.3e6)
        for repeat in (1, 2, 3)
    ]  # fmt: skip
    [compared] = theory_hypotheses(observed(*rows))
    assert compared.say("described").endswith(
        " These are medians of intervals, some of which hold one window more than others; in the mean over a "
        "trial the highest point is at 0.978."
    )
    [compared] = theory_hypotheses(observed(*(row | {"goodput_bps": 2.25e6} for row in rows)))
    assert compared.say("described").endswith(" minimum round trip.")


def test_a_flight_far_beyond_the_send_buffer_is_no_window() -> None:
    """32 KiB asked for, 64 KiB granted, up to 893 KB in flight at moments, where 801 KB fill the path."""
    held = trial(
        verdict="send window", goodput_bps=59e6, window_granted_send_bytes=64 * KIB,
        window_usable_bytes=893_415, theory_window_bps=162e6,
    )  # fmt: skip
    assert theory_hypotheses(observed(held)) == []
    [compared] = theory_hypotheses(observed(held | {"window_granted_send_bytes": 800_000}))
    assert "goodput is 0.364 of the most that they allow" in compared.say("described")
    advice = window_advice(held, path_bps=144.8e6)
    assert advice is not None
    assert advice.sentence.startswith(
        "To fill the path, 801 KB have to be in flight all of the time, and the send window of slac lets "
        'them be at moments only (up to 893 KB): `window_send = "832KiB"` in the plan, and '
    )


def test_acknowledgements_in_the_other_directions_queue_are_no_full_path() -> None:
    held = trial(verdict="congestion window: reverse queue", goodput_bps=12.0e6, link_payload_bps=57.9e6)
    [hypothesis] = verdict_hypotheses(observed(held, held, held))
    assert hypothesis.say("described").endswith(
        ": the queue of the other direction, in which acknowledgements wait, limits all 3 trials, at 12.0 "
        "Mbit/s of 57.9 Mbit/s."
    )
    assert theory_hypotheses(observed(held)) == []


def test_congestion_control_is_named_where_it_accounts_for_the_time_of_quic() -> None:
    held = trial(test="quic", verdict="not clear", congestion_limited_share=0.983)
    [hypothesis] = verdict_hypotheses(observed(held, held, held))
    assert hypothesis.say("described").endswith(
        "it is not clear what limits all 3 trials, congestion control held the source back for 98.3 % of the "
        "time (median of the trials), and nothing tells a full path from losses at random."
    )
    less = held | {"congestion_limited_share": 0.5}
    assert "congestion control" not in verdict_hypotheses(observed(held, less))[0].say("described")


def test_congestion_control_that_loses_nothing_may_still_grow() -> None:
    """A second over 200 ms: slow start throughout."""
    held = trial(test="quic", verdict="not clear", congestion_limited_share=0.983)
    growing, lossy = held | {"packets_lost": 0}, held | {"packets_lost": 7}

    def said(*rows: Row) -> str:
        [hypothesis] = verdict_hypotheses(observed(*rows))
        return hypothesis.say("described").partition("of the time (median of the trials)")[2]

    either = "its window may still have been growing (measure longer), or it keeps to a rate that it found."
    assert said(growing, growing) == f", and no packet was lost: {either}"
    assert said(lossy, lossy) == ", and nothing tells a full path from losses at random."
    assert said(growing, lossy, lossy) == (
        f"; nothing tells a full path from losses at random, and 1 of them lost no packet: there {either}"
    )


def test_a_queue_that_acknowledgements_of_the_other_direction_fill_does_not_drop_early() -> None:
    both = {
        "verdict": "congestion window: queue",
        "goodput_bps": 80e6,
        "link_queue_drops": 9,
        "simultaneous": True,
        "link_payload_bps": 96.5e6,
    }
    full, early = trial(link_queued_share=1.0, **both), trial(link_queued_share=0.4, **both)
    [hypothesis] = verdict_hypotheses(observed(full, early))
    assert hypothesis.say("described") == (
        "slac → in2p3: the path itself limits 1 of 2 trials, at 80.0 Mbit/s of 96.5 Mbit/s; the path's "
        "queue, which drops before the path is full, limits 1 of 2 trials, at 80.0 Mbit/s of 96.5 Mbit/s."
    )


def test_where_packets_wait_that_may_be_in_either_direction_is_said() -> None:
    unknown = {"verdict": "not clear", "simultaneous": True, "link_payload_bps": None, "rtt_min_ms": 16.0}
    waiting = trial(rtt_median_ms=118.6, **unknown)
    [hypothesis] = verdict_hypotheses(observed(waiting, waiting))
    assert hypothesis.say("described") == (
        "slac → in2p3: it is not clear what limits both trials, round trips are 103 ms longer than the "
        "minimum (in the median), in the queue of this direction or in that of the other, which was in use "
        "at the same time."
    )
    for other in (
        trial(rtt_median_ms=18.5, **unknown),
        trial(rtt_median_ms=118.6, **unknown | {"simultaneous": False}),
    ):
        [hypothesis] = verdict_hypotheses(observed(waiting, other))
        assert "round trips" not in hypothesis.say("described")


def test_what_losses_cost_in_the_mean_stands_beside_a_full_link() -> None:
    full: Row = {
        "verdict": "congestion window: queue",
        "goodput_bps": 96.5e6,
        "limit_cwnd_share": 1.0,
        "link_payload_bps": 96.53e6,
    }
    alike, losing = (trial(trial_id=str(mean), goodput_mean_bps=mean, **full) for mean in (96.5e6, 92e6))
    [told] = verdict_hypotheses(observed(alike, losing))
    assert told.say("described").endswith(
        " at a median of 96.5 Mbit/s, all that the link carries (96.5 Mbit/s in median intervals, "
        "92.0 Mbit/s to 96.5 Mbit/s in the mean over a trial)."
    )
    [told] = verdict_hypotheses(observed(alike, alike))
    assert told.say("described").endswith(" at the 96.5 Mbit/s that the link carries.")


def test_full_windows_at_long_round_trips_are_said_where_nothing_tells_a_queue_from_jitter() -> None:
    shares = {"limit_rwnd_share": 0.9, "limit_send_buffer_share": 0.1}
    unclear = {"verdict": "not clear", "link_payload_bps": None, "rtt_min_ms": 8.0, **shares}
    waiting = trial(rtt_median_ms=13.0, **unclear)
    why = "windows beyond what the path carries, which fill a queue, or round trips that vary by themselves."
    [hypothesis] = verdict_hypotheses(observed(waiting, waiting))
    assert hypothesis.say("described") == (
        "slac → in2p3: it is not clear what limits both trials, windows were full for 100 % of the "
        f"time, and round trips 5 ms longer than the minimum (medians of the trials): {why}"
    )
    meaning = f"Windows were full for 100 % of the time, and round trips 5 ms longer than the minimum: {why}"
    assert limit_words(waiting) == ("not clear", meaning)
    for other in (
        trial(rtt_median_ms=9.5, **unclear),
        trial(rtt_median_ms=13.0, **unclear | {"simultaneous": True}),
        trial(rtt_median_ms=13.0, **unclear | {"limit_rwnd_share": 0.1}),
        trial(rtt_median_ms=13.0, **unclear | {"link_payload_bps": 9e7}),
        trial(rtt_median_ms=13.0, **unclear, thread_busy_send=0.95),
    ):
        [hypothesis] = verdict_hypotheses(observed(waiting, other))
        assert "windows were full" not in hypothesis.say("described")
        assert limit_words(other)[1] == "No cause accounts for enough of the trial to be named."
    [beside] = verdict_hypotheses(observed(waiting), {"t"})
    assert "windows were full" not in beside.say("described")
