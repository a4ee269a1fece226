"""Does a series follow a course over time, beyond noise of which neighbours resemble each other?"""

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy

from flowsweep.analysis.statistics.least_squares import Codes, Floats
from flowsweep.analysis.statistics.red_noise import NOT_REFUTED, NoiseModels, drawn, plausible
from flowsweep.analysis.statistics.simulated import ENOUGH, FIRST, SEED, SIMULATED, simulated_p
from flowsweep.defaults import CONFIDENCE

NORMAL_95 = 1.96
"""Standard errors to either end of a 95 % interval."""
_DEPENDENT = 1e-9
"""Share of a column that is left beside others, below which it follows from them."""
_EXACT = float(np.finfo(np.float64).eps)
"""Share of the squares that is rounding, where a course says everything."""


@dataclass(frozen=True, slots=True)
class Course:
    """The most telling of several courses over time."""

    number: int
    """Of the course."""
    coefficients: Floats
    """(parameters,) by generalised least squares, natural logarithms."""
    covariance: Floats
    """(parameters, parameters) of the coefficients; its t distribution is that of simulated campaigns."""
    ratio: float
    """Logarithm of the likelihood ratio against noise alone, both at the noise that suits them best."""
    p_value: float

    def first(self) -> tuple[float, float, float]:
        """Return the first coefficient and the ends of its 95 % interval, natural logarithms."""
        value, half = float(self.coefficients[0]), NORMAL_95 * math.sqrt(float(self.covariance[0, 0]))
        return value, value - half, value + half


@dataclass(frozen=True)
class CourseTest:
    """What is asked of a series."""

    models: NoiseModels
    values: Floats
    """(freedom,) contrasts of log goodput."""
    courses: Floats
    """(courses, freedom, parameters) contrasts of what goodput may follow."""
    beside: Floats
    """(freedom, k) contrasts of what goodput may follow in any case."""
    lasting: bool = False
    """What repeats and days share is noise only: a course must hold without it, from the first trial to the
    last."""
    not_refuted: float = NOT_REFUTED
    """Log-likelihood below the best within which noise counts as possible."""

    def best(self) -> Course:
        """Find the most telling course.

        Returns:
            The statistic of a single course is F at the noise of the highest restricted likelihood, of
            several the largest likelihood ratio. p is the share of campaigns drawn with noise only in which
            it is as large: 399 of the likeliest noise beside the course, and as many of that one, of those
            not refuted, which moves the courses most; the larger share counts (after Berger and Boos 1994, P
            values maximized over a confidence set for the nuisance parameter, JASA 89). The covariance is
            that of least squares, widened so that the interval of a single course agrees with p.
        """
        values = self.values[:, None]
        ratios, numbers = self._compared(values)
        number, ratio = int(numbers[0]), float(ratios[0])
        statistic = float(self._statistics(values)[0])
        p_value, critical = 0.0, 0.0
        for null in self._nulls(number):
            draws = self._drawn(null, statistic)
            p_value = max(p_value, simulated_p(statistic, draws))
            critical = max(critical, float(np.quantile(draws, CONFIDENCE)))
        coefficients, covariance = self._estimate(number, critical if len(self.courses) == 1 else 0.0)
        return Course(number, coefficients, covariance, ratio, p_value)

    def log_likelihoods(self, number: int) -> Floats:
        """(courses,) of each of one parameter, up to a number, against the noise that suits one best."""
        at = int(self._open(self._fitted(self.values[:, None], number)[0])[:, 0].argmax())
        basis, courses = self._whitened[at]
        white = self.models.whiteners[at] @ self.values
        total = float(white @ white)
        left = total - float(np.square(basis.T @ white).sum())
        rest = np.maximum(left - np.square(courses[:, :, 0] @ white), _EXACT * total)
        return np.asarray(-self.models.freedom / 2 * np.log(rest))

    def only(self, number: int) -> "CourseTest":
        """Ask the same of one course."""
        return replace(self, courses=self.courses[[number]])

    def estimated(self) -> Floats:
        """Estimate the first course: (parameters,) by generalised least squares, natural logarithms."""
        return self._estimate(0, 0.0)[0]

    def _drawn(self, null: int, statistic: float) -> Floats:
        """Statistics of campaigns of noise only; few where they already tell that there is nothing."""
        generator = np.random.default_rng(SEED)
        draws = self._statistics(drawn(self.models, null, generator, FIRST))
        if int((draws >= statistic).sum()) >= ENOUGH:
            return draws
        more = self._statistics(drawn(self.models, null, generator, SIMULATED - FIRST))
        return np.concatenate([draws, more])

    def likely_noise(self) -> list[int]:
        """Numbers of the likeliest noise, and of that, of those not refuted, which moves the courses most."""
        return self._nulls(None)

    def _nulls(self, number: int | None) -> list[int]:
        """Likewise, beside a course."""
        likelihoods = self._fitted(self.values[:, None], number)[0][:, 0]
        open_ = plausible(np.where(np.array(self.models.grouped), -np.inf, likelihoods), self.not_refuted)
        return sorted({int(np.argmax(likelihoods)), int(open_[np.argmax(self._moved(open_))])})

    def _moved(self, numbers: Codes) -> Floats:
        """(numbers,) the variance along the courses by noise of each model, by that along all directions."""
        flat = np.moveaxis(self.courses, 0, 1).reshape(self.models.freedom, -1)
        flat = flat - self.beside @ np.linalg.lstsq(self.beside, flat, rcond=None)[0]
        flat = flat / np.maximum(np.linalg.norm(flat, axis=0), np.finfo(np.float64).tiny)
        along = [np.einsum("ij,ij->j", flat, self.models.covariances[at] @ flat).mean() for at in numbers]
        all_ways = np.trace(self.models.covariances[numbers], axis1=1, axis2=2) / self.models.freedom
        return np.asarray(along / all_ways)

    def _statistics(self, values: Floats) -> Floats:
        """(n,) of (freedom, n) values."""
        if len(self.courses) > 1:
            return self._compared(values)[0]
        likelihoods, gained = self._fitted(values, 0)
        return np.asarray(gained[self._open(likelihoods).argmax(axis=0), np.arange(values.shape[1])])

    def _open(self, likelihoods: Floats) -> Floats:
        """Set aside the noise beside which a course does not count."""
        shut = np.array(self.models.grouped)[:, None] & self.lasting
        return np.where(shut, -np.inf, likelihoods)

    def _compared(self, values: Floats) -> tuple[Floats, Codes]:
        """Compare courses with noise alone: (freedom, n) values to (n,) log-likelihood ratios and courses."""
        half = self.models.freedom / 2
        count = values.shape[1]
        alone, best = np.full(count, -np.inf), np.full(count, -np.inf)
        numbers = np.zeros(count, dtype=np.intp)
        for at, whitener in enumerate(self.models.whiteners):
            basis, courses = self._whitened[at]
            white = whitener @ values
            total = np.square(white).sum(axis=0)
            left = np.maximum(total - np.square(basis.T @ white).sum(axis=0), _EXACT * total)
            alone = np.maximum(alone, -half * np.log(left) - self.models.log_roots[at])
            if self.lasting and self.models.grouped[at]:
                continue
            rows = np.moveaxis(courses, 1, 2).reshape(-1, self.models.freedom)
            gains = np.square(rows @ white).reshape(len(courses), -1, count).sum(axis=1)
            most = gains.argmax(axis=0)
            rest = np.maximum(left - gains[most, np.arange(count)], _EXACT * total)
            likelihood = -half * np.log(rest) - self.models.log_roots[at]
            numbers = np.where(likelihood > best, most, numbers)
            best = np.maximum(likelihood, best)
        return best - alone, numbers

    @cached_property
    def _whitened(self) -> list[tuple[Floats, Floats]]:
        """For each model, where its noise is white: what goodput may follow anyway, and the courses.

        Both orthonormal and orthogonal to each other: (freedom, k) and (courses, freedom, parameters).
        """
        found = []
        for whitener in self.models.whiteners:
            basis, courses = whitener @ self.beside, whitener @ self.courses
            if basis.shape[1]:
                basis = scipy.linalg.orth(basis, rcond=_DEPENDENT)
                courses = courses - basis @ (basis.T @ courses)
            found.append((basis, _orthonormal(courses)))
        return found

    def _fixed(self, number: int | None) -> tuple[Floats, int]:
        """(freedom, k) what goodput may follow anyway, and a course; the column at which that begins."""
        kept = self.beside
        if kept.shape[1]:
            kept = scipy.linalg.orth(kept, rcond=_DEPENDENT)
        course = self.courses[number] if number is not None else kept[:, :0]
        return np.column_stack([kept, course]), kept.shape[1]

    def _fitted(self, values: Floats, number: int | None) -> tuple[Floats, Floats]:
        """Fit a course to (freedom, n) values beside noise of each model.

        Returns:
            (models, n) restricted log-likelihoods (Patterson and Thompson 1971, Recovery of inter-block
            information when block sizes are unequal, Biometrika 58); (models, n) by how much the course
            raises the logarithm of the likelihood of each.
        """
        fixed, begins = self._fixed(number)
        half = (self.models.freedom - fixed.shape[1]) / 2
        basis, triangles = np.linalg.qr(self.models.whiteners @ fixed)
        white = self.models.whiteners @ values
        explained = np.square(np.swapaxes(basis, 1, 2) @ white)
        total = np.square(white).sum(axis=1)
        left = np.maximum(total - explained.sum(axis=1), _EXACT * total)
        roots = np.log(np.abs(np.diagonal(triangles, axis1=1, axis2=2))).sum(axis=1) + self.models.log_roots
        gained = half * np.log1p(explained[:, begins:].sum(axis=1) / left)
        return -half * np.log(left) - roots[:, None], gained

    def _estimate(self, number: int, critical: float) -> tuple[Floats, Floats]:
        """Coefficients of a course and their covariance; wider where noise alone reaches more than F says."""
        at = int(self._open(self._fitted(self.values[:, None], number)[0])[:, 0].argmax())
        fixed, begins = self._fixed(number)
        basis, triangle = np.linalg.qr(self.models.whiteners[at] @ fixed)
        white = self.models.whiteners[at] @ self.values
        projection = basis.T @ white
        freedom, count = self.models.freedom - fixed.shape[1], fixed.shape[1] - begins
        total = float(white @ white)
        variance = max(total - float(projection @ projection), _EXACT * total) / freedom
        inverse = np.linalg.inv(triangle)
        reached = freedom / count * np.expm1(2 * critical / freedom)
        normal = float(scipy.stats.chi2.ppf(CONFIDENCE, count)) / count
        covariance = inverse @ inverse.T * variance * max(float(reached) / normal, 1.0)
        return (inverse @ projection)[begins:], covariance[begins:, begins:]


def _orthonormal(courses: Floats) -> Floats:
    """Make the columns of each of (courses, m, r) orthonormal, one after the other."""
    found = courses.copy()
    smallest = np.finfo(np.float64).tiny
    for column in range(found.shape[2]):
        own = found[:, :, column]
        size = np.linalg.norm(own, axis=1)
        for before in range(column):
            other = found[:, :, before]
            own -= np.einsum("jm,jm->j", own, other)[:, None] * other
        left = np.linalg.norm(own, axis=1)
        own *= np.where(left > _DEPENDENT * size, 1 / np.maximum(left, smallest), 0.0)[:, None]
    return found
