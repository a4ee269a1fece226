"""The geometric mean and its interval, against a computation by hand."""

import math

import pytest

from flowsweep.analysis.statistics.means import geometric_mean


def test_the_interval_is_students_of_the_logarithms() -> None:
    # Logarithms of 0.9 and 1.0: standard error 0.10536 / 2 = 0.05268, t(0.975, 1) = 12.706.
    found = geometric_mean([0.9, 1.0])
    assert found.value == pytest.approx(math.sqrt(0.9))
    assert found.low == pytest.approx(math.sqrt(0.9) / 1.9530, rel=1e-3)
    assert found.high == pytest.approx(math.sqrt(0.9) * 1.9530, rel=1e-3)


def test_alike_values_leave_no_width_and_a_single_one_no_interval() -> None:
    same = geometric_mean([5.0, 5.0, 5.0])
    assert [same.value, same.low, same.high] == pytest.approx([5.0, 5.0, 5.0])
    assert (geometric_mean([7.0]).low, geometric_mean([7.0]).high) == (None, None)
