"""Did goodput step, from one trial to the next, and stay there?"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import numpy as np

from flowsweep.analysis.findings.finding import Decision
from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis, over_time
from flowsweep.analysis.findings.sentences import percent
from flowsweep.analysis.statistics.campaign_series import CampaignSeries, seconds
from flowsweep.analysis.statistics.courses import step_places, steps, tells_days
from flowsweep.analysis.statistics.least_squares import Codes, Floats
from flowsweep.analysis.statistics.likelihood_ratio import Course, CourseTest
from flowsweep.analysis.statistics.observations import DIRECTION, Observations
from flowsweep.analysis.statistics.red_noise import NOT_REFUTED
from flowsweep.analysis.statistics.step_times import around, not_refuted
from flowsweep.defaults import EQUIVALENCE_MARGIN, SIGNIFICANCE
from flowsweep.wording import format_change, format_margin

_LEAST_BEYOND = 3
"""Degrees of freedom beyond the step and what stands beside it."""
_NOT_REFUTED = 1.5
"""Less than elsewhere, for power. That noise seldom passes for a step is shown by simulation alone:
tests/truth/test_false_claims.py."""
_SIGN = 0.2
"""p of the hour of the day up to which a step is looked for beside it. Two and a half days of waves explain a
part of any step: of 200 steps of three standard deviations amid 60 hours 85 % are found always beside them,
like this 92 %."""
_MOST_ENDS = 40
"""Places between any two of which goodput may have been another."""
_ALTERNATIVES = 2
"""A step, or two of them: p is multiplied by what is tried (Bonferroni)."""
_SECOND_SURE = 0.01
"""p of two steps, or of a second one: noise whose neighbours resemble each other often looks like them."""
_AT_BOTH_ENDS = 2
"""Averages end where goodput changed most, which makes it look larger: likewise. Of 100 series of 336 trials
of t-distributed noise with 3 degrees of freedom, 12 were said to step at p < 0.05, of normal noise 5."""
_BOTH = 2
"""Directions of one path. A step of one of them is half of that in the mean."""
_METHOD = (
    "likelihood ratio of a step at any time, points taken out, against red noise and against "
    "repeats and days that differ; p by simulated campaigns; interval for a step at that time; a second step "
    "is looked for beside the first"
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
    between_s: tuple[float, float]
    """Times of trials between which it was, since the first one."""
    second: "Step | None" = None
    """Another one beside it: goodput came back, or changed further."""

    @property
    def places(self) -> list[int]:
        """Of all steps, in the order of time."""
        return [step.place for step in self.in_order]

    @property
    def in_order(self) -> list["Step"]:
        """All steps in the order of time."""
        return sorted([self, *([] if self.second is None else [self.second])], key=lambda step: step.place)


def found_step(series: CampaignSeries, asked: CourseTest) -> Step | None:
    """Find the most telling step.

    Args:
        series: Of a campaign.
        asked: With what goodput may follow anyway.

    Returns:
        None where there are too few values. The step must hold for all values before and after it (Page 1955,
        A test for a change in a parameter occurring at an unknown point, Biometrika 42), or up to a second
        one, which is looked for beside the first; what repeats or days share is noise, so that days that
        differ are no step. The hour of the day counts where there is a sign of it beside the most telling
        step; p does not know of that choice.
    """
    places = step_places(series)
    if not len(places) or series.freedom < asked.beside.shape[1] + 1 + _LEAST_BEYOND:
        return None
    courses = steps(series, places).T[:, :, None]
    test = CourseTest(
        asked.models, asked.values, courses, asked.beside, lasting=True, not_refuted=_NOT_REFUTED
    )
    chances = _AT_BOTH_ENDS if series.averages else 1
    course = _best(test, chances)
    ratio = course.ratio
    if tells_days(series) and not _follows(asked, courses[course.number]):
        test = replace(test, beside=asked.beside[:, :0])
        course = _best(test, chances)
    place = int(places[course.number])
    found = Step(place, course, ratio, None, around(series, place))
    if course.p_value >= SIGNIFICANCE:
        return _spell(series, test, places, found) or found
    return _with_second(series, test, places, found)


def _spell(series: CampaignSeries, test: CourseTest, places: Codes, step: Step) -> Step | None:
    """Look for two steps, the second of which takes the first back; none where they may be chance.

    They are asked once no single step was found: p counts twice. Of averages two or more lie between them.
    """
    if len(places) < 2 or series.freedom < test.beside.shape[1] + 2 + _LEAST_BEYOND:
        return None
    few = np.unique(np.linspace(0, len(places) - 1, _MOST_ENDS).round().astype(np.intp))
    ends = np.union1d(few, np.flatnonzero(np.isin(places, series.bins[series.likely_cuts])))
    pairs = [
        (one, other)
        for one, other in combinations(ends.tolist(), 2)
        if _apart(series, places, one, other) and places[other] - places[one] >= (2 if series.averages else 1)
    ]
    if not pairs:
        return None
    firsts, seconds_ = np.array(pairs).T
    chances = _ALTERNATIVES * (_AT_BOTH_ENDS if series.averages else 1)
    course = _best(replace(test, courses=test.courses[firsts] - test.courses[seconds_]), chances)
    if course.p_value >= _SECOND_SURE:
        return None
    first, second = pairs[course.number]
    found = [
        Step(int(places[at]), course, step.ratio, None, around(series, int(places[at])))
        for at in (first, second)
    ]
    both = _both(series, test, places, (found[0], first), (found[1], second))
    return both if _one_after_the_other(both) else None


def _best(test: CourseTest, chances: int) -> Course:
    """The most telling course, of as many kinds that were tried."""
    course = test.best()
    return replace(course, p_value=min(chances * course.p_value, 1.0))


def _apart(series: CampaignSeries, places: Codes, one: int, other: int) -> bool:
    """Whether enough units lie between two steps."""
    between = (series.bins >= min(places[one], places[other])) & (
        series.bins < max(places[one], places[other])
    )
    return int(between.sum()) >= series.shortest_segment


def _with_second(series: CampaignSeries, test: CourseTest, places: Codes, first: Step) -> Step:
    """Look for another step beside one that is beyond chance, and estimate each beside the other."""
    number = first.course.number
    apart = np.array([_apart(series, places, number, other) for other in range(len(places))])
    beside = np.column_stack([test.beside, test.courses[number]])
    if apart.any() and series.freedom >= beside.shape[1] + 1 + _LEAST_BEYOND:
        course = replace(test, courses=test.courses[apart], beside=beside).best()
        if course.p_value < _SECOND_SURE:
            other = int(np.flatnonzero(apart)[course.number])
            second = Step(int(places[other]), course, course.ratio, None, around(series, int(places[other])))
            both = _both(series, test, places, (first, number), (second, other))
            if _one_after_the_other(both):
                return both
    return _estimated(series, test, places, first, number)


def _one_after_the_other(both: Step) -> bool:
    """Whether the first of two steps was before the second whenever, within its interval, each was."""
    first, second = both.in_order
    return first.between_s[1] <= second.between_s[0]


def _both(
    series: CampaignSeries, test: CourseTest, places: Codes, first: tuple[Step, int], second: tuple[Step, int]
) -> Step:
    """Estimate two steps, each beside the other: a step and the number of its course."""
    beside = [
        replace(test, beside=np.column_stack([test.beside, test.courses[number]]))
        for _, number in (second, first)
    ]
    one, other = (
        _estimated(series, own, places, *step) for own, step in zip(beside, (first, second), strict=True)
    )
    return replace(one, second=other)


def _estimated(series: CampaignSeries, test: CourseTest, places: Codes, step: Step, number: int) -> Step:
    """Estimate a step's size and time, beside another one if there is one."""
    interval = replace(test.only(number), not_refuted=NOT_REFUTED).best().first()
    between_s = not_refuted(series, tuple(places.tolist()), test.log_likelihoods(number), step.place)
    return replace(step, interval=interval, between_s=between_s)


def _follows(asked: CourseTest, step: Floats) -> bool:
    """Whether there is a sign of the hour of the day, beside a step: (freedom, 1)."""
    return CourseTest(asked.models, asked.values, asked.beside[None], step).best().p_value <= _SIGN


def step_hypotheses(
    observed: Observations, series: CampaignSeries, step: Step | None, *, margin: float = EQUIVALENCE_MARGIN
) -> list[Hypothesis]:
    """Ask whether goodput stepped.

    Args:
        observed: Trials of one sweep and mode; goodput in bit/s.
        series: Of the same trials.
        step: The most telling one.
        margin: Of practical equivalence, relative.

    Returns:
        At most one, none where there are too few values. The effect is the change in percent from before the
        step to after it, over all values of each, with an interval for a step at that time; none where it may
        be chance. Where there is a second step, each is that beside the other, and the effect is that of the
        more telling one. The evidence of what is beyond chance by itself is the trials since the last step,
        also those that are no part of the series, since their counterpart failed.
    """
    if step is None:
        return []
    change = Estimate.in_percent(step.interval)
    claimed = step.interval is not None
    since = tuple(_since(observed, series, place) for place in step.places) if claimed else ()
    return [
        _on_step(
            observed.scope(),
            partial(_say, series, step, _of_which(observed), margin),
            since[-1] if since else series.trials,
            change,
            p_value=step.course.p_value,
            trials=len(series.trials),
            since=since,
        )
    ]


def trials_since(hypotheses: Iterable[Hypothesis]) -> frozenset[str]:
    """Name the trials since the last steps of some hypotheses, all of which are claimed."""
    return frozenset(trial for one in hypotheses if one.since for trial in one.since[-1])


def sides_of(hypotheses: Iterable[Hypothesis]) -> dict[str, int]:
    """Number the sides of the steps of some hypotheses, all of which are claimed: `Observations.sides`."""
    every = (since for one in hypotheses for since in one.since)
    return {trial: number for number, since in enumerate(every, 1) for trial in since}


def _since(observed: Observations, series: CampaignSeries, place: int) -> tuple[str, ...]:
    """The trials since a step: those that began later than midway between the units next to it."""
    after = series.bins >= place
    least_s = series.began_s + float(series.units_s[~after].max() + series.units_s[after].min()) / 2
    began = ((row["trial_id"], row["started_at"]) for row in observed.rows)
    return tuple(trial for trial, at in began if at is not None and seconds(at) >= least_s)


def _of_which(observed: Observations) -> str:
    """Of what a change is the mean, where it is of two directions: one of them may not have changed."""
    both = len({row[DIRECTION] for row in observed.rows}) == _BOTH
    return " in the mean of both directions" if both else ""


def _say(series: CampaignSeries, step: Step, of_which: str, margin: float, decision: Decision) -> str:
    if decision != "effect" or step.interval is None:
        when = moments(series, step.between_s)
        return f"No step stands out from how trials differ: the most telling one, {when}, may be chance."
    changes = [
        (format_change(*(percent(end) for end in one.interval)), moments(series, one.between_s))
        for one in step.in_order
        if one.interval is not None
    ]
    if len(changes) > 1:
        said = ", then ".join(f"by {change} {when}" for change, when in changes)
        return f"Goodput changed in two steps: {said}{of_which}."
    [(change, when)] = changes
    small = max(map(abs, step.interval)) <= math.log1p(margin)
    remark = f", which is less than the margin of {format_margin(margin)}" if small else ""
    return f"Goodput changed in one step {when}: by {change}{of_which}{remark}."


def moments(series: CampaignSeries, between_s: tuple[float, float]) -> str:
    """Say between which times since the first trial, in words: "between 2026-03-01 12:00 and 13:00 UTC".

    Where both are of one second: "about 2026-03-01 12:00:05 UTC".
    """
    before, after = (series.moment(end_s) for end_s in between_s)
    if f"{before:%Y-%m-%d %H:%M:%S}" == f"{after:%Y-%m-%d %H:%M:%S}":
        return f"about {before:%Y-%m-%d %H:%M:%S} UTC"
    seconds = (after - before).total_seconds()
    clock = "%H:%M" if seconds >= 60 else "%H:%M:%S"
    date = "" if before.date() == after.date() else "%Y-%m-%d "
    return f"between {before:%Y-%m-%d {clock}} and {after:{date}{clock}} UTC"
