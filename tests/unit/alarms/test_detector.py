"""Shifts of series of which it is known when they shift; a small version of tests/truth/test_alarms.py."""

import math

import numpy as np
import pytest

from alarm_series import DAY_S, Kind, alarms_in, false_alarms, log_goodputs, shifts_told
from flowsweep.alarms.level import learned
from flowsweep.alarms.threshold import threshold

HOURLY = Kind(3600.0, 0.5, sigma=0.03)


def quiet(days: float = 30.0, seed: int = 3):
    return log_goodputs(HOURLY, days, np.random.default_rng(seed))


def hours(times_s, moment_s):
    return round((moment_s - times_s[0]) / 3600)


@pytest.mark.long
def test_false_alarms_are_as_rare_as_stated():
    down = watched = 0.0
    for rho in (0.0, 0.6, 0.9):
        found, _, days = false_alarms(Kind(3600.0, rho), range(20))
        down, watched = down + found, watched + days
    # Once in 100 days are 16; Poisson's spread leaves room for chance, but not for twice as many.
    assert down <= 1.5 * watched / 100, (down, watched)


@pytest.mark.parametrize(("step_s", "rho"), [(3600.0, 0.0), (3600.0, 0.9), (300.0, 0.0)])
def test_a_shift_of_10_percent_is_found_within_five_values(step_s, rho):
    told = shifts_told(Kind(step_s, rho, sigma=0.1 / 3.5), range(12), days=9.0)
    assert told.shifts >= 10
    assert told.soon >= 0.9 * told.shifts, told


@pytest.mark.parametrize("alike", [2, 8])
def test_a_shift_is_found_where_values_share_their_times(alike):
    times_s, values = quiet()
    values[-60:] -= 0.3
    shared_s = times_s[np.arange(len(times_s)) // alike * alike]
    alarm = max(alarms_in(shared_s, values), key=lambda one: abs(one.change))
    assert alarm.change == pytest.approx(-0.3, abs=0.03)
    assert abs(hours(times_s, alarm.since_s) - (len(times_s) - 60)) <= alike


def test_values_that_all_have_one_time_have_a_level():
    _, values = quiet()
    level = learned(np.zeros(len(values)), values, sigma_min=0.01)
    assert level.usual(np.zeros(1))[0] == pytest.approx(np.median(values), abs=0.02)
    assert math.isfinite(threshold(level.step_s, level.freedom, 1.0))
    # Nothing is looked for before there are three days of values; then the first ones may be at one time.
    at_once_s = np.concatenate([np.zeros(len(values) // 2), 4 * DAY_S + 3600.0 * np.arange(len(values) // 2)])
    assert alarms_in(at_once_s, values) == []


def test_a_shift_is_over_when_the_old_level_is_back():
    times_s, values = quiet()
    values[400:430] += math.log(0.8)
    [shift] = [one for one in alarms_in(times_s, values) if one.score < 0]
    assert 400 <= hours(times_s, shift.found_s) <= 404
    assert abs(hours(times_s, shift.since_s) - 400) <= 2
    assert shift.end == "back"
    assert shift.over_s is not None
    assert 430 <= hours(times_s, shift.over_s) <= 435
    assert shift.low - 0.02 <= math.log(0.8) <= shift.high + 0.02


def test_a_shift_that_stays_is_the_new_level_after_two_days():
    times_s, values = quiet()
    values[400:] += math.log(0.8)
    [shift, *_] = [one for one in alarms_in(times_s, values) if one.score < 0]
    assert shift.end == "new level"
    assert shift.over_s is not None
    assert 448 <= hours(times_s, shift.over_s) <= 452


def test_what_shifts_again_from_the_new_level_is_found_again():
    times_s, values = quiet()
    values[300:] += math.log(0.8)
    values[600:] += math.log(0.8)
    found = [hours(times_s, one.found_s) for one in alarms_in(times_s, values) if one.score < 0]
    assert len(found) == 2
    assert 600 <= found[1] <= 604


def test_single_values_far_away_are_no_shift():
    times_s, values = quiet()
    before = [one.found_s for one in alarms_in(times_s, values)]
    values[400] += math.log(0.2)
    values[500] -= 1.0
    values[600] += 1.0
    assert [one.found_s for one in alarms_in(times_s, values)] == before


def test_the_hour_of_the_day_is_no_shift():
    times_s, values = quiet()
    before = alarms_in(times_s, values)
    values += 0.1 * np.sin(2 * np.pi * times_s / DAY_S) + 0.05 * np.cos(4 * np.pi * times_s / DAY_S)
    assert [one.found_s for one in alarms_in(times_s, values)] == [one.found_s for one in before]


def test_nothing_is_found_where_nothing_differs_or_too_little_is_there():
    times_s, values = quiet()
    assert alarms_in(times_s, np.full(len(times_s), 3.0)) == []
    assert alarms_in(times_s[:40], values[:40]) == []
    assert alarms_in(times_s[:0], values[:0]) == []
    assert alarms_in(times_s[:1], values[:1]) == []


def test_without_noise_a_shift_has_its_exact_size():
    times_s, _ = quiet()
    values = np.full(len(times_s), 3.0)
    values[500:] = 2.5
    [shift] = alarms_in(times_s, values)
    assert hours(times_s, shift.since_s) == 500
    assert (shift.before, shift.change) == (pytest.approx(3.0), pytest.approx(-0.5, abs=1e-3))


def test_a_change_without_practical_effect_is_none_however_sure():
    times_s, _ = quiet()
    values = np.full(len(times_s), 3.0)
    values[500:] -= 0.02
    assert alarms_in(times_s, values) == []


def test_a_day_without_values_does_not_raise_an_alarm():
    times_s, values = quiet()
    kept = np.ones(len(times_s), dtype=bool)
    kept[350:390] = False
    assert len(alarms_in(times_s[kept], values[kept])) <= len(alarms_in(times_s, values)) + 1


def test_level_and_noise_are_learned():
    kind = Kind(300.0, 0.6, sigma=0.05)
    times_s, values = log_goodputs(kind, 7.0, np.random.default_rng(5))
    values[::97] += 1.0  # One in a hundred is far away.
    level = learned(times_s, values, sigma_min=1e-3)
    assert level.harmonics == 2
    assert level.rho == pytest.approx(0.6, abs=0.06)
    assert level.sigma_of_values == pytest.approx(0.05, rel=0.15)
    assert level.coefficients[0] == pytest.approx(20.0, abs=0.02)


def test_waves_of_a_day_are_only_of_times_that_tell_them():
    nights = 1.8e9 + np.arange(20) * DAY_S
    twice = 1.8e9 + np.arange(60) * DAY_S / 2
    generator = np.random.default_rng(1)
    assert learned(nights, generator.standard_normal(20), sigma_min=0.1).harmonics == 0
    assert learned(twice, generator.standard_normal(60), sigma_min=0.1).harmonics == 0


def test_thresholds_rise_with_the_number_of_values_and_fall_with_the_rate():
    often, seldom = threshold(300.0, 2000.0, 1.0), threshold(3600.0, 2000.0, 1.0)
    assert 4.0 < often < 4.8
    assert 3.4 < seldom < often
    assert threshold(3600.0, 2000.0, 10.0) < seldom < threshold(3600.0, 2000.0, 0.1)
    assert threshold(3600.0, 60.0, 1.0) > seldom
    assert threshold(3600.0, 2000.0, 1.0, 2.0) > seldom
    assert threshold(1e7, 2000.0, 100.0) == pytest.approx(2.4)
