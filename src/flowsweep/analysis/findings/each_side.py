"""Trials held against those on their own side of a step, where there is one."""

from collections.abc import Callable, Iterable, Sequence

from flowsweep.analysis.findings.hypothesis import Hypothesis
from flowsweep.analysis.findings.multiple_testing import corrected
from flowsweep.analysis.findings.outliers import outlier_hypotheses
from flowsweep.analysis.findings.steps import trials_since
from flowsweep.analysis.findings.variation import variation_hypotheses
from flowsweep.analysis.statistics.design import design
from flowsweep.analysis.statistics.observations import Observations, Scope
from flowsweep.analysis.statistics.repeat_noise import repeat_noise
from flowsweep.defaults import SIGNIFICANCE


def on_each_side(
    hypotheses: Sequence[Hypothesis],
    campaign: Sequence[Observations],
    bounds_since: Callable[..., Iterable[Hypothesis]],
) -> list[Hypothesis]:
    """Describe variation and outliers by each side of claimed steps; bounds leave these outliers out.

    A series without a step that is split where it would step most scatters by less than it does.

    Args:
        hypotheses: All that are put to a campaign: which steps are claimed depends on how many were tested.
        campaign: Trials of each sweep and mode; goodput in bit/s.
        bounds_since: Asks what `hypotheses` has of kind "bounds", in the same order; of the trial_id of
            those since steps, if there are some.
    """
    p_values = corrected(hypotheses)
    claimed = [
        one
        for one, p_value in zip(hypotheses, p_values, strict=True)
        if one.kind == "step" and p_value is not None and p_value < SIGNIFICANCE
    ]
    split: dict[tuple[str, Scope], Hypothesis] = {}
    for observed in campaign:
        own = [one for one in claimed if one.scope[:2] == (observed.sweep, observed.mode)]
        if sides := [side for one in own for side in one.sides]:
            grid = design(observed, paired=False)
            noise = repeat_noise(grid, sides)
            described = [*variation_hypotheses(observed, grid, noise), *outlier_hypotheses(observed, noise)]
            split |= {(one.kind, one.scope): one for one in described}
    described_anew = [split.get((one.kind, one.scope), one) for one in hypotheses]
    since_all = trials_since(claimed)
    if not since_all:
        return described_anew
    bounds = iter(bounds_since(since_all))
    return [next(bounds) if one.kind == "bounds" else one for one in described_anew]
