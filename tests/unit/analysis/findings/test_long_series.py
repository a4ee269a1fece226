"""Months of hourly tests: of more than 120 trials neighbours are averaged, and what is said stays true."""

import math
import re
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from analysis_support import STARTED_AT
from campaigns_over_time import claims, watched
from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.hypothesis import Hypothesis
from flowsweep.analysis.findings.over_time import over_time_hypotheses
from flowsweep.analysis.findings.topics import findings
from flowsweep.analysis.statistics.campaign_series import campaign_series
from flowsweep.analysis.statistics.design import design
from flowsweep.analysis.statistics.observations import observations
from flowsweep.analysis.statistics.red_noise import noise_models
from flowsweep.defaults import SIGNIFICANCE
from long_tests import long_after
from synthetic_campaigns import Row

NOISE = 0.01
"""Standard deviation of log goodput."""
IN_UNITS = 1 / 0.03
"""Of `watched`, whose deviations are in units of 0.03."""


def noise(count: int, seed: int = 1) -> Any:
    return NOISE * np.random.default_rng(seed).standard_normal(count)


def hourly(logs: Any) -> list[Row]:
    return watched(logs * IN_UNITS)


def one(rows: list[Row], kind: str) -> Finding:
    [finding] = [finding for finding in findings(rows) if finding.kind == kind]
    return finding


def of_the_day(rows: list[Row]) -> Finding:
    [found] = [one for one in findings(rows) if one.kind == "cycle" and "the hour of the day" in one.claim]
    return found


@pytest.mark.parametrize(
    ("count", "at", "change"),
    [
        (336, 200, -0.5),
        *(
            pytest.param(*one, marks=pytest.mark.long)
            for one in ((336, 168, -0.5), (1440, 174, -0.26), (1440, 171, -0.05), (720, 714, -0.9))
        ),
    ],
)
def test_a_step_has_its_size_and_its_time(count: int, at: int, change: float) -> None:
    """Of 336 trials −50 % was "may be chance"; of 1440 −26 % was −11.3 %, half a day off."""
    logs = noise(count, 2) + math.log1p(change) * (np.arange(count) >= at)
    found = one(hourly(logs), "step")
    assert found.decision == "effect"
    assert found.effect == pytest.approx(100 * change, abs=0.6)
    assert found.interval_low is not None
    assert found.interval_high is not None
    assert found.interval_low <= 100 * change <= found.interval_high
    assert f"{STARTED_AT + timedelta(hours=at):%H:%M} UTC" in found.claim
    assert len(found.evidence) == count - at


@pytest.mark.parametrize(
    ("count", "at"),
    [
        (300, 4),
        *(pytest.param(*one, marks=pytest.mark.long) for one in ((300, 3), (110, 5), (200, 196))),
    ],
)
def test_a_step_within_the_first_trials_or_the_last_has_its_size(count: int, at: int) -> None:
    """The fewer trials counted as stalled and were brought nearer: by −11.7 % [−13.4, −10.0]."""
    logs = 2 * noise(count, 2) + math.log(0.8) * (np.arange(count) >= at)
    found = one(hourly(logs), "step")
    assert found.decision == "effect"
    assert found.effect == pytest.approx(-20, abs=2.5)
    assert len(found.evidence) == count - at


def test_a_step_that_ended_again_is_two() -> None:
    """It was "−26.6 % in one step", and a week of −60 % was none."""
    hours = np.arange(1344)
    found = one(hourly(noise(1344) + math.log(0.4) * ((hours >= 480) & (hours < 648))), "step")
    assert found.decision == "effect"
    assert found.claim.startswith("Goodput changed in two steps: by −60.")
    assert ", then by 15" in found.claim or ", then by 14" in found.claim
    assert len(found.evidence) == 1344 - 648


def test_noise_of_months_is_no_step_and_no_cycle() -> None:
    assert [claims(hourly(noise(720, seed))) for seed in range(4)] == [{}] * 4


@pytest.mark.parametrize("days", long_after(1, of=[30, 120]))
def test_a_daily_cycle_of_months_has_its_size(days: int) -> None:
    """Means of half a day and more held nothing of it: ±22 % [0, 100000000]."""
    hours = np.arange(24 * days)
    found = of_the_day(hourly(noise(len(hours)) + 0.2 * np.sin(2 * np.pi * hours / 24)))
    assert found.effect == pytest.approx(100 * math.expm1(0.2), rel=0.03)


def test_what_halves_goodput_at_one_hour_each_night_is_told() -> None:
    """Each night's trial counted as far off, and was brought nearer: ±0.166 %."""
    hours = np.arange(14 * 24)
    began = STARTED_AT.hour
    logs = noise(len(hours)) + math.log(0.5) * ((hours + began) % 24 == 3)
    found = of_the_day(hourly(logs))
    assert found.decision == "effect"
    [lower] = re.findall(
        r"; trials from 03:00 to 04:00 UTC are ([\d.]+) % lower than in the hours before and after\.",
        found.claim,
    )
    assert float(lower) == pytest.approx(50, abs=1), "±14 %, and 40 % lower than waves"
    half = 100 * math.expm1(math.log(2) / 2)
    assert found.effect == pytest.approx(half, abs=1)
    assert found.interval_low is not None
    assert found.interval_high is not None
    assert found.interval_low <= half <= found.interval_high


def of_the_week(logs: Any) -> Hypothesis:
    """Whether goodput varies with the day of the week, asked alone: all topics take five times as long."""
    [observed] = observations(hourly(logs))
    series = campaign_series(design(observed))
    assert series is not None
    asked = over_time_hypotheses(observed, series, noise_models(series))
    [found] = [one for one in asked if one.kind == "cycle" and "the day of the week" in one.say("effect")]
    assert found.p_value is not None
    assert found.p_value < SIGNIFICANCE
    return found


def test_a_weekend_is_as_large_as_its_days() -> None:
    """Three waves against noise that seemed red made ±3 % of ±8.5 %."""
    hours = np.arange(28 * 24)
    weekday = (STARTED_AT.weekday() + (hours + STARTED_AT.hour) // 24) % 7
    value, _, low, high = of_the_week(noise(len(hours)) + math.log(0.85) * (weekday >= 5)).estimate
    half = 100 * math.expm1(-math.log(0.85) / 2)
    assert value == pytest.approx(half, abs=0.4)
    assert low is not None
    assert high is not None
    assert low <= half <= high


@pytest.mark.parametrize("days", long_after(1, of=[70, 105]))
def test_weekends_of_months_have_their_size(days: int) -> None:
    """Averages of 14 hours make half a week of 12 hours, of 21 hours a week of 24: ±4 % [0, 100000000]."""
    hours = np.arange(days * 24)
    weekday = (STARTED_AT.weekday() + (hours + STARTED_AT.hour) // 24) % 7
    nightly = math.log(0.75) * ((hours + STARTED_AT.hour) % 24 == 2)
    found = of_the_week(noise(len(hours)) + math.log(1.06) * (weekday >= 5) + nightly)
    half = 100 * math.expm1(math.log(1.06) / 2)
    _, _, low, high = found.estimate
    assert low is not None
    assert high is not None
    assert half - 0.4 < low <= half <= high < half + 1
    assert found.say("effect").endswith("; it is lowest from Monday to Friday.")


@pytest.mark.long
def test_weekends_are_a_week_and_no_other_period() -> None:
    """It was "a period of 62 h 56 min", and lowest about Wednesday."""
    hours = np.arange(42 * 24)
    weekday = (STARTED_AT.weekday() + (hours + STARTED_AT.hour) // 24) % 7
    told = claims(hourly(noise(len(hours)) + math.log(0.8) * (weekday < 5)))
    assert set(told) == {"cycle"}
    assert told["cycle"].claim.startswith("Goodput varies with the day of the week by ±1")
    assert told["cycle"].claim.endswith("; it is lowest from Monday to Friday.")


@pytest.mark.parametrize("share", long_after(1, of=[0.1, 0.05]))
def test_an_upgrade_is_told_from_the_flows_that_were_used_more_since(share: float) -> None:
    """Points were taken out of values alone: +60 % was +5.5 %."""
    generator = np.random.default_rng(3)
    late = np.arange(720) >= 360
    many = generator.random(720) < np.where(late, 1 - share, share)
    rows = hourly(noise(720) + math.log(1.6) * late + math.log(1.2) * many)
    for row, of_many in zip(rows, many, strict=True):
        row.update(flows=8 if of_many else 1, flows_per_pair=8 if of_many else 1)
    found = one(rows, "step")
    assert found.effect == pytest.approx(60, rel=0.1)


@pytest.mark.long
def test_where_settings_changed_with_time_nobody_says_that_goodput_did_not_drift() -> None:
    """It was "did not drift: by −0.2 %", where the last value is 40 % lower."""
    rows = hourly(noise(720) + math.log(0.6) * (np.arange(720) >= 360))
    for number, row in enumerate(rows):
        row.update(flows=8 if number >= 360 else 1, flows_per_pair=8 if number >= 360 else 1)
    found = one(rows, "drift")
    assert found.decision == "undecided"
    assert found.claim.startswith("Whether goodput drifted is undecided: settings ran at times of their own")
    assert one(rows, "step").decision == "undecided"


@pytest.mark.long
def test_a_small_step_says_that_it_is_less_than_the_margin() -> None:
    found = one(hourly(noise(336) / 20 + math.log(0.99) * (np.arange(336) >= 200)), "step")
    assert found.claim.endswith(", which is less than the margin of 3 %.")
