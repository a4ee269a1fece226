"""Effects of what was varied in the order of time: goodput may have changed by itself."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from flowsweep.analysis.axes import AXIS_NAMES
from flowsweep.analysis.findings.hypothesis import NO_ESTIMATE, Hypothesis
from flowsweep.analysis.findings.order import in_order_of_time
from flowsweep.analysis.findings.sentences import percent
from flowsweep.analysis.statistics.blocks import blocks
from flowsweep.analysis.statistics.campaign_series import CampaignSeries, campaign_series
from flowsweep.analysis.statistics.design import Design, coded
from flowsweep.analysis.statistics.intervals import half_width
from flowsweep.analysis.statistics.least_squares import Codes, Floats
from flowsweep.analysis.statistics.red_noise import noise_models, plausible
from flowsweep.wording import format_change, format_number

_COMPARE_LEVELS = frozenset({"effect", "flows", "congestion", "decline", "dip"})
"""Kinds whose estimate is of goodput between levels of an axis, in percent."""
_PLATEAU = "plateau"
_ONE_WAY = frozenset({"effect", "flows", "congestion", "decline"})
"""What an even change may look like: it has no dip."""


@dataclass(frozen=True, slots=True)
class _ByItself:
    """By how much goodput may have changed between levels of an axis; natural logarithms, without sign."""

    axis: str
    share: float
    """Of the campaign's time, from the first level to the last."""
    wandering: float
    """Between two levels: 95 % of noise of which neighbours resemble each other is within it."""
    over_all: float = 0.0
    """Over all of that time: the farther end of the 95 % interval of the drift."""

    @property
    def drift(self) -> float:
        """From the first level to the last."""
        return self.over_all * self.share

    @property
    def most(self) -> float:
        return max(self.drift, self.wandering)


def apart_from_time(
    hypotheses: Iterable[Hypothesis], grid: Design, drifts: Sequence[Hypothesis], *, margin: float
) -> Iterator[Hypothesis]:
    """Keep what time may have done from being claimed as an effect of an axis.

    Args:
        hypotheses: On the axes of the grid.
        grid: Of the same trials.
        drifts: Of the same trials, or of each direction; their intervals say by how much goodput may have
            changed.
        margin: Of practical equivalence, relative.

    Yields:
        All of them. Where the levels of an axis ran in an order of time within the blocks of comparisons
        (`in_order_of_time`), nothing is claimed of an effect that may be no larger than what
        the drift allows between the first of them and the last, or is no larger than what noise of which
        neighbours resemble each other allows between two, the most by those of `noise_models` that are
        not refuted; nor of a plateau over the same axis then, nor that there is no effect where such a change
        beyond the margin may hide one.
    """
    found = {one.axis: one for one in _by_itself(grid)}
    asked = [(one, _of(one, found.get(one.axis or ""), drifts)) for one in hypotheses]
    explained = {one.axis for one, time in asked if time is not None and _explained(one, time)}
    for hypothesis, time in asked:
        if time is None or hypothesis.p_value is None:
            yield hypothesis
            continue
        plateau = hypothesis.kind == _PLATEAU and time.axis in explained
        hidden = hypothesis.within_margin and time.most > math.log1p(margin)
        if not (plateau or hidden or _explained(hypothesis, time)):
            yield hypothesis
            continue
        estimate = NO_ESTIMATE if plateau else hypothesis.estimate
        said = _say(hypothesis, time)
        yield replace(hypothesis, claim=said, estimate=estimate, p_value=1.0, within_margin=False)


def _of(hypothesis: Hypothesis, time: _ByItself | None, drifts: Sequence[Hypothesis]) -> _ByItself | None:
    """The same, with the farthest end of the drifts of the directions that are asked about."""
    if time is None:
        return None
    direction = hypothesis.scope.direction
    ends = [
        end
        for drift in drifts
        if None in (direction, drift.scope.direction) or direction == drift.scope.direction
        for end in (drift.estimate.low, drift.estimate.high)
        if end is not None
    ]
    return replace(time, over_all=max((abs(math.log1p(end / 100)) for end in ends), default=0.0))


def _by_itself(grid: Design) -> Iterator[_ByItself]:
    in_order = [one.axis for one in in_order_of_time(grid) if one.within]
    series = campaign_series(grid) if in_order else None
    if series is None:
        return
    own = blocks(grid)
    order = np.argsort([unit.rows[0]["started_at"] or "" for unit in grid.units], kind="stable")
    for axis in in_order:
        place = grid.axes.index(axis)
        levels = coded([grid.units[unit].levels[place] for unit in order])
        share = _apart_s(series, levels, own[order]) / series.span_s
        yield _ByItself(axis, share, _wandering(series, levels))


def _apart_s(series: CampaignSeries, levels: Codes, own: Codes) -> float:
    """How long after the level that ran first the one that ran last did within blocks, on average; s."""
    starts_s = series.units_s - _means(series.units_s, own)[own]
    return float(np.ptp(_means(starts_s, levels)))


def _means(values: Floats, codes: Codes) -> Floats:
    return np.asarray(np.bincount(codes, values) / np.bincount(codes))


def _wandering(series: CampaignSeries, codes: Codes) -> float:
    """By how much the means of two levels differ by noise alone, with 95 %."""
    models = noise_models(series)
    left = series.contrasts.T @ series.values
    squares = np.square(models.whiteners @ left).sum(axis=1)
    likelihoods = -models.freedom / 2 * np.log(squares) - models.log_roots
    of_units = np.eye(int(codes.max()) + 1)[codes]
    # A value may be of neighbours that had several levels.
    weights = series.averaged(of_units).T
    weights = weights / weights.sum(axis=1, keepdims=True)
    most = 0.0
    for number in plausible(likelihoods):
        covariance = weights @ models.kinds[number].covariance(series) @ weights.T
        own = np.diagonal(covariance)
        between = own[:, None] + own[None, :] - 2 * covariance
        most = max(most, float(between.max()) * float(squares[number]) / models.freedom)
    return half_width(math.sqrt(most), models.freedom)


def _explained(hypothesis: Hypothesis, time: _ByItself) -> bool:
    """Whether time may be all of an effect."""
    effect, low, high = hypothesis.estimate.effect, hypothesis.estimate.low, hypothesis.estimate.high
    if hypothesis.kind not in _COMPARE_LEVELS or effect is None or low is None or high is None:
        return False
    if low * high <= 0:
        return False
    least = min(abs(math.log1p(end / 100)) for end in (low, high))
    drifted = hypothesis.kind in _ONE_WAY and least <= time.drift
    return drifted or abs(math.log1p(effect / 100)) <= time.wandering


def _say(hypothesis: Hypothesis, time: _ByItself) -> str:
    name = AXIS_NAMES[time.axis]
    where = "" if hypothesis.scope.direction is None else f"{hypothesis.scope.direction}: "
    whether = {
        _PLATEAU: f"which {name} is enough",
        "decline": f"whether goodput declines with the {name}",
        "dip": f"whether goodput dips at a {name} between others",
    }.get(hypothesis.kind, f"whether the {name} matters")
    estimate, differs = hypothesis.estimate, "its levels"
    numbers = (estimate.effect, estimate.low, estimate.high)
    if hypothesis.kind != _PLATEAU and all(number is not None for number in numbers):
        change = format_change(*(number for number in numbers if number is not None))
        differs = f"goodput differs by {change} between levels that"
    whether = whether if where else whether[0].upper() + whether[1:]
    return (
        f"{where}{whether} is undecided: {differs} ran in the order of time, and as far as the trials tell "
        f"goodput changes by up to {format_number(percent(time.most))} % by itself between them."
    )
