"""Is there a disturbance that comes back, as one every hour?"""

from functools import partial

import numpy as np

from flowsweep.analysis.findings.finding import Decision
from flowsweep.analysis.findings.hypothesis import NO_ESTIMATE, Estimate, Hypothesis, over_time
from flowsweep.analysis.findings.sentences import percent
from flowsweep.analysis.statistics.campaign_series import CampaignSeries
from flowsweep.analysis.statistics.courses import WEEK_S, waves
from flowsweep.analysis.statistics.least_squares import Floats
from flowsweep.analysis.statistics.likelihood_ratio import CourseTest
from flowsweep.analysis.statistics.observations import Observations
from flowsweep.defaults import DAY_S, SECOND_NS
from flowsweep.wording import counted, format_duration, format_number

FEWEST_VALUES = 24
SHORTEST_CAMPAIGN_S = 1_800.0
FEWEST_CYCLES = 3
"""What came back less often may be anything."""
_OVERSAMPLING = 2
_MOST_PERIODS = 240
_PARTS_OF_DAYS = 6
"""A day that is no sine has parts of 24, 12, 8, 6, 4.8 and 4 hours; they are no periods of their own."""
_PARTS_OF_WEEKS = 2
"""Days that are unlike within a week make each of these two, such as 28 and 21 hours beside 24: one cycle of
a week, or two, more or less."""
_LEAST_BEYOND = 4


def periodicity_hypotheses(
    observed: Observations, series: CampaignSeries, asked: CourseTest, beside: Floats
) -> list[Hypothesis]:
    """Ask whether goodput goes up and down with a period, other than that of the day.

    Args:
        observed: Trials of one sweep and mode; goodput in bit/s.
        series: Of the same trials.
        asked: With what goodput may follow anyway.
        beside: (freedom, k) contrasts of other changes over time.

    Returns:
        One hypothesis about the most telling period, between two steps of the series and a third of the
        campaign; none for campaigns of less than half an hour or 24 values. The effect is the amplitude, in
        percent of goodput; none where the most telling period is the shortest or the longest of them, since
        what lies beyond may tell more. Method: likelihood ratio of a sine of each period (the generalised
        Lomb-Scargle periodogram, Zechmeister and Kürster 2009, Astronomy and Astrophysics 496, for noise that
        is not white), over all periods against noise of which neighbours resemble each other.
    """
    if len(series.starts_s) < FEWEST_VALUES or series.span_s < SHORTEST_CAMPAIGN_S:
        return []
    periods_s = _periods_s(series)
    both = np.column_stack([asked.beside, beside])
    if len(periods_s) < FEWEST_CYCLES or series.freedom < both.shape[1] + 2 + _LEAST_BEYOND:
        return []
    shapes = (series.averaged(waves(series.units_s, period_s)) for period_s in periods_s)
    courses = np.array([series.contrasts.T @ shape for shape in shapes])
    test = CourseTest(asked.models, asked.values, courses, both)
    course = test.best()
    at_edge = course.number in (0, len(periods_s) - 1)
    amplitude = float(np.hypot(*test.only(course.number).estimated()))
    period_s = float(periods_s[course.number])
    return [
        over_time(
            "periodicity",
            observed.scope(),
            partial(_say_edge, series.span_s)
            if at_edge
            else partial(_say, period_s, amplitude, series.span_s),
            series.trials,
            NO_ESTIMATE if at_edge else Estimate(percent(amplitude), "%"),
            p_value=1.0 if at_edge else course.p_value,
            method=(
                f"likelihood ratio of sines to {counted(len(series.starts_s), 'value')}, "
                f"{counted(len(periods_s), 'period')} from {_duration(float(periods_s.min()))} to "
                f"{_duration(float(periods_s.max()))}, against red noise; p by simulated campaigns"
            ),
        )
    ]


def _periods_s(series: CampaignSeries) -> Floats:
    """(periods,) the longest first."""
    step_s = float(np.median(np.diff(series.starts_s)))
    if step_s <= 0:
        return np.empty(0)
    span_s = series.span_s
    fastest = min(int(_OVERSAMPLING * span_s / (2 * step_s)), _OVERSAMPLING * FEWEST_CYCLES + _MOST_PERIODS)
    cycles = np.arange(_OVERSAMPLING * FEWEST_CYCLES, fastest + 1) / _OVERSAMPLING
    days = span_s / DAY_S * np.arange(_PARTS_OF_DAYS + 1)
    weeks = (
        span_s / WEEK_S * np.arange(-_PARTS_OF_WEEKS, _PARTS_OF_WEEKS + 1)
        if span_s >= WEEK_S
        else np.zeros(1)
    )
    known = (days[:, None] + weeks).ravel()
    own = np.abs(cycles[:, None] - known).min(axis=1) >= 1 if span_s >= DAY_S else np.ones(len(cycles), bool)
    return np.asarray(span_s / cycles[own])


def _say_edge(span_s: float, _decision: Decision) -> str:
    return (
        f"No period is reported for the {_duration(span_s)} of the campaign: the most telling one is at the "
        "edge of what was looked at."
    )


def _say(period_s: float, amplitude: float, span_s: float, decision: Decision) -> str:
    size = f"± {format_number(percent(amplitude))} %"
    if decision == "effect":
        return f"Goodput goes up and down with a period of {_duration(period_s)}, by {size}."
    return (
        f"No period stands out in the {_duration(span_s)} of the campaign: the most telling one, "
        f"{_duration(period_s)} with {size}, may be chance."
    )


def _duration(seconds: float) -> str:
    return format_duration(round(seconds) * SECOND_NS)
