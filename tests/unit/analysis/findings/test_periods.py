"""Which period is named of what comes back and is no sine: the whole, not a part of it."""

import math
import re
from datetime import datetime, timedelta

import numpy as np
import pytest

from campaigns_over_time import NOISE, watched
from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.multiple_testing import decided
from flowsweep.analysis.findings.over_time import over_time_hypotheses
from flowsweep.analysis.findings.periodicity import _fundamental, _Period, _sines
from flowsweep.analysis.statistics.campaign_series import campaign_series
from flowsweep.analysis.statistics.design import design
from flowsweep.analysis.statistics.likelihood_ratio import CourseTest
from flowsweep.analysis.statistics.observations import observations
from flowsweep.analysis.statistics.red_noise import noise_models
from long_tests import long_but_for
from synthetic_campaigns import Row

EVERY_S = 300.0
SEEDS = [str(seed) for seed in range(20)]
AN_HOUR = re.compile(r" a period of (?:1 h|1 h 1 min|1 h 2 min|59 min|58 min)(?: \d+ s)?\b(?! \d+ min)")


def period_of(deviations: list[float]) -> Finding:
    """What is said of a trial every five minutes; deviations of log goodput in units of NOISE."""
    return period_in(watched(deviations, EVERY_S))


def period_in(rows: list[Row]) -> Finding:
    [observed] = observations(rows)
    series = campaign_series(design(observed))
    assert series is not None
    asked = over_time_hypotheses(observed, series, noise_models(series))
    [found] = decided([one for one in asked if one.kind == "periodicity"])
    return found


@pytest.mark.parametrize("count", [110, 168])
@pytest.mark.parametrize("seed", long_but_for("0", "1", of=SEEDS))
def test_a_slow_trial_every_hour_is_a_period_of_an_hour(seed: str, count: int) -> None:
    """One of twelve is slower by 30 %: it was "20 min 11 s" and "14 min 56 s", parts of an hour."""
    noise = np.random.default_rng(int(seed)).standard_normal(count)
    slow = math.log(0.7) / NOISE * (np.arange(count) % 12 == 5)
    found = period_of(list(noise + slow))
    if found.decision == "effect":
        assert AN_HOUR.search(found.claim) or " or a multiple of it" in found.claim, found.claim
        no_sine = found.claim.endswith(" as a sine; its course is no sine, and dips or peaks go further.")
        assert no_sine or found.claim.endswith(" or a multiple of it, by ± 3.14 % as a sine.")


def test_a_sine_of_an_hour_is_a_period_of_an_hour_and_no_more() -> None:
    noise = np.random.default_rng(1).standard_normal(168)
    found = period_of(list(noise + 3 * np.sin(2 * np.pi * np.arange(168) / 12)))
    assert found.decision == "effect"
    assert AN_HOUR.search(found.claim)
    assert found.claim.endswith(" % as a sine.")
    assert found.effect == pytest.approx(100 * math.expm1(3 * NOISE), rel=0.15)


@pytest.mark.parametrize("points", [1, 2])
def test_a_sine_that_is_large_only_where_no_trial_ran_has_no_size(points: int) -> None:
    """Of 5 tests one morning and 30 within seven minutes of a night it was ± 100000000 %."""
    noise = list(20 * np.random.default_rng(3).standard_normal(35))
    [observed] = observations(watched(noise, 14.0))
    began = datetime.fromisoformat(observed.rows[0]["started_at"])
    starts_s = [14.0 * number + (0.0 if number < 5 else 63_300.0) for number in range(35)]
    rows = [
        row | {"started_at": (began + timedelta(seconds=start_s)).isoformat()}
        for row, start_s in zip(observed.rows, starts_s, strict=True)
    ]
    for number, row in enumerate(rows):
        if number % points:  # another point, of which goodput is far from that of the first
            row.update(flows=8, goodput_bps=1e60 * row["goodput_bps"])
    found = period_in(rows)
    assert (found.decision, found.effect) == ("undecided", None)
    assert found.claim.endswith(" the times of the trials show too little.")


@pytest.mark.parametrize("beyond", [5, 6, 7])
def test_no_more_sines_are_asked_for_than_there_are_values_to_tell_them(beyond: int) -> None:
    """Where repeats and points leave few degrees of freedom, the sines of multiples used them up."""
    numbers = np.arange(60)
    waves = [3 * np.sin(2 * np.pi * numbers / length + length) for length in (2.1, 4.2, 8.4)]
    [observed] = observations(watched(list(sum(waves)), EVERY_S))
    series = campaign_series(design(observed))
    assert series is not None
    models = noise_models(series)
    found = _Period(2.1 * EVERY_S, 3 * NOISE)
    sines = _sines(series, np.array([found.period_s]))
    shapes = np.random.default_rng(1).standard_normal((series.freedom, series.freedom - beyond))
    values = series.contrasts.T @ series.averaged(sum(waves)[:, None])[:, 0] * NOISE
    again = _fundamental(series, CourseTest(models, values, sines, shapes), found)
    assert again.period_s == found.period_s
