"""Hypotheses decided together: with no effect anywhere, any false claim is made with at most 5 %."""

from collections.abc import Sequence

import numpy as np

from flowsweep.analysis.findings.finding import Decision, Finding
from flowsweep.analysis.findings.hypothesis import Hypothesis
from flowsweep.defaults import SIGNIFICANCE


def decided(hypotheses: Sequence[Hypothesis]) -> list[Finding]:
    """Decide hypotheses together.

    Args:
        hypotheses: All that are put to a campaign; their effects are in units of their own.

    Returns:
        One finding for each hypothesis, in the same order: "effect" where the p-value, corrected after Holm
        (1979) over all that have one, is below 0.05 and a second opinion, if there is one, agrees; else "no
        practical effect" where the 95 % interval lies within the margin; else "undecided". One without a
        p-value is "described".
    """
    return [
        _finding(hypothesis, p_adjusted)
        for hypothesis, p_adjusted in zip(hypotheses, corrected(hypotheses), strict=True)
    ]


def corrected(hypotheses: Sequence[Hypothesis]) -> list[float | None]:
    """Correct the p-values of hypotheses together, in the same order; None of one that has none."""
    adjusted = iter(holm([hypothesis.p_value for hypothesis in hypotheses if hypothesis.p_value is not None]))
    return [None if hypothesis.p_value is None else next(adjusted) for hypothesis in hypotheses]


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values for their number, after Holm (1979): the k-th smallest of m counts m + 1 − k times.

    Args:
        p_values: Of all hypotheses, in any order.

    Returns:
        The adjusted ones in the same order, at most 1. Those below 0.05 are claims of which, with a
        probability of 95 %, none is false.
    """
    raw = np.array(p_values, dtype=np.float64)
    order = np.argsort(raw)
    stepped = np.maximum.accumulate(raw[order] * np.arange(len(raw), 0, -1))
    adjusted = np.empty_like(raw)
    adjusted[order] = np.minimum(stepped, 1.0)
    return [float(value) for value in adjusted]


def _finding(hypothesis: Hypothesis, p_adjusted: float | None) -> Finding:
    decision, remark = _decision(hypothesis, p_adjusted)
    return Finding(
        kind=hypothesis.kind,
        sweep=hypothesis.scope.sweep,
        mode=hypothesis.scope.mode,
        direction=hypothesis.scope.direction,
        axis=hypothesis.axis,
        decision=decision,
        claim=hypothesis.say(decision),
        effect=hypothesis.estimate.effect,
        effect_unit=hypothesis.estimate.unit,
        interval_low=hypothesis.estimate.low,
        interval_high=hypothesis.estimate.high,
        p_value=hypothesis.p_value,
        p_adjusted=p_adjusted,
        n=hypothesis.n,
        method=hypothesis.method + remark,
        evidence=hypothesis.evidence,
        figure=hypothesis.figure_key,
    )


def _decision(hypothesis: Hypothesis, p_adjusted: float | None) -> tuple[Decision, str]:
    """What is decided, and what the second opinion adds to the method."""
    if p_adjusted is None:
        return ("undecided" if hypothesis.untestable else "described"), ""
    remark = ""
    if p_adjusted < SIGNIFICANCE:
        if hypothesis.second_opinion is None:
            return "effect", ""
        other = hypothesis.second_opinion()
        remark = f"; {hypothesis.second_method}: p = {other:.2g}"
        if other < SIGNIFICANCE:
            return "effect", remark
        return "undecided", f"{remark}, which does not bear it out"
    return ("no practical effect" if hypothesis.within_margin else "undecided"), remark
