"""Did goodput step, from one trial to the next, and stay there?"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial

from flowsweep.analysis.findings.finding import Decision
from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis, over_time
from flowsweep.analysis.findings.sentences import percent
from flowsweep.analysis.statistics.campaign_series import CampaignSeries, seconds
from flowsweep.analysis.statistics.courses import step_places, steps, tells_days
from flowsweep.analysis.statistics.least_squares import Floats
from flowsweep.analysis.statistics.likelihood_ratio import Course, CourseTest
from flowsweep.analysis.statistics.observations import DIRECTION, Observations
from flowsweep.analysis.statistics.red_noise import NOT_REFUTED
from flowsweep.defaults import SIGNIFICANCE
from flowsweep.wording import format_change

_LEAST_BEYOND = 3
"""Degrees of freedom beyond the step and what stands beside it."""
_NOT_REFUTED = 1.5
"""Less than elsewhere, for power. That noise seldom passes for a step is shown by simulation alone:
tests/truth/test_false_claims.py."""
_SIGN = 0.2
"""p of the hour of the day up to which a step is looked for beside it. Two and a half days of waves explain a
part of any step: of 200 steps of three standard deviations amid 60 hours 85 % are found always beside them,
like this 92 %."""
_BOTH = 2
"""Directions of one path. A step of one of them is half of that in the mean."""
_METHOD = (
    "likelihood ratio of a step at any time, points taken out, against red noise and against "
    "repeats and days that differ; p by simulated campaigns; interval for a step at that time"
)
_on_step = partial(over_time, "step", method=_METHOD)


@dataclass(frozen=True, slots=True)
class Step:
    """The most telling step of a series."""

    place: int
    """Number of the first value after it."""
    course: Course
    ratio: float
    """As `Course.ratio`, beside all that goodput may follow anyway."""
    interval: tuple[float, float, float] | None
    """Natural logarithm of after / before, and ends of its 95 % interval; none where it may be chance."""


def found_step(series: CampaignSeries, asked: CourseTest) -> Step | None:
    """Find the most telling step.

    Args:
        series: Of a campaign.
        asked: With what goodput may follow anyway.

    Returns:
        None where there are too few values. The step must hold for all values before and after it (Page 1955,
        A test for a change in a parameter occurring at an unknown point, Biometrika 42); what repeats or days
        share is noise, so that days that differ are no step. The hour of the day counts where there is
        a sign of it beside the most telling step; p does not know of that choice.
    """
    places = step_places(series)
    if not len(places) or series.freedom < asked.beside.shape[1] + 1 + _LEAST_BEYOND:
        return None
    courses = (steps(series, places) @ series.contrasts)[:, :, None]
    test = CourseTest(
        asked.models, asked.values, courses, asked.beside, lasting=True, not_refuted=_NOT_REFUTED
    )
    course = test.best()
    ratio = course.ratio
    if tells_days(series) and not _follows(asked, courses[course.number]):
        test = replace(test, beside=asked.beside[:, :0])
        course = test.best()
    interval = None
    if course.p_value < SIGNIFICANCE:
        alone = replace(test.only(course.number), not_refuted=NOT_REFUTED)
        interval = alone.best().first()
    return Step(int(places[course.number]), course, ratio, interval)


def _follows(asked: CourseTest, step: Floats) -> bool:
    """Whether there is a sign of the hour of the day, beside a step: (freedom, 1)."""
    return CourseTest(asked.models, asked.values, asked.beside[None], step).best().p_value <= _SIGN


def step_hypotheses(observed: Observations, series: CampaignSeries, step: Step | None) -> list[Hypothesis]:
    """Ask whether goodput stepped.

    Args:
        observed: Trials of one sweep and mode; goodput in bit/s.
        series: Of the same trials.
        step: The most telling one.

    Returns:
        At most one, none where there are too few values. The effect is the change in percent from before the
        step to after it, over all values of each, with an interval for a step at that time; none where it may
        be chance. The evidence of one that is beyond chance by itself is the trials since then, also those
        that are no part of the series, since their counterpart failed.
    """
    if step is None:
        return []
    change = Estimate.in_percent(step.interval)
    return [
        _on_step(
            observed.scope(),
            partial(_say, series, step, _of_which(observed)),
            series.trials if step.interval is None else _since(observed, series, step),
            change,
            p_value=step.course.p_value,
            trials=len(series.trials),
        )
    ]


def trials_since(hypotheses: Iterable[Hypothesis]) -> frozenset[str]:
    """Name the trials since the steps among some hypotheses, all of which are claimed."""
    steps = (one for one in hypotheses if one.kind == "step" and one.estimate.effect is not None)
    return frozenset(trial for one in steps for trial in one.evidence)


def _since(observed: Observations, series: CampaignSeries, step: Step) -> tuple[str, ...]:
    """The trials since a step: those that began later than midway between the units next to it."""
    after = series.bins >= step.place
    least_s = series.began_s + float(series.units_s[~after].max() + series.units_s[after].min()) / 2
    began = ((row["trial_id"], row["started_at"]) for row in observed.rows)
    return tuple(trial for trial, at in began if at is not None and seconds(at) >= least_s)


def _of_which(observed: Observations) -> str:
    """Of what a change is the mean, where it is of two directions: one of them may not have changed."""
    both = len({row[DIRECTION] for row in observed.rows}) == _BOTH
    return " in the mean of both directions" if both else ""


def _say(series: CampaignSeries, step: Step, of_which: str, decision: Decision) -> str:
    when = moments(series, step.place)
    if decision == "effect" and step.interval is not None:
        change = format_change(*(percent(end) for end in step.interval))
        return f"Goodput changed in one step {when}: by {change}{of_which}."
    return f"No step stands out from how trials differ: the most telling one, {when}, may be chance."


def moments(series: CampaignSeries, place: int) -> str:
    """Say between which values of a series, in words: "between 2026-03-01 12:00 and 13:00 UTC".

    Where both are of one second: "about 2026-03-01 12:00:05 UTC".
    """
    before, after = (series.moment(float(series.starts_s[at])) for at in (place - 1, place))
    if f"{before:%Y-%m-%d %H:%M:%S}" == f"{after:%Y-%m-%d %H:%M:%S}":
        return f"about {before:%Y-%m-%d %H:%M:%S} UTC"
    seconds = (after - before).total_seconds()
    clock = "%H:%M" if seconds >= 60 else "%H:%M:%S"
    date = "" if before.date() == after.date() else "%Y-%m-%d "
    return f"between {before:%Y-%m-%d {clock}} and {after:{date}{clock}} UTC"
