"""What findings and figures tell of round-trip times, from rows of a summary."""

from typing import Any

import pytest

from flowsweep.analysis.findings.multiple_testing import decided
from flowsweep.analysis.tests.rtt.findings import rtt_hypotheses
from flowsweep.figures.drawing import FigureData, figure_of
from flowsweep.figures.tests.rtt.message_size import drawn_sizes
from flowsweep.figures.tests.rtt.round_trips import drawn_round_trips

Row = dict[str, Any]


def probed(repeat: int, idle_ms: float, loaded_ms: float) -> Row:
    return of(repeat) | {"test": "tcp", "rtt_idle_ms": idle_ms, "rtt_loaded_ms": loaded_ms}


def sized(repeat: int, length_bytes: int, least_ms: float) -> Row:
    times = {"rtt_probe_min_ms": least_ms, "rtt_probe_median_ms": least_ms + 0.1}
    return of(repeat) | {"test": "rtt", "length_bytes": length_bytes, **times}


def of(repeat: int) -> Row:
    return {
        "trial_id": f"trial-{repeat}", "sweep": "s", "mode": "copy", "src": "a", "dst": "b", "repeat": repeat,
        "status": "ok", "echo": "udp", "length_bytes": None,
    }  # fmt: skip


def test_the_growth_under_load_is_told_with_its_interval() -> None:
    rows = [probed(1, 10.0, 87.0), probed(2, 10.0, 88.0), probed(3, 10.0, 89.0)]
    (found,) = decided(rtt_hypotheses(rows))
    # The mean growth is 78 ms, its standard error 1 / sqrt(3) ms, and t(0.975; 2) = 4.303.
    assert (found.kind, found.decision, found.effect_unit, found.n) == ("latency", "effect", "s", 3)
    assert found.effect == pytest.approx(0.078)
    assert found.interval_low == pytest.approx(0.078 - 4.303e-3 / 3**0.5, abs=1e-6)
    assert (
        found.claim == "a → b: under load the round trip grows from 10.0 to 88.0 ms, by 78.0 ms [75.5, 80.5]."
    )


def test_a_round_trip_that_falls_under_load_falls_by_what_is_above_0() -> None:
    """It fell "by -5.00 ms [-7.48, -2.52]"."""
    (found,) = decided(rtt_hypotheses([probed(1, 15.0, 9.0), probed(2, 15.0, 10.0), probed(3, 15.0, 11.0)]))
    assert (found.decision, found.effect) == ("effect", pytest.approx(-0.005))
    assert found.claim.endswith("the round trip falls from 15.0 to 10.0 ms, by 5.00 ms [2.52, 7.48].")
    fast, slow = (
        [probed(n, idle, idle - 4.0 - n) | {"congestion_asked": name} for n in (1, 2, 3)]
        for name, idle in (("bbr", 15.0), ("cubic", 30.0))
    )
    (unlike,) = decided(rtt_hypotheses([*fast, *slow]))
    assert unlike.claim.endswith("the round trip falls by 6.00 ms [3.52, 8.48] (idle 15.0 to 30.0 ms).")


def test_load_of_both_ways_at_once_is_not_told_as_that_of_one() -> None:
    both = [
        probed(repeat, 10.0, 60.0 + repeat) | {"src": src, "dst": dst, "simultaneous": True}
        for src, dst in (("a", "b"), ("b", "a"))
        for repeat in (1, 2, 3)
    ]
    alone = [probed(repeat, 10.0, 20.0 + repeat) for repeat in (1, 2, 3)]
    found = decided(rtt_hypotheses([*both, *alone]))
    assert [one.direction for one in found] == ["a ⇄ b", "b ⇄ a", "a → b"]
    assert [one.claim.split(":")[0] for one in found] == ["a ⇄ b", "b ⇄ a", "a → b"]
    assert [one.effect for one in found] == pytest.approx([0.052, 0.052, 0.012])
    (there, *_) = found
    echoes = [{"trial_id": "trial-1", "phase": "loaded", "sent_ns": 10**9, "rtt_ns": 61_000_000}]
    drawn = drawn_round_trips(FigureData(trials=both[:1], cells=[], echoes=echoes))
    assert figure_of(there.figure, drawn) is drawn[0], "a finding that no figure shows"


def test_points_that_differ_are_told_apart_and_no_mean_of_them() -> None:
    """A mean over bbr's 6 ms and CUBIC's 130 to 185 ms is what no trial had."""
    rows = [
        probed(repeat, 14.0, 14.0 + grown_ms + repeat - 2) | {"congestion_asked": name, "flows": flows}
        for name, flows, grown_ms in (
            ("bbr", 1, 6.0),
            ("bbr", 4, 44.0),
            ("cubic", 1, 130.0),
            ("cubic", 4, 185.0),
        )
        for repeat in (1, 2, 3)
    ]
    (found,) = decided(rtt_hypotheses(rows))
    # Each point scatters by 1 ms: t(0.975; 2) / sqrt(3) = 2.484.
    assert found.claim == (
        "a → b: under load the round trip grows from 14.0 ms by between 6 ms [3.52 ms, 8.48 ms] (the "
        "least of 4 points: 1 flow, bbr) and 185 ms [183 ms, 187 ms] (the most: 4 flows, cubic)."
    )
    assert (found.decision, found.effect) == ("effect", pytest.approx(0.185))
    alike = [row | {"rtt_loaded_ms": 88.0 + 5 * row["repeat"]} for row in rows]
    (found,) = decided(rtt_hypotheses(alike))
    assert "from 14.0 to 98.0 ms, by 84.0 ms [" in found.claim


@pytest.mark.parametrize(
    ("repeats", "idle_ms", "said"),
    [
        ((1, 2), (14.0, 14.0), "grows from 14 ms by between 8 ms (the least of 2 points: bbr) and 187 ms"),
        (
            (1, 2, 3),
            (14.0, 300.0),
            "grows by between 8 ms [5.52 ms, 10.5 ms] (the least of 2 points: bbr, idle",
        ),
        ((1, 2, 3), (14.0, 300.0), "and 187 ms [185 ms, 189 ms] (the most: cubic, idle 300 ms)."),
        ((1, 2, 3), (14.0, 14.2), "grows from 14.1 ms by between 8 ms ["),
    ],
)
def test_points_that_differ_are_told_apart_of_few_repeats_and_when_idle(
    repeats: tuple[int, ...], idle_ms: tuple[float, float], said: str
) -> None:
    """Of two repeats "112 ms under load" was said where one point had 23 ms, the other 202."""
    middle = sum(repeats) / len(repeats)
    rows = [
        probed(repeat, idle, idle + grown_ms + repeat - middle)
        | {"congestion_asked": name, "trial_id": f"{name}-{repeat}"}
        for name, idle, grown_ms in (("bbr", idle_ms[0], 8.0), ("cubic", idle_ms[1], 187.0))
        for repeat in repeats
    ]
    (found,) = decided(rtt_hypotheses(rows))
    assert said in found.claim
    assert found.claim.endswith("(4 trials: not tested).") == (len(repeats) == 2)
    assert found.effect == pytest.approx(0.187)


@pytest.mark.parametrize(
    ("repeats", "loaded_ms", "said"),
    [
        ((1, 2, 3), (66.0, 352.0), "grows by 52.0 ms [49.5, 54.5] (idle 14.0 to 300 ms)."),
        (
            (1, 2),
            (66.0, 352.0),
            "the round trip is 14 ms to 300 ms idle and 65.5 ms to 352 ms under load (4 trials: not tested).",
        ),
        ((1,), (20.0, 310.0), "14 ms to 300 ms idle and 19 ms to 309 ms under load (2 trials: not tested)."),
    ],
)
def test_no_mean_is_told_of_points_that_differ_when_idle(
    repeats: tuple[int, ...], loaded_ms: tuple[float, float], said: str
) -> None:
    """Both grow alike: "from 157 to 209 ms" was said, which is what neither had."""
    rows = [
        probed(repeat, idle_ms, loaded + repeat - 2) | {"congestion_asked": name}
        for name, idle_ms, loaded in (("bbr", 14.0, loaded_ms[0]), ("cubic", 300.0, loaded_ms[1]))
        for repeat in repeats
    ]
    (found,) = decided(rtt_hypotheses(rows))
    assert found.claim.endswith(said)


def test_points_that_ran_once_are_told_with_the_least_and_the_most() -> None:
    """Of 20 ms and 200 ms "110 ms under load" was said."""
    rows = [probed(1, 14.0, loaded) | {"flows": flows} for flows, loaded in ((1, 20.0), (8, 200.0))]
    (found,) = decided(rtt_hypotheses(rows))
    assert found.claim == (
        "a → b: the round trip is 14 ms idle and 20 ms to 200 ms under load (2 trials: not tested)."
    )


def test_the_trials_of_the_sentence_are_those_that_count() -> None:
    rows = [
        probed(repeat, 14.0, 20.0 + repeat / 10) | {"flows": flows} for repeat in (1, 2) for flows in (1, 2)
    ]
    (found,) = decided(rtt_hypotheses([*rows, probed(1, 14.0, 20.2) | {"flows": 3}]))
    assert "(4 trials: not tested). Means of repeats are without 1 trial" in found.claim
    assert found.n == 4


def test_trials_that_are_missing_do_not_change_what_repeats_are_means_of() -> None:
    """Of 16 flows only the first repeat was left: means of 96, 6 and 6 ms were "not clear"."""
    rows = [probed(repeat, 14.0, 20.3 + 0.1 * repeat) | {"flows": 1} for repeat in (1, 2, 3)]
    (found,) = decided(rtt_hypotheses([*rows, probed(1, 14.0, 199.0) | {"flows": 16}]))
    assert found.decision == "effect"
    assert found.claim.startswith("a → b: under load the round trip grows from 14.0 ms by between 6.50 ms [")
    assert found.claim.endswith(" and 185 ms (the most: 16 flows)."), "no mean over repeats is told"
    assert found.n == 4


def test_a_repeat_that_broke_off_does_not_leave_out_the_points_of_the_others() -> None:
    whole = [
        probed(repeat, 14.0, 88.0 + repeat) | {"flows": flows}
        for repeat in (1, 2, 3)
        for flows in range(1, 9)
    ]
    (found,) = decided(rtt_hypotheses([*whole, probed(4, 14.0, 92.0) | {"flows": 1}]))
    assert "from 14.0 to 90.0 ms, by 76.0 ms [73.5, 78.5]." in found.claim
    assert found.n == 24
    assert found.claim.endswith(" Means of repeats are without 1 trial of points that not all of these have.")
    unlike = [probed(repeat, 14.0, 88.0 + repeat) | {"flows": repeat} for repeat in (1, 2, 3)]
    (found,) = decided(rtt_hypotheses(unlike))
    assert (found.decision, found.interval_low) == ("described", None), "repeats that share no point"


def test_a_growth_that_may_be_chance_is_not_claimed() -> None:
    rows = [probed(1, 10.0, 10.5), probed(2, 10.0, 9.0), probed(3, 10.0, 11.0)]
    (found,) = decided(rtt_hypotheses(rows))
    assert found.decision == "undecided"
    assert "not clear" in found.claim


def test_a_single_trial_only_describes() -> None:
    (found,) = decided(rtt_hypotheses([probed(1, 10.0, 88.0)]))
    assert (found.decision, found.interval_low) == ("described", None)
    assert found.claim == "a → b: the round trip is 10 ms idle and 88 ms under load (1 trial: not tested)."


def test_times_below_a_millisecond_are_told_in_microseconds() -> None:
    (single,) = decided(rtt_hypotheses([probed(1, 0.0167, 0.0171)]))
    assert single.claim.endswith("is 16.7 us idle and 17.1 us under load (1 trial: not tested).")
    rows = [probed(1, 0.1, 0.187), probed(2, 0.1, 0.188), probed(3, 0.1, 0.189)]
    (found,) = decided(rtt_hypotheses(rows))
    assert found.claim.endswith("grows from 100 to 188 us, by 88.0 us [85.5, 90.5].")


def test_a_byte_more_costs_what_the_line_says() -> None:
    rows = [sized(repeat, length, 4.0 + length * 160e-6) for repeat in (1, 2) for length in (64, 512, 1472)]
    (found,) = decided(rtt_hypotheses(rows))
    assert (found.kind, found.effect_unit, found.n) == ("message_size", "ns/byte", 6)
    assert found.effect == pytest.approx(160.0)
    assert found.claim == "a → b: each byte more takes 160 ns [160, 160] longer, there and back (udp)."


def test_a_byte_more_on_paths_of_both_ip_versions_is_told_of_each() -> None:
    """A line through both had a slope in between, and was "not clear"."""
    rows = [
        sized(repeat, length, base_ms + length * ns_per_byte * 1e-6) | {"family": family}
        for family, base_ms, ns_per_byte in ((4, 10.0, 800), (6, 40.0, 8000))
        for length in (64, 512, 1400)
        for repeat in (1, 2, 3)
    ]
    fourth, sixth = decided(rtt_hypotheses(rows))
    assert fourth.claim == (
        "a → b: each byte more takes 800 ns [800, 800] longer, there and back (udp, IP version IPv4)."
    )
    assert sixth.claim == (
        "a → b: each byte more takes 8000 ns [8000, 8000] longer, there and back (udp, IP version IPv6)."
    )
    assert (fourth.n, sixth.n) == (9, 9)


def test_two_sizes_are_no_line() -> None:
    assert rtt_hypotheses([sized(1, 64, 4.0), sized(1, 1472, 4.3)]) == []


def test_phases_are_drawn_with_what_was_lost() -> None:
    times = [(-1, "idle", 10.0), (1, "loaded", 88.0), (2, "loaded", None), (9, "after", 11.0)]
    echoes = [
        {
            "trial_id": "trial-1", "phase": phase, "sent_ns": sent_s * 10**9,
            "rtt_ns": None if rtt_ms is None else round(rtt_ms * 1e6),
        }
        for sent_s, phase, rtt_ms in times
    ]  # fmt: skip
    data = FigureData(trials=[probed(1, 10.0, 88.0)], cells=[], echoes=echoes)
    over_time, distribution = drawn_round_trips(data)
    names = [trace.name for trace in over_time.figure.data]
    assert names == ["idle", "loaded", "loaded, lost", "after"]
    assert [row["rtt_ms"] for row in over_time.rows] == [10.0, 88.0, None, 11.0]
    shares = {row["series"]: row["share_of_probes_percent"] for row in distribution.rows}
    assert shares == {"idle": 100.0, "loaded": 50.0, "after": 100.0}


def test_sizes_are_drawn_with_the_quickest_and_the_median() -> None:
    trials = [
        sized(number, length, 4.0) | {"trial_id": f"trial-{number}"}
        for number, length in enumerate((64, 1472))
    ]
    (drawn,) = drawn_sizes(FigureData(trials=trials, cells=[]))
    assert [list(trace.x) for trace in drawn.figure.data] == [[64, 1472], [64, 1472]]
    assert drawn.rows[0]["rtt_probe_min_ms"] == 4.0


def test_sizes_of_which_half_of_the_probes_were_lost_have_no_median() -> None:
    """One such trial took the whole report along."""
    trials = [
        sized(repeat, length, 4.0 + repeat)
        | {"trial_id": f"{repeat}-{length}"}
        | ({"rtt_probe_median_ms": None} if (repeat, length) in ((1, 64), (1, 1472), (2, 1472)) else {})
        for repeat in (1, 2)
        for length in (64, 1472)
    ]
    (drawn,) = drawn_sizes(FigureData(trials=trials, cells=[]))
    least, middle = drawn.figure.data
    assert list(least.y) == [5.5, 5.5]
    assert list(middle.y) == [6.1, None]
    assert drawn.caption.endswith(" Medians are without 3 trials that lost half of the probes, or more.")


def test_trials_that_lost_most_probes_under_load_are_counted() -> None:
    lost = [probed(repeat, 10.0, 0.0) | {"rtt_loaded_ms": None, "rtt_loaded_loss": 0.6} for repeat in (4, 5)]
    rows = [probed(1, 10.0, 87.0), probed(2, 10.0, 88.0), probed(3, 10.0, 89.0), *lost]
    (found,) = decided(rtt_hypotheses(rows))
    assert (found.decision, found.n) == ("effect", 3)
    assert found.evidence == ("trial-1", "trial-2", "trial-3"), "the others have no part in it"
    assert found.claim.endswith(" That is without 2 trials that lost half of the probes under load, or more.")
    assert not decided(rtt_hypotheses(lost))


def test_a_size_that_does_not_matter_is_not_said_to() -> None:
    noise = (0.2, -0.3, 0.1, -0.1, 0.3, -0.2)
    rows = [sized(1, 64 * 4**at, 4.0 + each) for at, each in enumerate(noise)]
    (found,) = decided(rtt_hypotheses(rows))
    assert found.interval_low is not None
    assert found.interval_low < 0
    assert "whether longer messages take longer is not clear" in found.claim


def test_times_that_are_all_alike_are_said_to_be() -> None:
    """They were "0 ns [nan, nan] longer"."""
    (found,) = decided(rtt_hypotheses([sized(1, length, 10.0) for length in (64, 512, 1472)]))
    assert found.claim == "a → b: longer messages take no longer, 10 ms at each length, there and back (udp)."
    assert (found.effect, found.interval_low, found.interval_high) == (0.0, None, None)
