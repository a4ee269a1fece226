"""The linear model behind all effects: log goodput = cell + block + noise, by least squares.

A *cell* is one point of the grid, a *block* one repeat of all of them. Every cell has a mean of its own, so
that no interaction of parameters, such as that of window and flows below the plateau, is taken for noise.
Noise is only what differs between repeats of the same cell, once the repeats as a whole are made alike: pure
error.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from flowsweep.defaults import CONFIDENCE

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

MINIMUM_GROUP_FREEDOM = 5.0
"""Degrees of freedom from which on a group of cells is judged by its own variance. That of fewer is too
uncertain for Welch's approximation, and all cells are taken to vary alike."""

_SINGULAR = 1e-10
"""Eigenvalues of this share of the largest are none, but rounding."""

_SMALLEST_ERROR = 1e-9
"""Standard error of a log goodput, at least, of results that agree to the last digit: bytes are whole."""


@dataclass(frozen=True, slots=True)
class Estimates:
    """Estimates of some contrasts, one place in each array for each of them; natural logarithms."""

    value: Floats
    error: Floats
    """Standard errors."""
    freedom: Floats
    """Degrees of freedom of the t distribution of value / error."""

    @property
    def p_values(self) -> Floats:
        """Two-sided, of "the contrast is 0", by Student's t; not corrected for their number."""
        return np.asarray(2 * stats.t.sf(np.abs(self.value) / self.error, self.freedom), dtype=np.float64)

    def half_widths(self, comparisons: int = 1) -> Floats:
        """Half the width of the 95 % intervals by Student's t.

        Args:
            comparisons: How many intervals shall hold together; Bonferroni's bound.
        """
        tail = (1 - CONFIDENCE) / (2 * comparisons)
        return np.asarray(self.error * stats.t.isf(tail, self.freedom), dtype=np.float64)


class Fit:
    """A fit of y = cell + block + noise.

    Whichever are fewer of cells and blocks are solved for, after the others were eliminated from both sides
    (Lovell 1963, Seasonal adjustment of economic time series, JASA 58), so that large campaigns stay cheap.
    Missing combinations are allowed: estimates are of least squares, not raw means.
    """

    def __init__(self, y: Floats, cells: Codes, blocks: Codes) -> None:
        """Fit.

        Args:
            y: (n,) natural logarithms of goodput, or differences of such.
            cells: (n,) of 0 … number of cells − 1, each occurring.
            blocks: (n,) likewise; all 0 where there are none.
        """
        self._cells, self._cell_sizes = cells, np.bincount(cells)
        blocks_first = int(blocks.max()) > int(cells.max())
        self._solved, self._eliminated = (cells, blocks) if blocks_first else (blocks, cells)
        self._cells_solved = blocks_first
        sizes = np.bincount(self._eliminated)
        indicators = np.eye(int(self._solved.max()) + 1)[self._solved]
        self._shares = _group_sums(indicators, self._eliminated) / sizes[:, None]
        self._centred = indicators - self._shares[self._eliminated]
        cross = self._centred.T @ self._centred
        self._inverse = np.linalg.pinv(cross, rtol=_SINGULAR, hermitian=True)
        rank = int(np.linalg.matrix_rank(cross, rtol=_SINGULAR, hermitian=True))
        effects = self._inverse @ (self._centred.T @ y)
        left = y - indicators @ effects
        means = np.bincount(self._eliminated, left) / sizes
        self.residuals: Floats = left - means[self._eliminated]
        """(n,)"""
        self.cell_means: Floats = effects if blocks_first else means
        """(cells,) each as if all blocks were alike; their contrasts mean something, their level does not."""
        own = np.einsum("ij,ij->i", self._centred @ self._inverse, self._centred)
        self.leverages: Floats = 1 / sizes[self._eliminated] + own
        """(n,) share of an observation in its own fitted value."""
        self.freedom = len(y) - len(sizes) - rank
        """Degrees of freedom of the residuals."""

    @property
    def variance(self) -> float:
        """Of the noise, estimated by the residuals; NaN without degrees of freedom."""
        return float(self.residuals @ self.residuals) / self.freedom if self.freedom > 0 else float("nan")

    def weights(self, contrasts: Floats) -> Floats:
        """Write contrasts of cell means as weighted sums of the observations.

        Args:
            contrasts: (k, cells) coefficients; each row adds up to 0, unless there is one block only.

        Returns:
            (k, n)
        """
        if self._cells_solved:
            return np.asarray((contrasts @ self._inverse) @ self._centred.T)
        solved = (contrasts @ self._shares) @ self._inverse
        return np.asarray((contrasts / self._cell_sizes)[:, self._cells] - solved @ self._centred.T)

    def compare(self, y: Floats, contrasts: Floats, groups: Codes | None = None) -> Estimates:
        """Estimate contrasts of cell means, with standard errors.

        Args:
            y: (n,) as it was fitted.
            contrasts: (k, cells)
            groups: (n,) of which group's noise an observation has. Groups with 5 degrees of freedom each
                have a variance of their own and degrees of freedom after Welch (1947, The generalization of
                'Student's' problem, Biometrika 34) and Satterthwaite (1946); else all share one variance.

        Returns:
            k estimates. There must be degrees of freedom.
        """
        weights = self.weights(contrasts)
        value = weights @ y
        squares = weights**2
        group_freedom = None if groups is None else np.bincount(groups, 1 - self.leverages)
        if groups is None or group_freedom is None or group_freedom.min() < MINIMUM_GROUP_FREEDOM:
            error = np.sqrt(self.variance * squares.sum(axis=1))
            return Estimates(
                value, np.maximum(error, _SMALLEST_ERROR), np.full(len(value), float(self.freedom))
            )
        group_variance = np.bincount(groups, self.residuals**2) / group_freedom
        parts = _group_sums(squares.T, groups).T * group_variance
        total = parts.sum(axis=1)
        spread = (parts**2 / group_freedom).sum(axis=1)
        freedom = np.full(len(value), float(self.freedom))
        np.divide(total**2, spread, out=freedom, where=spread > 0)
        return Estimates(value, np.maximum(np.sqrt(total), _SMALLEST_ERROR), freedom)


def _group_sums(rows: Floats, groups: Codes) -> Floats:
    """Add up the rows of each group: (n, k) to (groups, k)."""
    sums = np.zeros((int(groups.max()) + 1, rows.shape[1]))
    np.add.at(sums, groups, rows)
    return sums
