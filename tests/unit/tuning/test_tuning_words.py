"""What an answer says limits a transfer, for each verdict that a trial of it can have."""

import tomllib
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import pytest

from flowsweep.analysis.verdicts import LOSS, NOT_CLEAR, QUEUE
from flowsweep.report.tuning import intervals, tuning_page
from flowsweep.tuning.answer import Answer, Direction, answer, as_json
from flowsweep.tuning.decide import Gain
from flowsweep.tuning.places import Place
from flowsweep.tuning.rounds import Round, Tried, timing
from flowsweep.tuning.settings import TODAY, Setting, Way
from flowsweep.tuning.words import gain_words, goodput_is, now_sentence, sentences, title, tried_lines
from tuned_paths import ENDS, PATHS, tried

if TYPE_CHECKING:
    from flowsweep.analysis.summarising.trial_row import TrialRow


def direction(*verdicts: str, **more: Any) -> Direction:
    made = []
    for way in Way:
        for block, verdict in enumerate(verdicts):
            for setting in (TODAY, Setting(2)):
                one = tried(way, setting, 1e8, PATHS[0], block=block)
                row = {**one.row, "verdict": verdict, "congestion": "cubic", **more}
                made.append(replace(one, row=cast("TrialRow", row)))
    found = answer(made, rtt_ms=20.0, hosts={}, ends=ENDS, hosts_text="", spent=(1.0, 1))
    return found.directions[0]


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        ("send window", "the send window limits it"),
        ("receive window", "the receive window limits it"),
        (LOSS, "the congestion window, held down by loss, limits it"),
        (QUEUE, "the path itself limits it"),
        ("sender CPU", "the sender's CPU limits it"),
        ("receiver CPU", "the receiver's CPU limits it"),
        ("application rate", "the rate that --budget leaves limits it"),
        ("host drops", "what the hosts drop limits it"),
        (NOT_CLEAR, "it is not clear what limits it"),
    ],
)
def test_each_verdict_has_a_sentence(verdict: str, said: str) -> None:
    assert now_sentence(direction(verdict)) == f"Today 1 flow (cubic) carries 100 Mbit/s; {said}."


def test_losses_are_not_put_on_a_congestion_window_that_was_not_full() -> None:
    assert now_sentence(direction(LOSS, limit_cwnd_share=0.0)).endswith("; loss limits it.")


def test_tools_know_what_limits() -> None:
    made = [
        replace(one, row=cast("TrialRow", {**one.row, "verdict": "sender CPU"}))
        for way in Way
        for block in range(3)
        for setting, ratio in ((TODAY, 1.0), (Setting(8), 4.0))
        for one in [trial(way, setting, 1e8 * ratio, block=block)]
    ]
    found = answer(made, rtt_ms=20.0, hosts={}, ends=ENDS, hosts_text="", spent=(1.0, 1))
    assert all("a CPU limits" in one.tools[0].notes[0] for one in found.directions)


def test_nothing_to_gain_is_said_of_what_was_tried() -> None:
    told = list(sentences(direction("receive window", "receive window", "receive window")))[-1]
    assert told == (
        "Nothing to set: of what was tried, nothing gains more than 3 %. Measured again, the only other "
        "setting gained nothing (95 %)."
    )


def finals_of(settings: Sequence[Setting], fails: Setting | None = None) -> Answer:
    """Eight settings, of which these were measured again; one carries ten times as much, and then fails."""
    made, rounds = [], []
    screened = [Setting(flows) for flows in range(1, 9)]
    for stage, of_stage, blocks in (("screening", screened, 2), ("finals", settings, 6)):
        both = dict.fromkeys(Way, tuple(of_stage))
        rounds.append(Round(stage, both, blocks, timing(1_500_000_000, 20.0)))  # type: ignore[arg-type]
        for way in Way:
            for block in range(blocks):
                for setting in of_stage:
                    varied = 1 + 0.001 * (block * setting.flows % 3)
                    goodput_bps = (1e9 if setting == fails else 1e8) * varied
                    if stage == "screening" or setting != fails:
                        made.append(trial(way, setting, goodput_bps, stage=stage, block=block))
    return answer(made, rtt_ms=20.0, hosts={}, ends=ENDS, hosts_text="", spent=(1.0, 1), rounds=rounds)


def test_a_finalist_of_which_all_trials_failed_is_not_said_to_gain_nothing() -> None:
    found = finals_of([TODAY, Setting(8), Setting(2)], fails=Setting(8))
    one = found.directions[0]
    (failed,) = [gain for gain in as_json(found)["directions"][0]["compared"] if gain["flows"] == 8]
    assert (failed["goodput_bps"], failed["gain_percent"]) == (None, None)
    assert [interval.setting for interval in intervals(one)] == [Setting(2).words]
    assert one.decision.outcome == "not shown"
    assert one.decision.most_percent is None
    alone = finals_of([TODAY, Setting(2)]).directions[0].decision.gains[0]
    beside = one.decision.gains[0]
    assert (beside.setting, beside.high_percent > alone.high_percent) == (alone.setting, True)  # type: ignore[operator]
    assert list(sentences(one))[1] == (
        "Nothing to set: 8 flows failed in 6 of 6 trials when it was measured again, today's in 0: what it "
        "gains is not known (7 other settings tried)."
    )


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ([TODAY, Setting(8), Setting(2)], "2 of 7 other settings, the best among them, gained"),
        ([TODAY, Setting(2)], "the best of 7 other settings, or one within 3 % of it, gained"),
    ],
)
def test_what_was_measured_again_is_the_best_and_others_near_it(settings: list[Setting], said: str) -> None:
    assert f"Measured again, {said}" in list(sentences(finals_of(settings).directions[0]))[1]


def test_a_sender_that_has_no_bbr_loaded_is_told_that_it_was_not_tried() -> None:
    made = [trial(way, setting, 1e8, block=block) for way in Way for block in range(3)
            for setting in (TODAY, Setting(2))]  # fmt: skip
    hosts = {"a": {"congestion_available": ["reno", "cubic"]}, "b": {"congestion_available": ["bbr"]}}
    found = answer(made, rtt_ms=20.0, hosts=hosts, ends=ENDS, hosts_text="", spent=(1.0, 1))
    there, back = found.directions
    said = "bbr was not tried: it is not loaded on a (`modprobe tcp_bbr` as root there)."
    assert [list(sentences(one))[-1] == said for one in (there, back)] == [True, False]
    assert [one["not_loaded"] for one in as_json(found)["directions"]] == ["bbr", None]


def test_hosts_have_the_names_that_were_written() -> None:
    """All that people read; for programs the names of plans stay, with these beside."""
    sysctls = {"net.ipv4.tcp_allowed_congestion_control": "reno", "net.core.netdev_max_backlog": "1000"}
    facts = {"congestion_available": ["reno", "cubic"], "congestion_default": "cubic", "sysctls": sysctls}
    made = [
        trial(way, setting, 1e8 * ratio, block=block)
        for way in Way
        for block in range(3)
        for setting, ratio in ((TODAY, 1.0), (Setting(2, congestion="htcp"), 2.0))
    ]
    places = {"a": Place("ssh:near\nhost"), "b": Place("ssh:far")}
    common: dict[str, Any] = {"rtt_ms": 20.0, "ends": ENDS, "hosts_text": "", "spent": (1.0, 1)}
    loads = {**facts, "congestion_available": ["reno", "cubic", "htcp"]}
    found = answer(made, hosts={"a": facts, "b": loads}, places=places, **common)
    there, back = found.directions
    assert [title(one) for one in (there, back)] == ["ssh:near host → ssh:far", "ssh:far → ssh:near host"]
    assert "ssh:near host ⇄ ssh:far" in tuning_page(found)
    assert "it is not loaded on ssh:near host (" in list(sentences(there))[-1]
    (iperf3,) = (one for one in back.tools if one.tool == "iperf3")
    assert iperf3.notes[0].endswith("` on ssh:far")
    assert "it is not loaded on ssh:near host (" in iperf3.notes[1]
    told = as_json(found)
    assert (told["directions"][0]["from"], told["directions"][0]["to"]) == ("a", "b")
    assert told["hosts"] == {"a": "ssh:near host", "b": "ssh:far"}
    same = answer(made, hosts={}, places={"a": Place("here"), "b": Place("here")}, **common)
    assert title(same.directions[0]) == "a → b", "names that are the same tell nobody anything"


def test_what_limits_is_said_of_the_trials_before_the_verification() -> None:
    (one, _) = once_more((2.0, 2.01, 1.99)).directions
    assert (one.limited_trials, one.today_trials, one.tried[TODAY][1]) == (3, 3, 3)


def test_what_does_not_limit_all_trials_is_said_of_those_that_it_does() -> None:
    told = now_sentence(direction("receive window", "receive window", NOT_CLEAR))
    assert told.endswith("; the receive window limits it in 2 of 3 trials.")


def trial(*of_trial: Any, **more: Any) -> Tried:
    one = tried(*of_trial, PATHS[0], **more)
    return replace(one, row=cast("TrialRow", {**one.row, "congestion": "cubic"}))


def once_more(again: Sequence[float], **more: Any) -> Answer:
    """What is said where two flows carried twice as much in the finals, and so many times as much after."""
    made = [
        trial(way, setting, 1e8 * ratio, stage=stage, block=block)
        for stage, ratios in (("finals", (2.0, 2.01, 1.99)), ("verification", again))
        for block, several in enumerate(ratios)
        for way in Way
        for setting, ratio in ((TODAY, 1.0), (Setting(2), several))
        if ratio
    ]
    return answer(made, rtt_ms=20.0, hosts={}, ends=ENDS, hosts_text="", spent=(1.0, 1), **more)


@pytest.mark.parametrize(
    ("again", "said", "holds"),
    [
        ((2.0, 2.01, 1.99), "the gain is real, 2.00 times [", True),
        ((1.02, 1.021, 1.019), "there is a gain, but it may be smaller than it seemed, a gain of 2", True),
        ((1.5, 0.9, 1.0), "the gain did not show again, ", False),
        ((0.9, 0.91, 0.89), "it is a loss, a change of −10", False),
        (
            (2.0, 2.0, 0.0),
            "not decided, since trials failed (2.00 times what today's setting carried beside it, in 2 c",
            False,
        ),
        ((0.0, 0.0, 0.0), "not decided, since all its trials failed.", False),
        ((1.05, 1.06, 1.07, 1.09, *[0.0] * 4), "it gains, but fails too often, a gain of 6", False),
    ],
)
def test_what_did_not_gain_when_it_was_measured_again_is_not_advised(
    again: Sequence[float], said: str, *, holds: bool
) -> None:
    found = once_more(again)
    one = found.directions[0]
    first, *_, last = list(sentences(one))[1:]
    assert last.startswith("Measured again")
    assert said in last
    assert first.startswith(
        "Set 2 flows: 200 Mbit/s, 2.00 times [" if holds else "Nothing to set: 2 flows had 2.00 times ["
    )
    assert (one.decision.outcome, found.plan is not None, bool(one.tools)) == (
        ("gain", True, True) if holds else ("not held", False, False)
    )
    told = as_json(found)["directions"][0]
    assert (told["set"] is not None, told["withdrawn"] is None) == (holds, holds)


def test_what_gains_but_fails_when_it_is_measured_again_is_withdrawn_for_that() -> None:
    (one, _) = once_more((1.05, 1.06, 1.07, 1.09, *[0.0] * 4)).directions
    _, nothing, again = sentences(one)
    assert nothing.endswith(", but it failed too often when it was measured again.")
    assert again.endswith("; it failed in 4 of 8.")


@pytest.mark.parametrize(("grows_s", "is_known"), [(3.2, False), (0.4, True)])
def test_goodput_is_after_slow_start_only_where_that_was_left_out(grows_s: float, *, is_known: bool) -> None:
    """A trial of 3.6 s leaves 1.4 s out where it does not hold all of it."""
    lasts = timing(3_600_000_000, 240.0, round(grows_s * 10**9))
    asked = Round("finals", dict.fromkeys(Way, (TODAY, Setting(2))), 3, lasts)
    found = once_more((), rounds=[asked])
    growing = [line for line in sentences(found.directions[0]) if "may still have been growing" in line]
    page = tuning_page(found).replace("\u00a0", " ")
    plan = tomllib.loads(found.plan or "")
    if is_known:
        assert goodput_is(found).startswith("Goodput is the mean after slow start, of what arrived")
        assert growing == []
        assert (plan["sweep"][0]["omit"], plan["sweep"][0]["duration"]) == ("2s", "10s")
    else:
        said = "Goodput is the mean of transfers of 3.60 s without their first 1.44 s, of what arrived"
        assert goodput_is(found).startswith(said)
        assert growing[0].startswith("In transfers of 3.60 s one flow may still have been growing")
        assert growing[0] in page
        assert (plan["sweep"][0]["omit"], plan["sweep"][0]["duration"]) == ("4s", "12s")
    assert goodput_is(found) in page
    trials = as_json(found)["directions"][0]["trials"]
    assert (trials["duration_s"], trials["has_growth"]) == (3.6, not is_known)


@pytest.mark.parametrize("held", [False, True])
def test_a_larger_budget_is_named_only_where_it_has_more_blocks(*, held: bool) -> None:
    made = [
        trial(way, setting, 1e8 * ratio, block=block)
        for block, several in enumerate((1.3, 0.9, 1.6, 1.1))
        for way in Way
        for setting, ratio in ((TODAY, 1.0), (Setting(2), several))
    ]
    asked = Round("finals", dict.fromkeys(Way, (TODAY, Setting(2))), 4, timing(10**9, 20.0), None, held)
    found = answer(made, rtt_ms=20.0, hosts={}, ends=ENDS, hosts_text="", spent=(1.0, 1), rounds=[asked])
    told = list(sentences(found.directions[0]))[-1]
    assert told.endswith("cannot be ruled out; a larger --budget narrows that." if held else "be ruled out.")


def test_settings_whose_trials_all_failed_were_tried() -> None:
    made = [trial(way, TODAY, 1e8, block=block) for way in Way for block in range(3)]
    asked = Round("finals", dict.fromkeys(Way, (TODAY, Setting(2), Setting(4))), 3, timing(10**9, 20.0))
    found = answer(made, rtt_ms=20.0, hosts={}, ends=ENDS, hosts_text="", spent=(1.0, 1), rounds=[asked])
    assert list(sentences(found.directions[0]))[-1].endswith(
        "what it gains is not known (2 other settings tried)."
    )


@pytest.mark.parametrize(
    ("percents", "said"),
    [
        (
            (1052.0, 511.0, 2073.0),
            "11.5 times [6.11, 21.7] what today's setting carried beside it, in 4 comparisons of 1.50 s",
        ),
        ((41.0, 39.0, 43.0), "a gain of 41.0 % [39.0, 43.0] over today's setting beside it, in 4 comp"),
        ((-2.0, -3.0, -1.0), "a change of −2.0 % [−3.0, −1.0] over today's setting beside it, in 4 comp"),
        ((99.96, 90.0, 110.0), "2.00 times [1.90, 2.10] what"),
        (
            (20.0, None, None),
            "a gain of 20.0 % over today's setting beside it, in 4 comparisons of 1.50 s: too few",
        ),
    ],
)
def test_large_gains_are_factors_and_trials_have_a_length(percents: tuple[float, ...], said: str) -> None:
    asked = Round("finals", dict.fromkeys(Way, (TODAY, Setting(2))), 4, timing(1_500_000_000, 20.0))
    (one, _) = once_more((), rounds=[asked]).directions
    gain = Gain(Setting(2), 4, *percents, 1e8, 2e8, 4, 0, 0)
    assert gain_words(one, gain).startswith(said)
    assert gain_words(one, replace(gain, blocks=0, asked=3, failed=3)) == "no comparison; it failed in 3 of 3"


def test_failures_are_named_with_what_they_are_of() -> None:
    asked = Round("finals", dict.fromkeys(Way, (TODAY, Setting(2), Setting(4))), 12, timing(10**9, 20.0))
    found = once_more((), rounds=[asked])
    (one, _) = found.directions
    assert one.decision.outcome == "gain"
    made = [*(trial(way, TODAY, 1e8, block=block) for way in Way for block in range(12))]
    made += [
        trial(way, Setting(2), 1e8 * ratio, block=block)
        for way in Way
        for block, ratio in enumerate((2.0, 2.01, 1.99))
    ]
    common: dict[str, Any] = {"rtt_ms": 20.0, "hosts": {}, "ends": ENDS, "hosts_text": "", "spent": (1.0, 1)}
    failing = answer(made, rounds=[asked], **common)
    (one, _) = failing.directions
    said = list(sentences(one))[-1]
    assert said.startswith("Nothing to set: 2 flows had 2.00 times [")
    assert said.endswith("; it failed in 9 of 12, today's in 0: what fails so often is not advised.")
    assert [trials for _, _, trials in tried_lines(one)] == [
        "3 trials, 9 more failed",
        "12 trials",
        "12 trials, all failed",
    ]
    assert "12 trials, all failed" in tuning_page(failing).replace("\u00a0", " ")
    assert failing.plan is None
