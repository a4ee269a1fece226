"""A change by medians, against one by hand."""

import pytest

from flowsweep.analysis.statistics.median_change import median_change


def test_the_change_is_the_mean_over_points_of_what_their_medians_differ_by():
    found = median_change([([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]), ([0.0], [1.0]), ([], [7.0])])
    assert found.value == pytest.approx((3 + 1) / 2)
    # Distances from the medians: 1, 0, 1, 1, 0, 1, 0, 0; the median of them is 0.5.
    assert found.error == pytest.approx(1.4826 * 1.2533 * 0.5 * (1 / 3 + 1 / 3 + 1 + 1) ** 0.5 / 2)


def test_an_odd_trial_moves_nothing():
    usual = median_change([([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])])
    assert median_change([([1.0, 2.0, 30.0], [4.0, 5.0, 60.0])]) == usual


def test_without_values_of_both_times_there_is_no_change():
    assert median_change([([1.0], []), ([], [])]) is None
