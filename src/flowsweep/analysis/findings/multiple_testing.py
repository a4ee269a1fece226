"""Hypotheses decided together: with no effect anywhere, any false claim is made with at most 5 %."""

from collections.abc import Sequence

import numpy as np

from flowsweep.analysis.findings.finding import Decision, Finding
from flowsweep.analysis.findings.hypothesis import Question
from flowsweep.defaults import SIGNIFICANCE


def decided(questions: Sequence[Question]) -> list[Finding]:
    """Decide questions together.

    Args:
        questions: All that are asked of a campaign; their effects are in units of their own.

    Returns:
        One finding for each question, in the same order: "effect" where the p-value, corrected after Holm
        (1979) over all that have one, is below 0.05 and a second opinion, if there is one, agrees; else "no
        practical effect" where the 95 % interval lies within the margin; else "undecided". A question without
        a p-value is "described".
    """
    adjusted = iter(holm([question.p_value for question in questions if question.p_value is not None]))
    return [
        _finding(question, None if question.p_value is None else next(adjusted)) for question in questions
    ]


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values for their number, after Holm (1979): the k-th smallest of m counts m + 1 − k times.

    Args:
        p_values: Of all questions that were asked, in any order.

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


def _finding(question: Question, p_adjusted: float | None) -> Finding:
    decision, remark = _decision(question, p_adjusted)
    return Finding(
        kind=question.kind,
        sweep=question.sweep,
        mode=question.mode,
        direction=question.direction,
        axis=question.axis,
        decision=decision,
        claim=question.say(decision),
        effect=question.effect,
        effect_unit=question.effect_unit,
        interval_low=question.interval_low,
        interval_high=question.interval_high,
        p_value=question.p_value,
        p_adjusted=p_adjusted,
        n=question.n,
        method=question.method + remark,
        evidence=question.evidence,
        figure=question.figure,
    )


def _decision(question: Question, p_adjusted: float | None) -> tuple[Decision, str]:
    """What is decided, and what the second opinion adds to the method."""
    if p_adjusted is None:
        return ("undecided" if question.untestable else "described"), ""
    remark = ""
    if p_adjusted < SIGNIFICANCE:
        if question.second_opinion is None:
            return "effect", ""
        other = question.second_opinion()
        remark = f"; permutation within blocks: p = {other:.2g}"
        if other < SIGNIFICANCE:
            return "effect", remark
        return "undecided", f"{remark}, which does not bear it out"
    return ("no practical effect" if question.within_margin else "undecided"), remark
