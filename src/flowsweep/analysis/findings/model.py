"""Whether emulated paths carry what the fluid model says of them: where less, something else limits."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
import scipy

from flowsweep.analysis.axes import AXIS_NAMES, level_of, level_words
from flowsweep.analysis.findings.finding import Decision, FigureKey
from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.predicted import BEYOND_COMPARED, PREDICTED, PREDICTED_RATE, PREDICTED_RTT
from flowsweep.analysis.statistics.design import FOLLOWING, Level
from flowsweep.analysis.statistics.intervals import half_width
from flowsweep.analysis.statistics.observations import Observations, ObservedRow, trial_ids
from flowsweep.analysis.summarising.trial_row import known, quantity_of
from flowsweep.defaults import CONFIDENCE
from flowsweep.grouping import grouped
from flowsweep.moderated_variances import Floats, moderated
from flowsweep.scatter import LEAST_SPREAD_OF_FEW
from flowsweep.tests import facts_of
from flowsweep.wording import (
    counted,
    format_margin,
    format_milliseconds,
    format_number,
    format_rate,
    with_interval,
)

MODEL_ERROR = 0.3
"""What 19 of 20 of the model's predictions stay within where congestion control decides, on emulated paths.

Where a window or the link decides it is closer: docs/truth/predictions.md.
"""
_LEAST_REPEATS = 2
_WIDEST = 10.0
"""Of half an interval of a logarithm: what is wider tells nothing."""
_METHOD = (
    "mean goodput / the fluid model's, mean of logarithms of each point, spreads of points moderated (Smyth "
    f"2004), trials taken as independent; one-sided t tests against {1 - MODEL_ERROR:g}, Bonferroni over "
    "points; docs/explanation/prediction.md"
)


@dataclass(frozen=True, slots=True)
class _Point:
    """A point's trials against the model."""

    levels: tuple[Level, ...]
    rows: tuple[ObservedRow, ...]
    log_ratio: float
    half_width: float | None = None
    """Of its interval, corrected for the number of points; None without repeats, or beyond what the
    model was compared with."""
    p_value: float | None = None
    """Of "it is no more below the model than the model errs", not corrected; None likewise."""

    @property
    def ratio(self) -> float:
        """Measured / predicted."""
        return math.exp(self.log_ratio)


def model_hypotheses(observed: Observations) -> list[Hypothesis]:
    """Ask of each direction whether a point stays below the model's goodput by more than the model errs.

    Args:
        observed: Trials of one sweep and mode, with `predicted_goodput_bps` where there is a prediction.

    Returns:
        One hypothesis for each direction with predictions; tested where points have repeats, the plan
        says what the path is, and the model was compared with such paths. The effect is measured / predicted
        (unit "1") of the point that is lowest.

    Method:
        One-sided t tests of each point's mean log(measured / predicted) against log(1 - MODEL_ERROR); the
        least p-value times the number of points (Bonferroni). Points lend each other what their spreads have
        in common (`moderated`), as one of two repeats tells next to nothing by itself. Trials are taken as
        independent. That one prediction in 20 errs by more no repeats can tell: the sentence says it.
    """
    return [
        _hypothesis(observed, direction, points)
        for direction, rows in observed.by_direction(_compared)
        if (points := _points(rows, observed.factors))
    ]


def _compared(row: ObservedRow) -> bool:
    # Of datagrams there is no model but what is offered and what the link carries.
    of_the_model = quantity_of(row, PREDICTED) and not facts_of(row["test"]).datagrams
    return bool(of_the_model and row["goodput_mean_bps"])


def _points(rows: Sequence[ObservedRow], factors: Sequence[str]) -> list[_Point]:
    groups = grouped(rows, lambda row: tuple(level_of(row, axis) for axis in factors))
    logs = {levels: np.log([_ratio(row) for row in own]) for levels, own in groups.items()}
    told = [
        levels
        for levels, own in groups.items()
        if len(own) >= _LEAST_REPEATS and not any(quantity_of(row, BEYOND_COMPARED) for row in own)
    ]
    errors = _errors([logs[levels] for levels in told])
    by_levels = dict(zip(told, errors, strict=True))
    found = []
    for levels, own in groups.items():
        mean = float(logs[levels].mean())
        tested = _tested(mean, *by_levels[levels], len(groups)) if levels in by_levels else (None, None)
        found.append(_Point(levels, tuple(own), mean, *tested))
    return sorted(found, key=lambda point: point.log_ratio)


def _errors(points: Sequence[Floats]) -> list[tuple[float, float]]:
    """Standard error of each mean, and its degrees of freedom; points: logarithms of two repeats or more."""
    if not points:
        return []
    variances = np.maximum([logs.var(ddof=1) for logs in points], LEAST_SPREAD_OF_FEW**2)
    drawn = moderated(variances, np.array([len(logs) - 1.0 for logs in points]))
    counts = np.array([len(logs) for logs in points])
    return [(float(error), drawn.freedom) for error in np.sqrt(drawn.variances / counts)]


def _tested(mean: float, error: float, freedom: float, points: int) -> tuple[float, float]:
    """Half the width of a mean's interval, and the p-value against what the model errs by."""
    width = half_width(error, freedom, comparisons=points)
    return width, float(scipy.stats.t.cdf((mean - math.log(1 - MODEL_ERROR)) / error, freedom))


def _ratio(row: ObservedRow) -> float:
    return known(row["goodput_mean_bps"]) / known(quantity_of(row, PREDICTED))


def _hypothesis(observed: Observations, direction: str, points: Sequence[_Point]) -> Hypothesis:
    # A path that the trials themselves found is no bound that they could be shown to stay below.
    of_plan = quantity_of(points[0].rows[0], PREDICTED_RATE) is None
    p_values = [point.p_value for point in points if point.p_value is not None and of_plan]
    alpha = (1 - CONFIDENCE) / len(points)
    below = [point for point in points if of_plan and point.p_value is not None and point.p_value <= alpha]
    lowest = (below or points)[0]
    low, high = _interval(lowest)

    def claim(decision: Decision) -> str:
        if decision == "effect":
            return f"{direction}: {_below(observed, points, below)}"
        return f"{direction}: {_described(observed, points, decision)}"

    return Hypothesis(
        "model",
        observed.scope(direction),
        claim,
        trial_ids(row for point in (below or points) for row in point.rows),
        Estimate(lowest.ratio, "1", low, high),
        figure=FigureKey("ratio", observed.sweep, observed.mode, direction, "flows"),
        method=_METHOD,
        p_value=min(1.0, len(points) * min(p_values)) if p_values else None,
        within_margin=all(low is not None and low >= 1 - MODEL_ERROR for low, _ in map(_interval, points)),
    )


def _interval(point: _Point) -> tuple[float | None, float | None]:
    """Ends of the interval of measured / predicted; None without repeats, or where it tells nothing."""
    if point.half_width is None or point.half_width > _WIDEST:
        return None, None
    return math.exp(point.log_ratio - point.half_width), math.exp(point.log_ratio + point.half_width)


def _below(observed: Observations, points: Sequence[_Point], below: Sequence[_Point]) -> str:
    lowest = below[0]
    # Trials that end when they know differ in length, and in what is predicted for them.
    predicted_bps = fmean(known(quantity_of(row, PREDICTED)) for row in lowest.rows)
    share = with_interval(format_number, lowest.ratio, *_interval(lowest))
    verb = "carries" if len(below) == 1 else "carry"
    which = f"{len(below)} of {counted(len(points), 'point')} {verb}" if len(points) > 1 else "it carries"
    least = f", least{_where(observed, lowest)}" if len(points) > 1 else ""
    return (
        f"{which} less than a model of the path predicts, by more than {format_margin(MODEL_ERROR)}{least}: "
        f"{share} of {format_rate(predicted_bps)}. The hosts or what else is on the path may hold it back; "
        "in one setting of 20 it is the model that is further off."
    )


def _described(observed: Observations, points: Sequence[_Point], decision: Decision) -> str:
    lowest, highest = points[0], points[-1]
    least, most = format_number(lowest.ratio), format_number(highest.ratio)
    of_what = f"times what a model {_path(lowest.rows[0])} predicts"
    if len(points) == 1:
        said = f"goodput is {least} {of_what}"
    else:
        where = f"lowest{_where(observed, lowest)}, highest{_where(observed, highest)}"
        said = f"goodput is {least} to {most} {of_what} ({counted(len(points), 'point')}; {where})"
    margin = format_margin(MODEL_ERROR)
    if decision == "no practical effect":
        return f"{said}; none is more than {margin} below it, by which the model may be off."
    if decision == "undecided":
        return f"{said}; {_open(points, margin)}."
    beyond = sum(1 for point in points if any(quantity_of(row, BEYOND_COMPARED) for row in point.rows))
    if beyond:
        where = counted(beyond, "point")
        return f"{said}; at {where} path, flows or duration are beyond what the model was compared with."
    return f"{said}; 19 of 20 predictions of emulated paths were within {margin}."


def _open(points: Sequence[_Point], margin: str) -> str:
    """What stays open of points of which none is shown to be far below the model, nor all not to be."""
    if points[0].ratio < 1 - MODEL_ERROR:
        return f"whether one is below it by more than {margin} is undecided"
    seen = f"none is seen below it by more than {margin}, but"
    untested = [point for point in points if point.half_width is None]
    if untested and all(low is None or low >= 1 - MODEL_ERROR for low, _ in map(_interval, points)):
        single = all(len(point.rows) < _LEAST_REPEATS for point in untested)
        return f"{seen} {counted(len(untested), 'point')}{' of a single trial' * single} cannot be tested"
    return f"{seen} the trials do not exclude it"


def _path(row: ObservedRow) -> str:
    rate_bps, rtt_ms = quantity_of(row, PREDICTED_RATE), quantity_of(row, PREDICTED_RTT)
    if rate_bps is None or rtt_ms is None:
        return "of the path"
    found = f"{format_rate(rate_bps)} and {format_milliseconds(rtt_ms)}"
    return f"of a path as these trials found it ({found}, nothing lost at random)"


def _where(observed: Observations, point: _Point) -> str:
    """Name a point by what varies: " at window sum 1 MiB, number of flows 8"."""
    following = FOLLOWING if "window_sum_bytes" in observed.factors else frozenset()
    named = [
        f"{AXIS_NAMES[axis]} {level_words(axis, level)}"
        for axis, level in zip(observed.factors, point.levels, strict=True)
        if axis in AXIS_NAMES and axis not in following
    ]
    return f" at {', '.join(named)}" if named else ""
