"""Goodput of few digits over time: most trials are equal, and what differs does so by a last digit."""

import numpy as np
import pytest

from campaigns_over_time import claims, watched
from synthetic_campaigns import Row


def hourly(mbit_s: list[float]) -> list[Row]:
    rows = watched(np.zeros(len(mbit_s)))
    for row, goodput in zip(rows, mbit_s, strict=True):
        row["goodput_bps"] = goodput * 1e6
    return rows


def few_digits(count: int, share: float, seed: int) -> list[float]:
    low = np.random.default_rng([seed, 77]).random(count) < share
    return [float(goodput) for goodput in np.where(low, 93, 94)]


@pytest.mark.parametrize(("count", "goodput"), [(200, 500), (150, 94), (300, 93.9)])
def test_goodput_that_never_differed_did_not_change(count: int, goodput: float) -> None:
    """It changed "in two steps: by 0.0 % [0.0, 0.0]", p < 0.001, and with a period of ±1e-28 %."""
    assert claims(hourly([goodput] * count)) == {}


@pytest.mark.parametrize(
    ("count", "share", "seed"),
    [
        (200, 0.1, 1),
        pytest.param(110, 0.1, 0, marks=pytest.mark.long),
        pytest.param(200, 0.1, 2, marks=pytest.mark.long),
        pytest.param(200, 0.25, 1, marks=pytest.mark.long),
    ],
)
def test_a_last_digit_that_differs_by_chance_is_no_change(count: int, share: float, seed: int) -> None:
    """It was one step by 0.1 % [0.0, 0.1], a period by ±0.0104 %, or an hour of the day."""
    assert claims(hourly(few_digits(count, share, seed))) == {}


def test_two_trials_far_off_among_equal_ones_are_no_step() -> None:
    """Nothing was left of them beside waves of 1e-5, which stepped."""
    goodputs = [94.0] * 150
    goodputs[40] = goodputs[90] = 50.0
    assert claims(hourly(goodputs)) == {}


def test_a_step_among_few_digits_has_its_size() -> None:
    before = few_digits(200, 0.1, 1)
    found = claims(hourly([*before[:66], *(round(0.8 * one) for one in before[66:])]))["step"]
    assert found.effect == pytest.approx(-20.3, abs=0.5)
    assert len(found.evidence) == 134


def test_a_step_among_equal_figures_is_told() -> None:
    found = claims(hourly([94.0] * 66 + [75.2] * 134))["step"]
    assert found.effect == pytest.approx(-20, abs=0.5)
