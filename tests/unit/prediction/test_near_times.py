"""Trials that end when they know are predicted for times near their own, which repeats share."""

import random
from collections.abc import Sequence
from typing import Any

import pytest

from analysis_support import SECOND_NS, make_trial
from flowsweep.plan.until.model import Until
from flowsweep.prediction import points
from flowsweep.prediction.fluid import predicted
from flowsweep.prediction.paths import KnownPath
from flowsweep.prediction.points import predicted_trials
from flowsweep.prediction.setting import FlowSetting, Prediction
from flowsweep.schedule import Trial

PATH = KnownPath(rate_bps=100e6, rtt_ns=20_000_000)
UNTIL = Until(share=0.02, at_least_ns=SECOND_NS)
REPEATS = 10_000


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[FlowSetting]:
    """What the fluid model is asked for; it answers for the first setting alone."""
    settings: list[FlowSetting] = []

    def counted(of: Sequence[FlowSetting]) -> list[Prediction]:
        settings.extend(of)
        return predicted(of[:1]) * len(of)

    monkeypatch.setattr(points, "predicted", counted)
    return settings


def repeats(**changes: Any) -> dict[str, Trial]:
    """Of one point, each with times of its own: from 1 s or so on, for 3 to 5 s."""
    generator = random.Random(5)
    trials = {}
    for repeat in range(1, REPEATS + 1):
        omit_ns = generator.randrange(800_000, 1_200_000) * 1000
        duration_ns = omit_ns + generator.randrange(3_000_000, 5_000_000) * 1000
        times = {"omit_ns": omit_ns, "duration_ns": duration_ns} | changes
        trials[str(repeat)] = make_trial(repeat=repeat, window_bytes=1 << 20, until=UNTIL, **times)
    return trials


@pytest.mark.long
def test_repeats_that_end_microseconds_apart_share_settings(asked: list[FlowSetting]) -> None:
    trials = repeats()
    found = predicted_trials(trials, (), PATH)
    assert found.keys() == trials.keys()
    assert len(asked) <= 64


@pytest.mark.parametrize("omit_s", [0.0, 0.3, 1.0, 9.0])
@pytest.mark.parametrize("counted_s", [0.5, 1.0, 1.5, 4.0, 7.0, 10.0, 20.0])
def test_times_that_people_write_are_kept(asked: list[FlowSetting], omit_s: float, counted_s: float) -> None:
    duration_ns = round((omit_s + counted_s) * SECOND_NS)
    trial = make_trial(until=UNTIL, omit_ns=round(omit_s * SECOND_NS), duration_ns=duration_ns)
    predicted_trials({"t": trial}, (), PATH)
    [setting] = asked
    assert setting.duration_s - setting.omit_s == pytest.approx(counted_s, rel=1e-9)
    assert setting.omit_s == pytest.approx(omit_s, abs=0.032 * max(counted_s, omit_s))


def test_a_trial_of_a_plain_duration_is_predicted_for_just_that(asked: list[FlowSetting]) -> None:
    predicted_trials({"t": make_trial(omit_ns=1_037_000_000, duration_ns=5_123_456_000)}, (), PATH)
    [setting] = asked
    assert (setting.omit_s, setting.duration_s) == (1.037, 5.123456)


@pytest.mark.parametrize("omit_ns", [0, 260_000_000, 1_333_000_000])
@pytest.mark.parametrize("congestion", ["cubic", "bbr"])
def test_what_near_times_change_is_below_what_the_model_is_wrong_by(congestion: str, omit_ns: int) -> None:
    """19 of 20 predictions are within 12.4 %: docs/truth/predictions.md."""
    for counted_ns in (1_123_456_000, 3_333_333_000, 8_765_432_000):
        times = {"omit_ns": omit_ns, "duration_ns": omit_ns + counted_ns}
        for path in (PATH, KnownPath(rate_bps=50e6, rtt_ns=80_000_000, loss=0.0001)):
            trials = [make_trial(congestion=congestion, until=until, **times) for until in (None, UNTIL)]
            just, near = (predicted_trials({"t": trial}, (), path)["t"].goodput_bps for trial in trials)
            assert near == pytest.approx(just, rel=0.04)
