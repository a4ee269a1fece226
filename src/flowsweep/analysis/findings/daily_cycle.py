"""Does goodput go with the hour of the day, or with the day of the week?"""

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from flowsweep.analysis.findings.finding import Decision
from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis, over_time
from flowsweep.analysis.findings.parts_of_cycle import PartMeans, part_means
from flowsweep.analysis.findings.sentences import percent
from flowsweep.analysis.statistics.campaign_series import CampaignSeries, seconds
from flowsweep.analysis.statistics.courses import FEWEST_HOURS, tells_days, usual_courses
from flowsweep.analysis.statistics.design import coded
from flowsweep.analysis.statistics.least_squares import Codes, Floats
from flowsweep.analysis.statistics.likelihood_ratio import NORMAL_95, Course, CourseTest
from flowsweep.analysis.statistics.observations import DIRECTION, Observations
from flowsweep.analysis.statistics.red_noise import noise_models
from flowsweep.analysis.statistics.simulated import SEED
from flowsweep.analysis.statistics.waves import HARMONICS, HARMONICS_OF_WEEK, WEEK_S, waves
from flowsweep.analysis.statistics.winsorized import group_means
from flowsweep.analysis.summarising.trial_row import goodput_of, known
from flowsweep.defaults import DAY_S, SECOND_NS
from flowsweep.wording import format_duration, format_number

FEWEST_CYCLES = 2
"""What came once is no cycle."""
FEWEST_WEEKDAYS = 4
"""Of the 7, on which trials must have begun for the others to be inferred from them."""
_LEAST_BEYOND = 4
_PLACES = 96
"""Of a day at which its course is looked at."""
_PARTS = 24
_DRAWS = 400
_ROUNDS = 100
"""Of taking out means in turn; more change nothing that matters."""
_LEFT_OF_A_SINE = (1 + 2 * float(np.cos(2 * np.pi / _PARTS))) / 3
"""By means over three neighbouring twenty-fourths."""
_FEWEST_OF_HOUR = 4
_BEYOND_DOUBT = 5.0
"""Standard errors, as it is the farthest of 24 hours."""
_FURTHER = 0.5
"""Of the amplitude of the waves: less is no different picture."""
_WORST_SHARE = 0.25
"""Hours whose goodput is in the lowest quarter between the lowest and the highest are the worst."""
_THURSDAY = 3
"""The weekday on which 1970 began, Monday being 0."""
_MONDAY_S = 4 * DAY_S
"""Of the first Monday since 1970."""
_HOURS = np.arange(24)
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@dataclass(frozen=True, slots=True)
class _Cycle:
    """What is asked of one cycle."""

    kind_words: str
    part: str
    period_s: float
    harmonics: int
    parts: int
    """Of which values of long series are means."""
    widest_s: float
    """Over which averages of neighbours serve. Of 14 hours a cycle of 12 hours looks like half a week."""


_DAY = _Cycle("the hour of the day", "hour", DAY_S, HARMONICS, 12, DAY_S / 12)
_WEEK = _Cycle("the day of the week", "day", WEEK_S, HARMONICS_OF_WEEK, 7, 0.0)


def daily_hypotheses(
    observed: Observations, series: CampaignSeries, asked: CourseTest, beside: Floats
) -> list[Hypothesis]:
    """Ask whether goodput goes with the hour of the day.

    Args:
        observed: Trials of one sweep and mode; goodput in bit/s.
        series: Of the same trials.
        asked: Of the same series.
        beside: (units, k) other changes over time.

    Returns:
        None for campaigns of less than a day; undecided where two whole days are not covered. The effect is
        half the difference between the best and the worst hour of those in which trials began, in percent, of
        24 and 12 hours fitted by generalised least squares (cosinor: Cornelissen 2014, Cosinor-based
        rhythmometry, Theoretical Biology and Medical Modelling 11), against noise of which neighbours
        resemble each other; never more than that of the means of these hours (`_half_of_means`), which two
        harmonics overshoot where goodput changes within an hour.
    """
    if series.span_s < DAY_S:
        return []
    covered = tells_days(series) and series.span_s >= FEWEST_CYCLES * DAY_S
    return _hypotheses(observed, series, asked, beside, _DAY, covered=covered)


def weekly_hypotheses(
    observed: Observations, series: CampaignSeries, asked: CourseTest, beside: Floats
) -> list[Hypothesis]:
    """Ask whether goodput goes with the day of the week: as `daily_hypotheses`, with a period of 168 h.

    Undecided where trials began on fewer than 4 of the days.
    """
    if series.span_s < FEWEST_CYCLES * WEEK_S:
        return []
    covered = _weekdays(series) >= FEWEST_WEEKDAYS
    return _hypotheses(observed, series, asked, beside, _WEEK, covered=covered)


def _weekdays(series: CampaignSeries) -> int:
    """On how many of the days of a week trials began."""
    return len(np.unique(series.weekdays))


def _hypotheses(
    observed: Observations, series: CampaignSeries, asked: CourseTest, beside: Floats, cycle: _Cycle,
    *, covered: bool,
) -> list[Hypothesis]:  # fmt: skip
    course = _course(series, asked, beside, cycle) if covered else None
    told = None if course is None else _told(observed, series, course, beside, cycle)
    return [
        over_time(
            "cycle",
            observed.scope(),
            partial(_say, cycle, told, series),
            series.trials,
            Estimate.in_percent(None if told is None else told.amplitude),
            p_value=None if course is None else course.p_value,
            untestable=course is None,
            method=(
                f"{' and '.join(_hours(cycle))} hours fitted to log goodput by generalised least squares, "
                "points taken out, against red noise; no more than what means of twenty-fourths of it "
                "differ by, and these of hours or weekdays where waves do not fit; p by simulated campaigns"
            ),
        )
    ]


@dataclass(frozen=True, slots=True)
class _Told:
    """How much a cycle is, and where."""

    amplitude: tuple[float, float, float]
    """With the ends of its interval, natural logarithms."""
    where_words: str


def _told(
    observed: Observations, series: CampaignSeries, course: Course, beside: Floats, cycle: _Cycle
) -> _Told:
    """What waves show, or means of hours or weekdays where waves do not fit."""
    seen = _seen(series.units_s + series.began_s % cycle.period_s, cycle)
    shape = np.where(seen, _shape(course.coefficients, cycle), np.nan)
    amplitude = _amplitude(course, cycle, seen, _half_of_means(observed, cycle))
    if cycle is _WEEK:
        return _of_week(
            amplitude,
            shape,
            part_means(series, beside, _weeks(series), series.weekdays, len(_WEEKDAYS)),
        )
    found = _single_hour(series, course)
    means = None if found is None else part_means(series, beside, _days(series), series.hours, len(_HOURS))
    if found is None or means is None:
        return _Told(amplitude, f"it is lowest {_worst(shape)}")
    hour, beyond = found
    if (told := _of_hour(hour, means)) is not None:
        return told
    further = f"trials {_part(hour)} are {_how_far(beyond)} than these waves show"
    return _Told(amplitude, f"it is lowest {_worst(shape)}; {further}")


def _of_week(amplitude: tuple[float, float, float], days: Floats, means: PartMeans | None) -> _Told:
    """Where means of days are outside of the interval of waves, waves do not fit: one that holds both."""
    if means is not None:
        value, low, high = means.amplitude(float(np.nanmin(means.means)), float(np.nanmax(means.means)))
        if not amplitude[1] <= value <= amplitude[2]:
            days, amplitude = means.means, (value, min(low, amplitude[1]), max(high, amplitude[2]))
    return _Told(amplitude, f"it is lowest {_worst_days(days)}")


def _course(series: CampaignSeries, asked: CourseTest, beside: Floats, cycle: _Cycle) -> Course | None:
    """Fit a cycle, of long series to the means of its parts; none where values are too few."""
    own = _folded(series, cycle)
    if own is None:
        return None
    besides = own.contrasted(beside)
    if cycle is not _DAY and own is series:
        besides = np.column_stack([besides, usual_courses(own)])
    if own.freedom < besides.shape[1] + 2 * cycle.harmonics + _LEAST_BEYOND:
        return None
    times_s = own.units_s + own.began_s % cycle.period_s
    courses = own.contrasted(waves(times_s, cycle.period_s, cycle.harmonics))[None]
    models = asked.models if own is series else noise_models(own)
    return CourseTest(models, own.contrasts.T @ own.values, courses, besides).best()


def _folded(series: CampaignSeries, cycle: _Cycle) -> CampaignSeries | None:
    """Values that a cycle is fitted to: of long series means of its parts, of weeks without hours."""
    alike = series if cycle is _DAY else series.without_hours()
    found = alike.folded(cycle.period_s, cycle.parts, widest_s=cycle.widest_s)
    return series if found is alike else found


def _hours(cycle: _Cycle) -> list[str]:
    return [format(cycle.period_s / 3600 / number, "g") for number in range(1, cycle.harmonics + 1)]


def _shape(coefficients: Floats, cycle: _Cycle) -> Floats:
    """(…, places) the fitted course over one cycle, natural logarithms, of (…, parameters) coefficients.

    Places are quarters of an hour of a day, or days of a week, each of which has its mean.
    """
    if cycle is _DAY:
        shapes = waves(np.arange(_PLACES) * cycle.period_s / _PLACES, cycle.period_s, cycle.harmonics)
    else:
        hours = waves(np.arange(1800.0, WEEK_S, 3600), cycle.period_s, cycle.harmonics)
        shapes = hours.reshape(len(_WEEKDAYS), 24, -1).mean(axis=1)
    return np.asarray(coefficients @ shapes.T)


def _seen(times_s: Floats, cycle: _Cycle) -> NDArray[np.bool_]:
    """(places,) whether trials began in that hour, or on that day: of others nothing is said."""
    count = _PARTS if cycle is _DAY else len(_WEEKDAYS)
    parts = np.floor(times_s % cycle.period_s / cycle.period_s * count).astype(int)
    return np.repeat(np.isin(np.arange(count), parts), _PLACES // _PARTS if cycle is _DAY else 1)


def _amplitude(
    course: Course, cycle: _Cycle, seen: NDArray[np.bool_], most: float
) -> tuple[float, float, float]:
    """Half the range of the course, at most that of the data, with its 95 % interval, natural logarithms."""
    half = float(np.ptp(_shape(course.coefficients, cycle)[seen])) / 2
    generator = np.random.default_rng(SEED)
    draws = generator.multivariate_normal(
        course.coefficients, course.covariance, _DRAWS, check_valid="ignore"
    )
    halves = np.ptp(_shape(draws, cycle)[:, seen], axis=1) / 2
    if cycle is _WEEK:  # The highest and the lowest of several days alike are the luckiest ones.
        half = max(2 * half - float(halves.mean()), 0.0)
    half, error = min(half, most), NORMAL_95 * float(np.std(halves))
    return half, max(half - error, 0.0), half + error


def _half_of_means(observed: Observations, cycle: _Cycle) -> float:
    """Half the difference between the highest and the lowest of the cycle's twenty-fourths, in log goodput.

    Least squares of points and twenty-fourths, by taking out the means of each in turn; then means over three
    neighbours, as the highest of many is the luckiest, over what these leave of a sine.
    """
    rows = [row for row in observed.rows if row["started_at"]]
    points = coded([(row[DIRECTION], *(str(row.get(name)) for name in observed.factors)) for row in rows])
    logs = np.log([goodput_of(row) for row in rows])
    times_s = np.array([seconds(known(row["started_at"])) for row in rows])
    parts = np.floor(times_s % cycle.period_s / cycle.period_s * _PARTS).astype(np.intp)
    counts = np.bincount(parts, minlength=_PARTS)
    of_part = np.zeros(_PARTS)
    for _ in range(_ROUNDS):
        left = logs - of_part[parts]
        left = logs - (np.bincount(points, left) / np.bincount(points))[points]
        of_part = np.bincount(parts, left, minlength=_PARTS) / np.maximum(counts, 1)
    sums, of_three = (sum(np.roll(each, by) for by in (-1, 0, 1)) for each in (of_part * counts, counts))
    return float(np.ptp((sums / np.maximum(of_three, 1))[counts > 0])) / 2 / _LEFT_OF_A_SINE


def _say(cycle: _Cycle, told: _Told | None, series: CampaignSeries, decision: Decision) -> str:
    whether = f"Whether goodput varies with {cycle.kind_words}"
    if told is None:
        return f"{whether} is undecided: {_lacking(series, cycle)}."
    value, low, high = (format_number(percent(end)) for end in told.amplitude)
    size = f"±{value} % [{low}, {high}] about the middle between the best {cycle.part} and the worst"
    if decision == "effect":
        return f"Goodput varies with {cycle.kind_words} by {size}; {told.where_words}."
    return f"{whether} is undecided: {size} may be chance, as neighbouring trials resemble each other."


def _lacking(series: CampaignSeries, cycle: _Cycle) -> str:
    """Why a cycle cannot be told."""
    days, hours = _weekdays(series), len(np.unique(series.hours))
    if cycle is _WEEK and days < FEWEST_WEEKDAYS:
        return f"trials began on {days} of the 7 days of a week, and {FEWEST_WEEKDAYS} or more would tell"
    if cycle is _DAY and hours < FEWEST_HOURS:
        return f"trials began in {hours} of the 24 hours of a day, and {FEWEST_HOURS} or more would tell"
    lasted = format_duration(round(series.span_s) * SECOND_NS)
    if series.span_s < FEWEST_CYCLES * DAY_S:
        return f"two whole days would tell, and the campaign lasted {lasted}"
    return f"the trials of {lasted} are too few for it"


def _lowest(shape: Floats) -> tuple[int, int]:
    """The first and the last place of the lowest quarter of a course, around its lowest place."""
    lowest = int(np.nanargmin(shape))
    limit = float(shape[lowest]) + _WORST_SHARE * float(np.nanmax(shape) - shape[lowest])
    first = last = lowest
    while shape[(first - 1) % len(shape)] <= limit and last - first < len(shape):
        first -= 1
    while shape[(last + 1) % len(shape)] <= limit and last - first < len(shape):
        last += 1
    return first, last


def _worst(shape: Floats) -> str:
    """When a day's course is in its lowest quarter, in words."""
    first, last = _lowest(shape)
    return f"from {_clock(first)} to {_clock(last + 1)} UTC"


def _days(series: CampaignSeries) -> Codes:
    """(units,) number of the day, UTC, on which each unit began."""
    return ((series.began_s + series.units_s) // DAY_S).astype(np.intp)


def _weeks(series: CampaignSeries) -> Codes:
    """(units,) number of the week, from Monday, UTC, in which each unit began."""
    return ((series.began_s + series.units_s - _MONDAY_S) // WEEK_S).astype(np.intp)


def _single_hour(series: CampaignSeries, course: Course) -> tuple[int, float] | None:
    """Find the hour that is farthest off what the waves of a day show, and how far, if it is beyond doubt."""
    values = series.logs - group_means(series.logs, series.points)
    values = values - group_means(values, np.unique(_days(series), return_inverse=True)[1])
    places = (series.hours * _PLACES + _PLACES // 2) // 24
    left = values - (shape := _shape(course.coefficients, _DAY))[places]
    left = left - np.median(left)
    found = []
    for hour in np.unique(series.hours):
        own = left[series.hours == hour]
        if len(own) >= _FEWEST_OF_HOUR:
            error = float(np.std(own, ddof=1)) / len(own) ** 0.5
            found.append((abs(float(own.mean())), _BEYOND_DOUBT * error, int(hour), float(own.mean())))
    size, least, hour, mean = max(found, default=(0.0, 0.0, 0, 0.0))
    return (hour, mean) if size > max(least, float(np.ptp(shape)) / 2 * _FURTHER) else None


def _of_hour(hour: int, means: PartMeans) -> _Told | None:
    """Tell an hour beyond both beside it by the means of hours; none where it is not, as several are.

    Of the other hours waves through their means count, as the highest of many is the luckiest.
    """
    there = [place for place in np.roll(_HOURS, -hour)[1:] if np.isfinite(means.means[place])]
    own = float(means.means[hour])
    before, after = own - means.means[there[-1]], own - means.means[there[0]]
    if before * after <= 0 or min(abs(before), abs(after)) <= _BEYOND_DOUBT / NORMAL_95 * means.error:
        return None
    others = np.where(hour == _HOURS, np.nan, means.means)
    shape = waves(np.asarray(there, dtype=np.float64) * 3600, DAY_S, HARMONICS)
    shape = np.column_stack([np.ones(len(there)), shape])
    fitted = shape @ np.linalg.lstsq(shape, others[there], rcond=None)[0]
    amplitude = means.amplitude(min(own, float(fitted.min())), max(own, float(fitted.max())))
    words = (
        f"trials {_part(hour)} are {_how_far(float(before + after) / 2)} than in the hours before and after"
    )
    if own > np.nanmin(others):
        others[there] = fitted
        words += f"; it is lowest {_worst(np.repeat(others, _PLACES // len(_HOURS)))}" if before < 0 else ""
    return _Told(amplitude, words)


def _part(hour: int) -> str:
    return f"from {hour:02d}:00 to {(hour + 1) % len(_HOURS):02d}:00 UTC"


def _how_far(beyond: float) -> str:
    return f"{format_number(abs(percent(beyond)))} % {'lower' if beyond < 0 else 'higher'}"


def _worst_days(days: Floats) -> str:
    """Days next to each other whose means are in the lowest quarter of them, in words."""
    first, last = _lowest(days)
    ends = [_WEEKDAYS[(day + _THURSDAY) % len(_WEEKDAYS)] for day in (first, last)]
    return f"on {ends[0]}" if first == last else f"from {ends[0]} to {ends[1]}"


def _clock(place: int) -> str:
    minutes = place % _PLACES * 24 * 60 // _PLACES
    return f"{minutes // 60:02d}:{minutes % 60:02d}"
