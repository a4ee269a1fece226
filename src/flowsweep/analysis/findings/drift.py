"""Did goodput drift over the campaign?"""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from flowsweep.analysis.findings.finding import Decision
from flowsweep.analysis.findings.hypothesis import NO_ESTIMATE, Estimate, Hypothesis, over_time
from flowsweep.analysis.findings.sentences import percent
from flowsweep.analysis.findings.steps import Step, moments
from flowsweep.analysis.statistics.campaign_series import CampaignSeries
from flowsweep.analysis.statistics.courses import even_change
from flowsweep.analysis.statistics.likelihood_ratio import Course, CourseTest
from flowsweep.analysis.statistics.observations import Observations
from flowsweep.defaults import EQUIVALENCE_MARGIN, SECOND_NS, SIGNIFICANCE
from flowsweep.wording import counted, format_change, format_duration, format_margin

_IMPRECISE_FACTOR = 2.0
"""Where goodput may have fallen and risen by as much, numbers say nothing."""
_LEAST_BEYOND = 3
"""Degrees of freedom beyond the slope and what stands beside it."""
_METHOD = (
    "slope of log goodput over time, points taken out, by generalised least squares; {} of freedom; against "
    "red noise and against repeats and days that differ; p and interval by simulated campaigns"
)
_LEAST_TIME_LEFT = 0.01
"""Share of the squares of time that points, and what goodput may follow anyway, must leave."""
_LEAST_BESIDE_POINTS = 0.5
"""Share of them that points must leave: with less, most of a change over time may be one of settings. Two
repeats of a list of points leave three quarters."""


def drift_hypotheses(
    observed: Observations,
    series: CampaignSeries,
    asked: CourseTest,
    step: Step | None,
    *,
    margin: float = EQUIVALENCE_MARGIN,
) -> list[Hypothesis]:
    """Ask whether goodput rose or fell evenly over the campaign.

    Args:
        observed: Trials of one sweep and mode; goodput in bit/s.
        series: Of the same trials.
        asked: With what goodput may follow anyway.
        step: The most telling one: a step is no drift.
        margin: Of practical equivalence, relative, from the first trial to the last.

    Returns:
        One hypothesis, none where time is confounded with the points. The effect is the change of goodput in
        percent from the first trial's start to the last's: the slope of log goodput over time by generalised
        least squares with the noise of the highest restricted likelihood (Patterson and Thompson 1971,
        Biometrika 58), what repeats and days share being noise, so that a slope within repeats that does not
        go on from one to the next is none. p and interval by simulated campaigns. Never "no effect" where
        points explain more than half of the squares of time. No numbers where the interval holds both half
        the goodput and the double.
    """
    course = _even_change(series, asked)
    if course is None:
        return []
    estimate = course.first()
    rather = _rather(course, step)
    precise = estimate[1] > -math.log(_IMPRECISE_FACTOR) or estimate[2] < math.log(_IMPRECISE_FACTOR)
    say = partial(_say, estimate, series.span_s, margin) if precise else partial(_say_open, series.span_s)
    hypothesis = over_time(
        "drift",
        observed.scope(),
        say,
        series.trials,
        Estimate.in_percent(estimate if precise else None),
        p_value=course.p_value,
        within_margin=max(-estimate[1], estimate[2]) <= math.log1p(margin),
        method=_METHOD.format(counted(series.freedom - asked.beside.shape[1] - 1, "degree")),
    )
    if _with_points(series):
        # What settings explain may be a change, too: that there is none nobody can say.
        say = partial(_say_points, say, estimate if precise else None, series.span_s)
        hypothesis = replace(hypothesis, claim=say, within_margin=False)
    return [hypothesis if rather is None else _not_even(hypothesis, moments(series, rather.between_s))]


def _not_even(hypothesis: Hypothesis, when: str) -> Hypothesis:
    """Claim nothing: a line through a step has a slope that no trial shows."""
    return replace(
        hypothesis,
        claim=partial(_say_step, when),
        estimate=NO_ESTIMATE,
        p_value=1.0,
        within_margin=False,
    )


def _with_points(series: CampaignSeries) -> bool:
    """Whether points ran at times so unlike that a change over time may be theirs."""
    time = even_change(series)[:, 0]
    middle = series.averaged(series.units_s[:, None] / series.span_s)[:, 0]
    return bool(time @ time < _LEAST_BESIDE_POINTS * np.square(middle - middle.mean()).sum())


def _even_change(series: CampaignSeries, asked: CourseTest) -> Course | None:
    """The change of log goodput over the whole span, if it was even."""
    if series.freedom < asked.beside.shape[1] + 1 + _LEAST_BEYOND:
        return None
    time = even_change(series)[:, 0]
    beside = asked.beside
    left = time - beside @ np.linalg.lstsq(beside, time, rcond=None)[0] if beside.shape[1] else time
    middle = series.starts_s / series.span_s
    if left @ left < _LEAST_TIME_LEFT * np.square(middle - middle.mean()).sum():
        return None
    return CourseTest(asked.models, asked.values, time[None, :, None], beside, lasting=True).best()


def _rather(course: Course, step: Step | None) -> Step | None:
    """The step that says better what a drift would say, too."""
    if step is None or step.course.p_value >= SIGNIFICANCE or step.ratio <= course.ratio:
        return None
    return step


def _say_step(when: str, _decision: Decision) -> str:
    return (
        f"Whether goodput drifted is undecided: a step {when} describes it better than an even change, if it "
        "changed at all."
    )


def _say_points(
    say: Callable[[Decision], str], estimate: tuple[float, float, float] | None, span_s: float,
    decision: Decision,
) -> str:  # fmt: skip
    if decision == "effect":
        return f"{say(decision)[:-1]}, between trials of the same settings."
    own = ""
    if estimate is not None:
        own = f" Between trials of the same settings it changed by {_change(estimate)} {_over(span_s)}."
    return (
        "Whether goodput drifted is undecided: settings ran at times of their own, so that a change over "
        f"time cannot be told from one of settings.{own}"
    )


def _say_open(span_s: float, _decision: Decision) -> str:
    return (
        f"Whether goodput drifted {_over(span_s)} is undecided: trials vary, resemble their neighbours or "
        "shift with their repeat by so much that neither a halving nor a doubling can be excluded."
    )


def _say(estimate: tuple[float, float, float], span_s: float, margin: float, decision: Decision) -> str:
    change = _change(estimate)
    if decision == "effect":
        small = max(-estimate[1], estimate[2]) <= math.log1p(margin)
        remark = f", which is less than the margin of {format_margin(margin)}" if small else ""
        return f"Goodput drifted: it changed by {change} {_over(span_s)}{remark}."
    if decision == "no practical effect":
        return f"Goodput did not drift: it changed by {change} {_over(span_s)}, no practical effect."
    return f"Whether goodput drifted is undecided: by {change} {_over(span_s)}, as far as the trials tell."


def _change(estimate: tuple[float, float, float]) -> str:
    return format_change(*(percent(value) for value in estimate))


def _over(span_s: float) -> str:
    return f"over the {format_duration(round(span_s) * SECOND_NS)} between the first and the last value"
