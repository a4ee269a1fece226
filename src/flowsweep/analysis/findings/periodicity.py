"""Is there a disturbance that comes back, as one every hour?"""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from flowsweep.analysis.findings.finding import Decision
from flowsweep.analysis.findings.hypothesis import NO_ESTIMATE, Estimate, Hypothesis, over_time
from flowsweep.analysis.findings.sentences import percent
from flowsweep.analysis.statistics.campaign_series import CampaignSeries
from flowsweep.analysis.statistics.least_squares import Floats
from flowsweep.analysis.statistics.likelihood_ratio import CourseTest
from flowsweep.analysis.statistics.observations import Observations
from flowsweep.analysis.statistics.waves import HARMONICS_OF_WEEK, WEEK_S, waves
from flowsweep.defaults import DAY_S, SECOND_NS, SIGNIFICANCE
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
_PARTS_OF_WEEK = 6
"""A week that is no sine has parts of 168, 84, 56, 42, 33.6 and 28 hours, too."""
_LEAST_BEYOND = 4
_MOST_MULTIPLES = 12
"""A dip that lasts for a twelfth of an hour has sines alike of an hour and its parts down to a twelfth."""
_PARTS = (2, 3)
"""Of a period, whose sines tell that its course is none."""
_NOT_SMALL = 0.5
"""Share of an amplitude from which on another is not negligible beside it."""


def periodicity_hypotheses(
    observed: Observations, series: CampaignSeries, asked: CourseTest, beside: Floats
) -> list[Hypothesis]:
    """Ask whether goodput goes up and down with a period, other than that of the day.

    Args:
        observed: Trials of one sweep and mode; goodput in bit/s.
        series: Of the same trials.
        asked: With what goodput may follow anyway.
        beside: (units, k) other changes over time.

    Returns:
        One hypothesis about the most telling period, between two steps of the series and a third of the
        campaign; none for campaigns of less than half an hour or 24 values. What comes back without being a
        sine, such as a dip every hour, has sines of half an hour, 20 minutes and so on, too: of the most
        telling period and its multiples it is the longest that adds to the others (`_fundamental`). The
        effect is the amplitude of its sine, in percent of goodput; none where the most telling period is the
        shortest or the longest of them, since what lies beyond may tell more, nor where its sine goes further
        than goodput ever did: what makes it so large is where no trial ran. Method: likelihood ratio of a
        sine of each period (the generalised Lomb-Scargle periodogram, Zechmeister and Kürster 2009, Astronomy
        and Astrophysics 496, for noise that is not white), over all periods against noise of which neighbours
        resemble each other.
    """
    if len(series.starts_s) < FEWEST_VALUES or series.span_s < SHORTEST_CAMPAIGN_S:
        return []
    periods_s = _periods_s(series)
    both = np.column_stack([asked.beside, series.contrasted(_beside(series, beside))])
    if len(periods_s) < FEWEST_CYCLES or not _suffices(series, both):
        return []
    test = CourseTest(asked.models, asked.values, _sines(series, periods_s), both)
    course = test.best()
    at_edge = course.number in (0, len(periods_s) - 1)
    found = _Period(float(periods_s[course.number]), _amplitude(test.only(course.number)))
    if not at_edge and course.p_value < SIGNIFICANCE:
        found = _fundamental(series, test, found)
    of_points_alike = series.contrasts @ (series.contrasts.T @ series.values)
    unseen = found.amplitude > np.ptp(of_points_alike)
    say = _say_edge if at_edge else partial(_say_unseen, found) if unseen else partial(_say, found)
    return [
        over_time(
            "periodicity",
            observed.scope(),
            partial(say, series.span_s),
            series.trials,
            NO_ESTIMATE if at_edge or unseen else Estimate(percent(found.amplitude), "%"),
            p_value=1.0 if at_edge or unseen else course.p_value,
            method=(
                f"likelihood ratio of sines to {counted(len(series.starts_s), 'value')}, "
                f"{counted(len(periods_s), 'period')} from {_duration(float(periods_s.min()))} to "
                f"{_duration(float(periods_s.max()))}, against red noise; p by simulated campaigns"
            ),
        )
    ]


def _beside(series: CampaignSeries, beside: Floats) -> Floats:
    """(units, k) other changes over time, and where they may be told apart, the week."""
    if series.span_s < FEWEST_CYCLES * WEEK_S:
        return beside
    clock_s = series.units_s + series.began_s % WEEK_S
    return np.column_stack([beside, waves(clock_s, WEEK_S, HARMONICS_OF_WEEK)])


@dataclass(frozen=True, slots=True)
class _Period:
    """With what period goodput goes up and down."""

    period_s: float
    amplitude: float
    """Of a sine of that period, natural logarithm."""
    sine: bool = True
    """Nothing shows that it is none."""
    or_multiple: bool = False
    """A multiple of it may be the period as well."""


def _fundamental(series: CampaignSeries, test: CourseTest, found: _Period) -> _Period:
    """Look among the multiples of a period for that of which it is a part, until none tells more beside it.

    Each multiple is asked beside the sines that were found, against the same noise; p is over all of them. It
    is left open where none of them is shown, and the sine of one is half as large or larger.
    """
    beside = _with_sine(series, test.beside, found)
    while _suffices(series, beside) and len(multiples_s := _multiples_s(series, found.period_s)):
        multiples = CourseTest(test.models, test.values, _sines(series, multiples_s), beside)
        course = multiples.best()
        amplitudes = [_amplitude(multiples.only(number)) for number in range(len(multiples_s))]
        if course.p_value >= SIGNIFICANCE:
            found = replace(found, or_multiple=max(amplitudes) >= found.amplitude * _NOT_SMALL)
            break
        found = _Period(float(multiples_s[course.number]), amplitudes[course.number], sine=False)
        beside = _with_sine(series, beside, found)
    return replace(found, sine=found.sine and not _has_parts(series, test, beside, found))


def _has_parts(series: CampaignSeries, test: CourseTest, beside: Floats, found: _Period) -> bool:
    """Whether sines of parts of a period tell more beside its own."""
    parts_s = found.period_s / np.array(_PARTS)
    parts_s = parts_s[parts_s > 2 * _step_s(series)]
    if not len(parts_s) or not _suffices(series, beside):
        return False
    parts = CourseTest(test.models, test.values, _sines(series, parts_s), beside)
    return parts.best().p_value < SIGNIFICANCE


def _suffices(series: CampaignSeries, beside: Floats) -> bool:
    """Whether there are degrees of freedom enough for one more sine beside some shapes."""
    return bool(series.freedom >= beside.shape[1] + 2 + _LEAST_BEYOND)


def _with_sine(series: CampaignSeries, beside: Floats, found: _Period) -> Floats:
    return np.column_stack([beside, _sines(series, np.array([found.period_s]))[0]])


def _multiples_s(series: CampaignSeries, period_s: float) -> Floats:
    """(multiples,) of a period, none longer than may be claimed, nor a part of a day."""
    multiples_s = np.asarray(period_s * np.arange(2, _MOST_MULTIPLES + 1), dtype=np.float64)
    cycles = np.asarray(series.span_s / multiples_s, dtype=np.float64)
    return np.asarray(multiples_s[(cycles >= FEWEST_CYCLES) & _own(series.span_s, cycles)])


def _sines(series: CampaignSeries, periods_s: Floats) -> Floats:
    """(periods, freedom, 2) contrasts of a cosine and a sine of each."""
    return np.array([series.contrasted(waves(series.units_s, period_s)) for period_s in periods_s])


def _amplitude(test: CourseTest) -> float:
    return float(np.hypot(*test.estimated()))


def _periods_s(series: CampaignSeries) -> Floats:
    """(periods,) the longest first."""
    step_s = _step_s(series)
    if step_s <= 0:
        return np.empty(0)
    span_s = series.span_s
    fastest = min(int(_OVERSAMPLING * span_s / (2 * step_s)), _OVERSAMPLING * FEWEST_CYCLES + _MOST_PERIODS)
    cycles = np.arange(_OVERSAMPLING * FEWEST_CYCLES, fastest + 1) / _OVERSAMPLING
    return np.asarray(span_s / cycles[_own(span_s, cycles)])


def _step_s(series: CampaignSeries) -> float:
    return float(np.median(np.diff(series.starts_s)))


def _own(span_s: float, cycles: Floats) -> NDArray[np.bool_]:
    """(periods,) which of so many cycles in a campaign are none of a day or a week."""
    if span_s < DAY_S:
        return np.ones(len(cycles), dtype=np.bool_)
    days = span_s / DAY_S * np.arange(_PARTS_OF_DAYS + 1)
    weeks = (
        span_s / WEEK_S * np.arange(-_PARTS_OF_WEEKS, _PARTS_OF_WEEKS + 1)
        if span_s >= WEEK_S
        else np.zeros(1)
    )
    known = (days[:, None] + weeks).ravel()
    if span_s >= WEEK_S:
        known = np.concatenate([known, span_s / WEEK_S * np.arange(1, _PARTS_OF_WEEK + 1)])
    return np.asarray(np.abs(cycles[:, None] - known).min(axis=1) >= 1)


def _say_edge(span_s: float, _decision: Decision) -> str:
    return (
        f"No period is reported for the {_duration(span_s)} of the campaign: the most telling one is at the "
        "edge of what was looked at."
    )


def _say_unseen(found: _Period, span_s: float, _decision: Decision) -> str:
    return (
        f"No period is reported for the {_duration(span_s)} of the campaign: of the most telling one, "
        f"{_duration(found.period_s)}, the times of the trials show too little."
    )


def _say(found: _Period, span_s: float, decision: Decision) -> str:
    size = f"± {format_number(percent(found.amplitude))} %"
    period = _duration(found.period_s)
    if decision == "effect":
        which = f"{period} or a multiple of it" if found.or_multiple else period
        further = "" if found.sine else "; its course is no sine, and dips or peaks go further"
        return f"Goodput goes up and down with a period of {which}, by {size} as a sine{further}."
    return (
        f"No period stands out in the {_duration(span_s)} of the campaign: the most telling one, "
        f"{period} with {size}, may be chance."
    )


def _duration(seconds: float) -> str:
    return format_duration(round(seconds) * SECOND_NS)
