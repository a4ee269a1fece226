"""How far each point's shift lies from the mean shift over all points: between campaigns, or within pairs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flowsweep.analysis.statistics.least_squares import Codes, Fit, Floats
from flowsweep.analysis.statistics.uncertain import Uncertain
from flowsweep.moderated_variances import Moderated, moderated

_LEAST_FREEDOM = 1e-9


@dataclass(frozen=True, slots=True)
class Side:
    """The trials of one campaign, or its pairs of trials."""

    logs: Floats
    """(n,) natural logarithms of goodput, or their differences within pairs."""
    points: Codes
    """(n,) number of the point, the same on both sides; each occurs."""
    repeats: Codes
    """(n,) number of the repeat."""


def point_deviations(*sides: Side) -> Uncertain | None:
    """Estimate, for each point, its shift from A to B less the mean over all points.

    Args:
        sides: Trials of at least two points in A, and in B; or one side of differences, B less A.

    Returns:
        Least squares in each campaign, a mean for each point and repeats as blocks, so that what a repeat has
        in common is in no deviation. A trial's variance is taken as campaign × point: that of the campaign
        from all its points, that of the point from both campaigns, moderated over the points
        (`moderated_variances`). As in `uncertain.mean_difference` campaigns count with their own variance and
        with a common one, and the wider interval is taken; it is infinite where a point shares no repeat with
        the others. None where no repeats tell the noise.
    """
    fits = [Fit(side.logs, side.points, side.repeats) for side in sides]
    freedom = np.array([max(fit.freedom, 0) for fit in fits], dtype=np.float64)
    if not freedom.any():
        return None
    count = int(sides[0].points.max()) + 1
    contrasts = np.eye(count) - 1 / count
    weights = [fit.weights(contrasts) for fit in fits]
    spread = np.array([np.square(each).sum(axis=1) for each in weights])
    squares = np.array([float(fit.residuals @ fit.residuals) for fit in fits])
    common = float(squares.sum() / freedom.sum())
    own = np.divide(squares, freedom, out=np.full(len(sides), common), where=freedom > 0)
    own_freedom = np.where(freedom > 0, freedom, freedom.sum())
    relative = _relative(fits, sides, own)
    value = weights[-1] @ sides[-1].logs
    if len(sides) > 1:
        value = value - weights[0] @ sides[0].logs
    variances = own[:, None] * spread
    total = variances.sum(axis=0)
    welch = np.full(count, freedom.sum())
    np.divide(total**2, (variances**2 / own_freedom[:, None]).sum(axis=0), out=welch, where=total > 0)
    by_rule = np.array([total, common * spread.sum(axis=0)]) * relative.variances
    freedoms = np.array([welch, np.full(count, freedom.sum())])
    if relative.freedom < freedom.sum():
        freedoms = 1 / (1 / freedoms + 1 / relative.freedom)
    known = np.all([_known(each, contrasts, side) for each, side in zip(weights, sides, strict=True)], axis=0)
    return Uncertain(value, np.where(known, np.sqrt(by_rule), np.inf), freedoms)


def _known(weights: Floats, contrasts: Floats, side: Side) -> NDArray[np.bool_]:
    """Which contrasts the trials tell: not those of points that share no repeat with others, however far."""
    return np.asarray(
        np.isclose(weights @ np.eye(contrasts.shape[1])[side.points], contrasts).all(axis=1), dtype=np.bool_
    )


def _relative(fits: Sequence[Fit], sides: Sequence[Side], own: Floats) -> Moderated:
    """Variance of each point as a multiple of its campaign's."""
    count = int(sides[0].points.max()) + 1
    freedom, squares = np.zeros(count), np.zeros(count)
    for fit, side, variance in zip(fits, sides, own, strict=True):
        if fit.freedom > 0 and variance > 0:
            freedom += np.bincount(side.points, 1 - fit.leverages, minlength=count)
            squares += np.bincount(side.points, fit.residuals**2, minlength=count) / variance
    repeated = freedom > _LEAST_FREEDOM
    if not repeated.any():
        return Moderated(np.ones(count), np.inf)
    found = moderated(squares[repeated] / freedom[repeated], freedom[repeated])
    # What a point without repeats of its own varies nobody knows: as much as the worst of the others.
    variances = np.full(count, float(found.variances.max()))
    variances[repeated] = found.variances
    return Moderated(variances, found.freedom)
