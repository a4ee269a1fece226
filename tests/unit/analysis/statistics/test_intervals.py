"""Student's t intervals, against values of tables."""

import math

import numpy as np
import pytest

from flowsweep.analysis.statistics.intervals import half_width, half_widths, mean_interval


def test_half_widths_are_those_of_tables() -> None:
    """t(0.975) of 4, 30 and endlessly many degrees of freedom."""
    assert half_width(2.0, 4) == pytest.approx(2 * 2.7764, rel=1e-4)
    assert half_width(1.0, math.inf) == pytest.approx(1.95996, rel=1e-5)
    several = half_widths(np.array([1.0, 10.0]), np.array([4.0, 30.0]))
    assert several == pytest.approx([2.7764, 20.423], rel=1e-4)


def test_intervals_that_hold_together_are_those_of_a_smaller_tail() -> None:
    """t(0.995, 4): of five, 1 % is left to each."""
    assert half_width(1.0, 4, comparisons=5) == pytest.approx(4.6041, rel=1e-4)


def test_a_mean_lies_in_the_middle_of_its_interval() -> None:
    """Standard error 1 / √3, t(0.975, 2) = 4.3027."""
    assert mean_interval([1.0, 2.0, 3.0]) == pytest.approx((2.0, 2 - 2.4841, 2 + 2.4841), rel=1e-4)
