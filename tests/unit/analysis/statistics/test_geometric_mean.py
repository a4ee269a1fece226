"""The geometric mean and its interval, against a computation by hand."""

import math

import pytest

from flowsweep.analysis.statistics.means import geometric_mean


def test_the_interval_is_students_of_the_logarithms() -> None:
    # Logarithms −0.1, 0 and 0.1: standard error 0.1 / √3 = 0.057735, t(0.975, 2) = 4.3027.
    found = geometric_mean([math.exp(-0.1), 1.0, math.exp(0.1)])
    assert found.value == pytest.approx(1.0)
    assert found.low == pytest.approx(math.exp(-0.057735 * 4.3027), rel=1e-4)
    assert found.high == pytest.approx(math.exp(0.057735 * 4.3027), rel=1e-4)


def test_two_values_are_too_few_for_an_interval() -> None:
    """It told how near to each other they happened to be: [0.523, 1.54] beside [0.936, 0.939]."""
    found = geometric_mean([0.9, 1.0])
    assert found.value == pytest.approx(math.sqrt(0.9))
    assert (found.low, found.high) == (None, None)


def test_alike_values_leave_no_width_and_a_single_one_no_interval() -> None:
    same = geometric_mean([5.0, 5.0, 5.0])
    assert [same.value, same.low, same.high] == pytest.approx([5.0, 5.0, 5.0])
    assert (geometric_mean([7.0]).low, geometric_mean([7.0]).high) == (None, None)
