"""Effects of what was varied in the order of time: a drift may be all of them."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from flowsweep.analysis.axes import AXIS_NAMES
from flowsweep.analysis.findings.hypothesis import NO_ESTIMATE, Hypothesis
from flowsweep.analysis.findings.order import Together, ran_together
from flowsweep.analysis.findings.sentences import percent
from flowsweep.analysis.statistics.campaign_series import seconds
from flowsweep.analysis.statistics.design import Design, coded
from flowsweep.analysis.statistics.least_squares import Codes, Floats
from flowsweep.analysis.summarising.trial_row import known
from flowsweep.wording import format_change, format_number

_COMPARE_LEVELS = frozenset({"effect", "flows", "decline"})
"""Kinds whose estimate is of goodput between levels of an axis, in percent."""
_PLATEAU = "plateau"


@dataclass(frozen=True, slots=True)
class _Drifted:
    """What a drift may have changed between the levels of an axis."""

    axis: str
    most: float
    """Natural logarithm, without sign: the farther end of the 95 % interval."""


def apart_from_drift(
    hypotheses: Iterable[Hypothesis], grid: Design, drift: Hypothesis | None, *, margin: float
) -> Iterator[Hypothesis]:
    """Keep effects of an axis from being claimed that a drift may be.

    Args:
        hypotheses: On the axes of the grid.
        grid: Of the same trials.
        drift: Of the same trials; its interval says by how much goodput may have changed over their time.
        margin: Of practical equivalence, relative.

    Yields:
        All of them. Where levels ran in the order of time (`ran_together`), and the drift that its interval
        allows changes goodput between the first and the last of them by as much as an effect is at least,
        nothing is claimed of the effect, nor of a plateau over the same axis; nor that there is none where a
        drift beyond the margin may hide it.
    """
    drifted = {} if drift is None else {one.axis: one for one in _drifted(grid, drift)}
    hypotheses = list(hypotheses)
    explained = {
        hypothesis.axis
        for hypothesis in hypotheses
        if hypothesis.axis in drifted and _explained(hypothesis, drifted[hypothesis.axis])
    }
    for hypothesis in hypotheses:
        found = drifted.get(hypothesis.axis or "")
        if found is None or hypothesis.p_value is None:
            yield hypothesis
        elif _explained(hypothesis, found) or (hypothesis.within_margin and found.most > math.log1p(margin)):
            yield replace(hypothesis, claim=_say(hypothesis, found), p_value=1.0, within_margin=False)
        elif hypothesis.kind == _PLATEAU and found.axis in explained:
            said = _say(hypothesis, found)
            yield replace(hypothesis, claim=said, estimate=NO_ESTIMATE, p_value=1.0, within_margin=False)
        else:
            yield hypothesis


def _drifted(grid: Design, drift: Hypothesis) -> Iterator[_Drifted]:
    low, high = drift.estimate.low, drift.estimate.high
    starts = [row["started_at"] for unit in grid.units for row in unit.rows]
    if low is None or high is None or any(start is None for start in starts):
        return
    times_s = [seconds(known(start)) for start in starts]
    span_s = max(times_s) - min(times_s)
    most = max(abs(math.log1p(end / 100)) for end in (low, high))
    for together in ran_together(grid):
        if span_s > 0:
            yield _Drifted(together.axis, most * _apart_s(grid, together) / span_s)


def _apart_s(grid: Design, together: Together) -> float:
    """How long after the level that ran first the one that ran last did, on average; s."""
    starts_s = np.array([seconds(known(unit.rows[0]["started_at"])) for unit in grid.units])
    if together.within:
        starts_s = starts_s - _means(starts_s, grid.repeats)[grid.repeats]
    place = grid.axes.index(together.axis)
    means = _means(starts_s, coded([unit.levels[place] for unit in grid.units]))
    return float(np.ptp(means))


def _means(values: Floats, codes: Codes) -> Floats:
    return np.asarray(np.bincount(codes, values) / np.bincount(codes))


def _explained(hypothesis: Hypothesis, found: _Drifted) -> bool:
    """Whether a drift may be all of an effect: its interval's end that is nearer to 0 is no farther."""
    low, high = hypothesis.estimate.low, hypothesis.estimate.high
    if hypothesis.kind not in _COMPARE_LEVELS or low is None or high is None or low * high <= 0:
        return False
    return min(abs(math.log1p(end / 100)) for end in (low, high)) <= found.most


def _say(hypothesis: Hypothesis, found: _Drifted) -> str:
    name = AXIS_NAMES[found.axis]
    where = "" if hypothesis.scope.direction is None else f"{hypothesis.scope.direction}: "
    whether = f"whether the {name} matters"
    differs = "its levels"
    if hypothesis.kind == _PLATEAU:
        whether = f"which {name} is enough"
    elif hypothesis.kind == "decline":
        whether = f"whether goodput declines with the {name}"
    if hypothesis.kind != _PLATEAU:
        estimate = hypothesis.estimate
        if estimate.effect is not None and estimate.low is not None and estimate.high is not None:
            change = format_change(estimate.effect, estimate.low, estimate.high)
            differs = f"goodput differs by {change} between levels that"
    whether = whether if where else f"{whether[0].upper()}{whether[1:]}"
    return (
        f"{where}{whether} is undecided: {differs} ran in the order of time, and by a drift that the trials "
        f"do not exclude goodput changes by up to {format_number(percent(found.most))} % from the first of "
        "them to the last."
    )
