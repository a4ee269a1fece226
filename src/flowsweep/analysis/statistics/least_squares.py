"""The linear model behind all effects: log goodput = cell + block + noise, by least squares.

A *cell* is one point of the grid, a *block* one repeat of all of them. Every cell has a mean of its own, so
that no interaction of parameters, such as that of window and flows below the plateau, is taken for noise.
Noise is only what differs between repeats of the same cell, once the repeats as a whole are made alike: pure
error.
"""

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from flowsweep.analysis.statistics.intervals import half_widths

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

MINIMUM_OWN_FREEDOM = 10.0
"""Degrees of freedom of all cells in a contrast together, from which on each counts with its own variance."""

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
        # `scipy.stats.t` says the same to the digit, of one value in 45 times as long, of 60 in three times.
        beyond = scipy.special.stdtr(self.freedom, -np.abs(self.value) / self.error)
        return np.asarray(2 * beyond, dtype=np.float64)

    def half_widths(self, comparisons: int = 1) -> Floats:
        """Half the width of the 95 % intervals by Student's t.

        Args:
            comparisons: How many intervals shall hold together; Bonferroni's bound.
        """
        return half_widths(self.error, self.freedom, comparisons=comparisons)


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

    def compare(self, y: Floats, contrasts: Floats) -> Estimates:
        """Estimate contrasts of cell means, with standard errors.

        Each cell counts with the noise that it has itself, as a path that its window limits is steadier than
        one that loses, with the degrees of freedom of `summed_variances`. Contrasts of cells with too few
        repeats altogether take the noise for the same in all cells.

        Args:
            y: (n,) as it was fitted.
            contrasts: (k, cells)

        Returns:
            k estimates. There must be degrees of freedom.
        """
        weights = self.weights(contrasts)
        value = weights @ y
        squares = weights**2
        freedom = np.full(len(value), float(self.freedom))
        variance = self.variance * squares.sum(axis=1)
        own_freedom = np.bincount(self._cells, 1 - self.leverages).astype(np.float64)
        known = own_freedom > _SINGULAR
        own_variance = np.zeros(len(known))
        np.divide(np.bincount(self._cells, self.residuals**2), own_freedom, out=own_variance, where=known)
        counted = np.where((contrasts != 0) & known, own_freedom, 0.0).sum(axis=1)
        # A cell that ran once has no noise of its own to tell.
        apart = (counted >= MINIMUM_OWN_FREEDOM) & ~((contrasts != 0) & ~known).any(axis=1)
        parts = _group_sums(squares.T, self._cells).T * own_variance
        total, welch = summed_variances(parts, own_freedom)
        variance = np.where(apart, total, variance)
        freedom = np.where(apart, np.clip(welch, 1, np.maximum(counted, 1)), freedom)
        return Estimates(value, np.maximum(np.sqrt(variance), _SMALLEST_ERROR), freedom)


def summed_variances(parts: Floats, freedom: Floats) -> tuple[Floats, Floats]:
    """Add up variances that were estimated independently of each other, and find their degrees of freedom.

    These are Satterthwaite's (1946, An approximate distribution of estimates of variance components,
    Biometrics Bulletin 2) with Welch's correction for few repeats (1947, The generalization of 'Student's'
    problem, Biometrika 34).

    Args:
        parts: (k, cells) variances of k sums.
        freedom: (cells,) degrees of freedom of each part.
    """
    total = parts.sum(axis=1)
    spread = (parts**2 / (freedom + 2)).sum(axis=1)
    return total, np.divide(total**2, spread, out=np.full(len(total), np.inf), where=spread > 0) - 2


def _group_sums(rows: Floats, groups: Codes) -> Floats:
    """Add up the rows of each group: (n, k) to (groups, k)."""
    sums = np.zeros((int(groups.max()) + 1, rows.shape[1]))
    np.add.at(sums, groups, rows)
    return sums
