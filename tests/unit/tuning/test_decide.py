"""What is chosen, and how sure that is: decisions against what is known."""

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
import scipy

from flowsweep.tuning.decide import Decision, decide, latency_ms, ranked
from flowsweep.tuning.rounds import Tried
from flowsweep.tuning.settings import TODAY, Setting, Way
from tuned_paths import VirtualPath, tried

PATH = VirtualPath("any")
EIGHT, TWO, BBR = Setting(8), Setting(2), Setting(congestion="bbr")


def finals(**ratios: Sequence[float]) -> list[Tried]:
    """Blocks in which today's goodput drifts, and that of others is so many times as much."""
    named = {"eight": EIGHT, "two": TWO, "bbr": BBR}
    made = []
    for block in range(max(map(len, ratios.values()))):
        today_bps = 1e8 * (1 + block / 3)
        made.append(tried(Way.out, TODAY, today_bps, PATH, block=block))
        for name, values in ratios.items():
            if block < len(values):
                made.append(tried(Way.out, named[name], values[block] * today_bps, PATH, block=block))
    return made


def decided(**ratios: Sequence[float]) -> Decision:
    return decide(Way.out, finals(**ratios))


def test_a_gain_is_that_within_blocks_with_students_interval() -> None:
    ratios = [1.4, 1.5, 1.6, 1.5]
    (gain,) = decided(eight=ratios).gains
    logs = [math.log(ratio) for ratio in ratios]
    low, high = scipy.stats.t.interval(0.95, 3, loc=sum(logs) / 4, scale=scipy.stats.sem(logs))
    assert gain.blocks == 4
    assert gain.percent == pytest.approx(100 * math.expm1(sum(logs) / 4))
    assert (gain.low_percent, gain.high_percent) == pytest.approx(
        (100 * math.expm1(low), 100 * math.expm1(high))
    )


def test_two_settings_share_the_error() -> None:
    alone, both = decided(eight=[1.4, 1.5, 1.6]), decided(eight=[1.4, 1.5, 1.6], two=[1.1, 1.1, 1.1])
    assert both.gains[0].low_percent < alone.gains[0].low_percent  # type: ignore[operator]


def test_settings_are_ranked_where_they_ran_side_by_side() -> None:
    # Two ran once, while today's setting had bad luck; eight, which carries more, ran again when it had not.
    goodputs = [
        ("screening", {TODAY: 5e6, TWO: 36e6, EIGHT: 48e6}),
        ("narrowing", {TODAY: 24e6, EIGHT: 48e6}),
    ]
    rounds = [
        replace(tried(Way.out, setting, goodput_bps, PATH, block=0), stage=stage)
        for stage, of_stage in goodputs
        for setting, goodput_bps in of_stage.items()
    ]
    order = ranked(rounds)
    assert [setting for setting, _ in order] == [EIGHT, TWO]
    assert order[0][1] - order[1][1] == pytest.approx(math.log(48 / 36))
    assert ranked([one for one in rounds if one.setting != TODAY]) == []


def test_the_least_trouble_is_chosen_among_equals() -> None:
    chosen = decided(eight=[1.52, 1.50, 1.51], two=[1.50, 1.49, 1.50]).chosen
    assert chosen is not None
    assert chosen.setting == TWO


def test_more_trouble_is_worth_more_than_the_margin() -> None:
    chosen = decided(eight=[1.62, 1.60, 1.61], two=[1.50, 1.49, 1.50]).chosen
    assert chosen is not None
    assert chosen.setting == EIGHT


@pytest.mark.parametrize(
    ("ratios", "outcome"),
    [
        ([1.001, 0.999, 1.0, 1.002], "nothing"),
        ([0.7, 0.71, 0.7, 0.72], "nothing"),
        ([1.02, 1.021, 1.019, 1.02], "nothing"),
        ([1.3, 0.9, 1.6, 1.1], "not shown"),
        ([1.5, 1.5], "not shown"),
    ],
)
def test_nothing_is_chosen_that_is_not_shown_to_be_worth_it(ratios: list[float], outcome: str) -> None:
    decision = decided(eight=ratios)
    assert (decision.outcome, decision.chosen) == (outcome, None)


def test_a_block_without_todays_setting_does_not_count() -> None:
    made = [one for one in finals(eight=[1.5, 1.5, 1.5]) if (one.setting, one.block) != (TODAY, 1)]
    assert decide(Way.out, made).gains[0].blocks == 2


def test_means_are_of_blocks_that_have_both() -> None:
    made = finals(eight=[1.5, 1.5, 1.5], two=[1.0] * 6)
    gain = decide(Way.out, made).gains[0]
    assert gain.goodput_bps == pytest.approx(1.5 * gain.today_bps)


@pytest.mark.parametrize(
    ("whole", "today_whole", "outcome"), [(3, 12, "failing"), (11, 12, "gain"), (3, 3, "gain")]
)
def test_a_setting_that_fails_more_often_than_todays_is_not_chosen(
    whole: int, today_whole: int, outcome: str
) -> None:
    """One of twelve trials is little, nine are much."""
    made = finals(eight=[2.0, 2.01, 1.99, 2.0, *[2.0] * 8][:whole], two=[1.0] * 12)
    kept = [one for one in made if one.setting != TODAY or one.block < today_whole]
    for decision in (decide(Way.out, kept, 12), decide(Way.out, kept)):
        assert decision.outcome == outcome
        gain = decision.gains[0]
        assert (gain.asked, gain.failed, gain.today_failed) == (12, 12 - whole, 12 - today_whole)
        assert (decision.chosen is None) == (outcome == "failing")


def test_a_trial_that_carries_nothing_failed() -> None:
    """Three of eight stall, the others carry twice as much as today's: that is not advised."""
    made = finals(eight=[2.0, 0.0, 2.01, 0.0, 1.99, 0.0, 2.0, 2.0])
    decision = decide(Way.out, made, 8)
    (gain,) = decision.gains
    assert decision.outcome == "failing"
    assert (gain.blocks, gain.failed, gain.today_failed) == (5, 3, 0)
    assert gain.goodput_bps == pytest.approx(2 * gain.today_bps, rel=0.01)


def test_another_setting_is_chosen_where_the_best_fails() -> None:
    chosen = decided(eight=[2.0, 2.01, 1.99], two=[1.5, 1.5, 1.49, 1.5, 1.51, 1.5]).chosen
    assert chosen is not None
    assert chosen.setting == TWO


def test_latency_is_that_of_the_trials_in_the_middle() -> None:
    assert latency_ms(finals(eight=[1, 1, 1]), EIGHT) == pytest.approx((36, 43.2))
    assert latency_ms([], EIGHT) == (None, None)
