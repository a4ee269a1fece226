"""Trials held against those on their own side of a step, where there is one."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from flowsweep.analysis.findings.hypothesis import Hypothesis
from flowsweep.analysis.findings.multiple_testing import corrected
from flowsweep.analysis.findings.outliers import outlier_hypotheses
from flowsweep.analysis.findings.steps import sides_of, trials_since
from flowsweep.analysis.findings.variation import variation_hypotheses
from flowsweep.analysis.statistics.design import design
from flowsweep.analysis.statistics.observations import DIRECTION, Observations
from flowsweep.analysis.statistics.repeat_noise import repeat_noise
from flowsweep.defaults import SIGNIFICANCE

_OVER_LEVELS = frozenset({"effect", "flows", "congestion", "plateau", "dip", "decline"})
"""Kinds that compare the goodput of levels of an axis."""


def on_each_side(
    hypotheses: Sequence[Hypothesis],
    campaign: Sequence[Observations],
    bounds_since: Callable[..., Iterable[Hypothesis]],
    over_levels: Callable[[Observations], Iterable[Hypothesis]],
) -> list[Hypothesis]:
    """Hold trials against those on their own side of claimed steps: levels, repeats and outliers.

    A series without a step that is split where it would step most scatters by less than it does; and what
    differs between sides is no effect of a level that ran more often on one of them.

    Args:
        hypotheses: All that are put to a campaign: which steps are claimed depends on how many were tested.
        campaign: Trials of each sweep and mode; goodput in bit/s.
        bounds_since: Asks what `hypotheses` has of kind "bounds", in the same order; of the trial_id of
            those since steps, if there are some.
        over_levels: Asks what `hypotheses` has of levels and directions, of trials of which sides are known.

    Returns:
        All hypotheses. Steps split nothing that are claimed only beside what they take away.
    """
    claimed = _claimed_steps(hypotheses, hypotheses)
    while True:
        asked = _asked_anew(hypotheses, claimed, campaign, bounds_since, over_levels)
        still = _claimed_steps(asked, claimed)
        if len(still) == len(claimed):
            return asked
        claimed = still


def _claimed_steps(hypotheses: Sequence[Hypothesis], among: Sequence[Hypothesis]) -> list[Hypothesis]:
    """Those of some steps that are claimed where all of these hypotheses are decided together."""
    steps = {id(one) for one in among if one.kind == "step"}
    return [
        one
        for one, p_value in zip(hypotheses, corrected(hypotheses), strict=True)
        if id(one) in steps and p_value is not None and p_value < SIGNIFICANCE
    ]


def _asked_anew(
    hypotheses: Sequence[Hypothesis],
    claimed: Sequence[Hypothesis],
    campaign: Sequence[Observations],
    bounds_since: Callable[..., Iterable[Hypothesis]],
    over_levels: Callable[[Observations], Iterable[Hypothesis]],
) -> list[Hypothesis]:
    """All hypotheses, those of trials on both sides of a claimed step asked of each side."""
    anew = list(hypotheses)
    for observed in campaign:
        own = [one for one in claimed if one.scope[:2] == (observed.sweep, observed.mode)]
        if sides := sides_of(own):
            sided = replace(observed, sides=sides)
            grid = design(sided, paired=False)
            noise = repeat_noise(grid)
            described = [*variation_hypotheses(observed, grid, noise), *outlier_hypotheses(observed, noise)]
            split = {(one.kind, one.scope): one for one in described}
            anew = [split.get((one.kind, one.scope), one) for one in anew]
            anew = list(_over_levels_of(observed, anew, over_levels(sided)))
    since_all = trials_since(claimed)
    if not since_all:
        return anew
    bounds = iter(bounds_since(since_all))
    return [next(bounds) if one.kind == "bounds" else one for one in anew]


def _over_levels_of(
    observed: Observations, hypotheses: Iterable[Hypothesis], asked: Iterable[Hypothesis]
) -> Iterator[Hypothesis]:
    """Put what was asked over levels of the same trials in place of what hypotheses have of that."""
    anew = [_naming_sides(one) for one in asked if _is_over_levels(one)]
    for one in hypotheses:
        if not _is_over_levels(one) or one.scope[:2] != (observed.sweep, observed.mode):
            yield one
        else:
            yield from anew
            anew = []


def _is_over_levels(asked: Hypothesis) -> bool:
    return asked.kind in _OVER_LEVELS or asked.axis == DIRECTION


def _naming_sides(asked: Hypothesis) -> Hypothesis:
    """Directions are compared since the last step, and say so themselves."""
    if asked.axis == DIRECTION:
        return asked
    return replace(asked, method=f"{asked.method}; each side of a step by itself")
