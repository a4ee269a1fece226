"""The linear model against numbers from textbooks and against other implementations."""

import math

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats
from statsmodels.stats.multitest import multipletests

from flowsweep.analysis.findings.multiple_testing import holm
from flowsweep.analysis.statistics.least_squares import Fit
from flowsweep.analysis.statistics.level_effects import permutation_p
from literature import PENICILLIN, SLEEP

BLENDS, TREATMENTS = (place.ravel() for place in np.indices(PENICILLIN.shape))


def test_randomised_blocks_as_in_the_textbook() -> None:
    fit = Fit(PENICILLIN.ravel(), TREATMENTS, BLENDS)
    assert fit.freedom == 12
    assert fit.variance == pytest.approx(226 / 12)
    compared = fit.compare(PENICILLIN.ravel(), np.array([[-1.0, 0.0, 1.0, 0.0]]))
    assert compared.value == pytest.approx([89 - 84])
    assert compared.error == pytest.approx([math.sqrt(226 / 12 * 2 / 5)])


def test_blocks_and_cells_may_be_solved_for_either_way_round() -> None:
    few = Fit(PENICILLIN.ravel(), BLENDS, TREATMENTS)
    assert (few.freedom, few.variance) == (12, pytest.approx(226 / 12))
    compared = few.compare(PENICILLIN.ravel(), np.array([[1.0, 0.0, 0.0, 0.0, -1.0]]))
    assert compared.value == pytest.approx([92 - 82])
    assert compared.error == pytest.approx([math.sqrt(226 / 12 * 2 / 4)])


def test_student_s_sleep() -> None:
    gained = SLEEP[1] - SLEEP[0]
    one = np.zeros(10, dtype=np.intp)
    mean = Fit(gained, one, one).compare(gained, np.ones((1, 1)))
    assert mean.value == pytest.approx([1.58])
    assert mean.value / mean.error == pytest.approx([4.0621], abs=5e-5)
    assert mean.p_values == pytest.approx([0.002833], abs=5e-7)
    assert mean.value - mean.half_widths() == pytest.approx([0.7001], abs=5e-5)
    assert mean.value + mean.half_widths() == pytest.approx([2.4599], abs=5e-5)
    # Of the 1024 ways to swap 10 pairs, one of which is alike, few give as much.
    assert permutation_p(SLEEP) == pytest.approx(2 * 2 / 1024, abs=0.004)


def test_two_groups_are_compared_as_welch_does() -> None:
    generator = np.random.default_rng(7)
    first, second = generator.normal(0, 1, 9), generator.normal(1, 5, 14)
    y = np.concatenate([first, second])
    cells = np.repeat([0, 1], [9, 14])
    compared = Fit(y, cells, np.zeros_like(cells)).compare(y, np.array([[-1.0, 1.0]]))
    expected = stats.ttest_ind(second, first, equal_var=False)
    assert compared.value / compared.error == pytest.approx([expected.statistic])
    # Welch 1947; `ttest, welch` of Stata, whose manual has the formula.
    parts = np.array([first.var(ddof=1) / 9, second.var(ddof=1) / 14])
    assert compared.freedom == pytest.approx([parts.sum() ** 2 / (parts**2 / [10, 15]).sum() - 2])
    assert compared.freedom == pytest.approx([expected.df], rel=0.1)


@pytest.mark.parametrize(("cell_count", "block_count"), [(6, 3), (3, 8)])
def test_missing_trials_give_least_squares_means_not_raw_ones(cell_count: int, block_count: int) -> None:
    generator = np.random.default_rng(11)
    place = np.indices((cell_count, block_count, 2)).reshape(3, -1)
    cells, blocks = place[:2, generator.random(place.shape[1]) > 0.4]
    y = generator.normal(size=len(cells)) + cells + 10 * blocks
    fit = Fit(y, cells, blocks)
    design = np.column_stack([np.eye(cell_count)[cells], np.eye(block_count)[blocks][:, 1:]])
    expected = sm.OLS(y, design).fit()
    contrast = np.zeros((1, cell_count))
    contrast[0, [0, 2]] = -1, 1
    told = expected.t_test(np.concatenate([contrast[0], np.zeros(block_count - 1)]))
    compared = fit.compare(y, contrast)
    assert fit.freedom == expected.df_resid
    assert compared.value == pytest.approx(told.effect)
    assert compared.error == pytest.approx(told.sd.ravel())
    assert compared.p_values == pytest.approx(np.ravel(told.pvalue))
    assert fit.leverages == pytest.approx(expected.get_influence().hat_matrix_diag)
    assert fit.residuals == pytest.approx(expected.resid)


def test_bonferroni_widens_intervals_as_a_smaller_error_rate_does() -> None:
    y = PENICILLIN.ravel()
    compared = Fit(y, TREATMENTS, BLENDS).compare(y, np.array([[-1.0, 0.0, 1.0, 0.0]]))
    assert compared.half_widths(6) == pytest.approx(compared.error * stats.t.ppf(1 - 0.025 / 6, 12))


def test_results_that_agree_to_the_last_digit_are_no_division_by_zero() -> None:
    y = np.array([1.0, 2.0, 1.0, 2.0])
    cells, blocks = np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1])
    compared = Fit(y, cells, blocks).compare(y, np.array([[-1.0, 1.0]]))
    assert compared.value == pytest.approx([1])
    assert 0 < compared.p_values[0] < 1e-6


def test_holm_s_correction() -> None:
    # Holm 1979: the k-th smallest of m, times m + 1 - k, and never less than the one before.
    assert holm([0.04, 0.001, 0.03, 0.6]) == pytest.approx([0.09, 0.004, 0.09, 0.6])
    assert holm([]) == []
    drawn = np.random.default_rng(3).random(40) ** 3
    assert holm(list(drawn)) == pytest.approx(multipletests(drawn, method="holm")[1])
