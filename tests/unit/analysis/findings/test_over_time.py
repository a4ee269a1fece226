"""Claims over time where neighbours resemble each other, days differ, and trials come in sessions."""

import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from analysis_support import STARTED_AT
from campaigns_over_time import NOISE, claims, daily, five_days, red, watched
from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.steps import moments
from flowsweep.analysis.findings.topics import findings
from flowsweep.analysis.statistics.campaign_series import CampaignSeries
from flowsweep.analysis.statistics.step_times import around
from long_tests import long_after
from synthetic_campaigns import Row

TEN_MINUTES_S = 600.0


def one(rows: list[Row], kind: str) -> Finding:
    [finding] = [finding for finding in findings(rows) if finding.kind == kind]
    return finding


def day(_day: int, at_h: float) -> float:
    return 0.3 * math.sin(2 * math.pi * at_h / 24)


@pytest.mark.parametrize("hours", long_after(1, of=[6, 24]))
@pytest.mark.parametrize("begins_h", long_after(1, of=[0, 12]))
def test_a_daily_cycle_is_no_drift(hours: float, begins_h: float) -> None:
    """It was "drifted −66.5 % [−73, −58]", and +156 % if begun twelve hours later."""
    for seed in range(3):
        assert set(claims(five_days(seed, hours, day, begins_h))) <= {"cycle"}


@pytest.mark.parametrize("hours", long_after(1, of=[6, 24]))
def test_a_step_between_days_is_found(hours: float) -> None:
    """It was missed in 197 of 200."""
    step = claims(five_days(1, hours, lambda number, _: math.log(0.8) * (number >= 2)))["step"]
    assert step.effect == pytest.approx(-20, abs=2)
    assert step.interval_low < step.effect < step.interval_high
    assert "Goodput changed in one step between 2026-03-" in step.claim
    assert " UTC: by −" in step.claim


def test_days_that_differ_are_no_step_and_no_drift() -> None:
    for seed in range(6):
        levels = 0.1 * np.random.default_rng(seed).standard_normal(5)
        assert not claims(five_days(seed, 6, lambda number, _, levels=levels: levels[number]))


def test_a_slope_within_repeats_that_begins_anew_in_each_is_no_drift() -> None:
    for seed in range(3):
        assert "drift" not in claims(five_days(seed, 6, lambda _, at_h: -0.05 * (at_h % 24)))


def test_sixty_hours_of_a_daily_cycle_are_told_as_a_day() -> None:
    """They were "a period of 19 h 40 min", the edge of the grid."""
    noise = np.random.default_rng(1).standard_normal(60)
    found = claims(watched(noise + daily(60, 3.0, phase=0.5)))
    assert set(found) == {"cycle"}
    cycle = found["cycle"]
    assert cycle.interval_low < 100 * math.expm1(3 * NOISE) < cycle.interval_high
    # Begun at noon with a falling half wave, it is lowest at 18 h.
    assert cycle.claim.startswith("Goodput varies with the hour of the day by ±")
    hours = cycle.claim.split("; it is lowest from ")[1]
    first, last = (int(words[:2]) for words in hours.split(" to "))
    assert first < 18 <= last


def test_hours_of_business_are_no_more_than_their_means_differ_by() -> None:
    """Two harmonics overshoot a square by a quarter: from 8 to 16 UTC log goodput is 0.21 lower."""
    hours = np.arange(4 * 24)
    busy = np.isin((STARTED_AT.hour + hours) % 24, range(8, 16))
    noise = np.random.default_rng(3).standard_normal(len(hours))
    cycle = one(watched(noise - 7 * busy), "cycle")
    assert cycle.decision == "effect"
    assert cycle.effect == pytest.approx(100 * math.expm1(3.5 * NOISE), abs=1.6)
    assert cycle.interval_low < 100 * math.expm1(3.5 * NOISE) < cycle.interval_high
    quiet = one(watched(0.1 * noise - 7 * busy), "cycle")
    assert quiet.effect == pytest.approx(100 * math.expm1(3.5 * NOISE), abs=0.4), "13.8 by harmonics alone"
    assert "] about the middle between the best hour and the worst; it is lowest from " in quiet.claim


def test_a_campaign_of_a_day_and_a_half_cannot_tell_a_cycle() -> None:
    cycle = one(watched(daily(36, 3.0)), "cycle")
    assert cycle.decision == "undecided"
    assert "two whole days" in cycle.claim
    assert "the campaign lasted 35 h" in cycle.claim


@pytest.mark.long
def test_sixteen_days_of_a_weekly_cycle() -> None:
    """Begun on Sunday, 1 March 2026, at noon; lowest three quarters of a week later, on Friday evening."""
    hours = np.arange(16 * 24)
    noise = np.random.default_rng(2).standard_normal(len(hours))
    cycles = [
        finding
        for finding in findings(watched(noise + 3 * np.sin(2 * np.pi * hours / 168)))
        if finding.kind == "cycle" and finding.decision == "effect"
    ]
    [weekly] = cycles
    assert weekly.claim.startswith("Goodput varies with the day of the week by ±")
    assert weekly.claim.endswith("; it is lowest from Thursday to Saturday.")


@pytest.mark.parametrize(("days", "told"), [((0,), False), ((0, 2, 4), False), ((0, 1, 2, 3), True)])
def test_one_day_of_the_week_tells_nothing_of_the_others(days: tuple[int, ...], *, told: bool) -> None:
    """A trial an hour from 9 to 12 on Mondays was "may be chance: ±0 % [0, …]"."""
    at_h = [24 * (7 * week + day) + hour for week in range(10) for day in days for hour in range(3)]
    noise = np.random.default_rng(1).standard_normal(len(at_h))
    rows = watched(noise)
    for row, hours in zip(rows, at_h, strict=True):
        row["started_at"] = (STARTED_AT + timedelta(hours=24 + 21 + hours)).isoformat()
    [weekly] = [
        finding
        for finding in findings(rows)
        if finding.claim.startswith("Whether goodput varies with the day of the week is undecided: ")
    ]
    assert (weekly.effect is not None) is told
    began = f"trials began on {len(days)} of the 7 days of a week, and 4 or more would tell."
    assert weekly.claim.endswith(began) is not told


NULLS: dict[str, Callable[[np.random.Generator], Any]] = {
    "independent": lambda generator: generator.standard_normal(48),
    "neighbours 0.3": lambda generator: red(generator, 48, 0.3),
    "neighbours 0.7": lambda generator: red(generator, 48, 0.7),
    "neighbours 0.95": lambda generator: red(generator, 48, 0.95),
    "heavy tails": lambda generator: generator.standard_t(3, 48),
    "one stalled": lambda generator: generator.standard_normal(48) - 60 * (np.arange(48) == 20),
}


@pytest.mark.parametrize("null", long_after(1, of=NULLS))
def test_noise_of_any_kind_is_seldom_a_claim(null: str) -> None:
    """With correlation 0.7 it was one in 85 % of campaigns. Of 12 at 5 %: P(more than 3) = 0.002."""
    campaigns = (watched(NULLS[null](np.random.default_rng((3, seed))), TEN_MINUTES_S) for seed in range(12))
    assert sum(bool(claims(rows)) for rows in campaigns) <= 3


def test_steps_of_three_deviations_are_found() -> None:
    after = 3.0 * (np.arange(48) >= 20)
    found = 0
    for seed in range(8):
        noise = np.random.default_rng((4, seed)).standard_normal(48)
        found += set(claims(watched(noise + after, TEN_MINUTES_S))) == {"step"}
    assert found >= 7


def loaded(generator: np.random.Generator, effect: float) -> list[Row]:
    """Goodput and CPU wander slowly, each by itself but for an effect."""
    load = red(generator, 48, 0.95)
    rows = watched(red(generator, 48, 0.95) + effect * load, TEN_MINUTES_S)
    for row, value in zip(rows, load, strict=True):
        row["cpu_recv"] = 0.5 + 0.05 * value
    return rows


@pytest.mark.long
def test_two_quantities_that_wander_do_not_go_together() -> None:
    """Yule's nonsense correlations: Student's t called them one in more than half of such campaigns."""
    claimed = sum(
        "correlation" in claims(loaded(np.random.default_rng((5, seed)), 0.0)) for seed in range(15)
    )
    assert claimed <= 3
    assert "correlation" in claims(loaded(np.random.default_rng(5), -6.0))


def test_one_point_that_is_watched_has_a_variation_and_outliers() -> None:
    """Sixty hourly repeats of one point had neither."""
    rows = watched(np.random.default_rng(1).standard_normal(60))
    rows[33]["goodput_bps"] *= 0.5
    assert one(rows, "outliers").evidence == (rows[33]["trial_id"],)
    logs = np.log([row["goodput_bps"] for row in rows])
    variation = one(rows, "variation")
    assert variation.effect == pytest.approx(100 * math.sqrt(math.expm1(np.var(logs, ddof=1))))
    assert "a whole repeat" not in variation.claim


def test_two_repeats_of_a_point_are_too_few_for_an_interval() -> None:
    variation = one(watched([0.0, 1.0]), "variation")
    assert (variation.interval_low, variation.interval_high) == (None, None)
    assert "with too few repeats for an interval" in variation.claim
    assert one(watched([0.0, 1.0, 0.5]), "variation").interval_high is not None


def test_a_campaign_whose_trials_begin_at_the_same_time_says_nothing_of_time() -> None:
    rows = watched(np.zeros(12))
    for row in rows:
        row["started_at"] = (STARTED_AT + timedelta(0)).isoformat()
    assert not claims(rows)


@pytest.mark.parametrize(
    ("apart_s", "said"),
    [
        (0.3, "about 2026-03-01 12:00:00 UTC"),
        (2.0, "between 2026-03-01 12:00:00 and 12:00:02 UTC"),
        (3600.0, "between 2026-03-01 12:00 and 13:00 UTC"),
    ],
)
def test_moments_of_one_second_are_no_interval(apart_s: float, said: str) -> None:
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC).timestamp()
    starts_s = np.array([0.0, apart_s])
    own, alike = np.arange(2), np.zeros(2, dtype=np.intp)
    series = CampaignSeries(
        starts_s=starts_s, began_s=noon, values=starts_s, contrasts=np.eye(2), groups=(), span_s=apart_s,
        trials=(), units_s=starts_s, bins=own, logs=starts_s, points=alike,
    )  # fmt: skip
    assert moments(series, around(series, 1)) == said
