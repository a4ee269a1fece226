"""Whether emulated paths carry what the fluid model says of them: where less, something else limits."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from flowsweep.analysis.axes import AXIS_NAMES, level_of, level_words
from flowsweep.analysis.findings.finding import Decision, FigureKey
from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.predicted import PREDICTED, PREDICTED_RATE, PREDICTED_RTT
from flowsweep.analysis.statistics.design import Level
from flowsweep.analysis.statistics.observations import Observations, ObservedRow, trial_ids
from flowsweep.analysis.summarising.trial_row import known, quantity_of
from flowsweep.defaults import CONFIDENCE
from flowsweep.tests import facts_of
from flowsweep.wording import (
    counted,
    format_margin,
    format_milliseconds,
    format_number,
    format_rate,
    with_interval,
)

MODEL_ERROR = 0.15
"""The model's own: what 95 % of its predictions of emulated paths stay within (docs/truth/predictions.md)."""
_LEAST_SPREAD = 0.005
"""Of a goodput between repeats: alike to more digits is chance."""
_METHOD = (
    "mean goodput / the fluid model's, means of logarithms by point, spread pooled over points, trials taken "
    f"as independent; one-sided t tests against {1 - MODEL_ERROR:g}, Bonferroni over points; "
    "docs/explanation/prediction.md"
)


@dataclass(frozen=True, slots=True)
class _Point:
    """A point's trials against the model."""

    levels: tuple[Level, ...]
    rows: tuple[ObservedRow, ...]
    log_ratio: float
    half_width: float
    """Of its interval, corrected for the number of points."""
    p_value: float
    """Of "it is no more below the model than the model errs", not corrected."""

    @property
    def ratio(self) -> float:
        """Measured / predicted."""
        return math.exp(self.log_ratio)


def model_hypotheses(observed: Observations) -> list[Hypothesis]:
    """Ask of each direction whether a point stays below the model's goodput by more than the model errs.

    Args:
        observed: Trials of one sweep and mode, with `predicted_goodput_bps` where there is a prediction.

    Returns:
        One hypothesis for each direction with predictions; tested where points have repeats, and the plan
        says what the path is. The effect is measured / predicted (unit "1") of the point that is lowest.

    Method:
        One-sided t tests of each point's mean log(measured / predicted) against log(1 - MODEL_ERROR), with
        the spread pooled over points; the least p-value times the number of points (Bonferroni). Trials are
        taken as independent.
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
    groups: dict[tuple[Level, ...], list[ObservedRow]] = {}
    for row in rows:
        groups.setdefault(tuple(level_of(row, axis) for axis in factors), []).append(row)
    logs = {levels: np.log([_ratio(row) for row in own]) for levels, own in groups.items()}
    freedom = len(rows) - len(groups)
    squares = sum(float(((own - own.mean()) ** 2).sum()) for own in logs.values())
    spread = max(math.sqrt(squares / freedom), _LEAST_SPREAD) if freedom else math.nan
    tail = (1 - CONFIDENCE) / 2 / len(groups)
    found = []
    for levels, own in logs.items():
        error = spread / math.sqrt(len(own))
        mean = float(own.mean())
        p_value = (
            float(scipy.stats.t.cdf((mean - math.log(1 - MODEL_ERROR)) / error, freedom)) if freedom else 1
        )
        width = float(scipy.stats.t.isf(tail, freedom)) * error if freedom else math.nan
        found.append(_Point(levels, tuple(groups[levels]), mean, width, p_value))
    return sorted(found, key=lambda point: point.log_ratio)


def _ratio(row: ObservedRow) -> float:
    return known(row["goodput_mean_bps"]) / known(quantity_of(row, PREDICTED))


def _hypothesis(observed: Observations, direction: str, points: Sequence[_Point]) -> Hypothesis:
    lowest = points[0]
    repeated = not math.isnan(lowest.half_width)
    # A path that the trials themselves found is no bound that they could be shown to stay below.
    tested = repeated and quantity_of(lowest.rows[0], PREDICTED_RATE) is None
    ends = [lowest.ratio * math.exp(sign * lowest.half_width) if repeated else None for sign in (-1, 1)]
    low, high = ends
    alpha = (1 - CONFIDENCE) / len(points)
    below = [point for point in points if tested and point.p_value <= alpha]

    def claim(decision: Decision) -> str:
        if decision == "effect":
            return f"{direction}: {_below(observed, points, below, (low, high))}"
        return f"{direction}: {_described(observed, points, decision)}"

    return Hypothesis(
        "model",
        observed.scope(direction),
        claim,
        trial_ids(row for point in (below or points) for row in point.rows),
        Estimate(lowest.ratio, "1", low, high),
        figure=FigureKey("ratio", observed.sweep, observed.mode, direction, "flows"),
        method=_METHOD,
        p_value=min(1.0, len(points) * min(point.p_value for point in points)) if tested else None,
        within_margin=tested
        and all(math.exp(point.log_ratio - point.half_width) >= 1 - MODEL_ERROR for point in points),
    )


def _below(
    observed: Observations,
    points: Sequence[_Point],
    below: Sequence[_Point],
    interval: tuple[float | None, float | None],
) -> str:
    lowest = below[0]
    predicted_bps = known(quantity_of(lowest.rows[0], PREDICTED))
    share = with_interval(format_number, lowest.ratio, *interval)
    verb = "carries" if len(below) == 1 else "carry"
    which = f"{len(below)} of {counted(len(points), 'point')} {verb}" if len(points) > 1 else "it carries"
    where = _where(observed, lowest)
    return (
        f"{which} less than a model of the path predicts, by more than the model errs "
        f"({format_margin(MODEL_ERROR)}){', least' if len(points) > 1 else ''}{where}: {share} of "
        f"{format_rate(predicted_bps)}. The model knows the link and the windows, not the hosts and not what "
        "else is on the path."
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
        return f"{said}: no less than the model's own error of {margin} allows."
    if decision == "undecided":
        return f"{said}; whether that is less than the model's own error of {margin} allows is undecided."
    return f"{said}; the model errs by up to {margin}."


def _path(row: ObservedRow) -> str:
    rate_bps, rtt_ms = quantity_of(row, PREDICTED_RATE), quantity_of(row, PREDICTED_RTT)
    if rate_bps is None or rtt_ms is None:
        return "of the path"
    found = f"{format_rate(rate_bps)} and {format_milliseconds(rtt_ms)}"
    return f"of a path as these trials found it ({found}, nothing lost at random)"


def _where(observed: Observations, point: _Point) -> str:
    """Name a point by what varies: " at window sum 1 MiB, number of flows 8"."""
    following = _FOLLOWING if "window_sum_bytes" in observed.factors else ()
    named = [
        f"{AXIS_NAMES[axis]} {level_words(axis, level)}"
        for axis, level in zip(observed.factors, point.levels, strict=True)
        if axis in AXIS_NAMES and axis not in following
    ]
    return f" at {', '.join(named)}" if named else ""


_FOLLOWING = ("window_bytes", "window_send_bytes", "window_recv_bytes", "flows_per_pair")
"""What follows from the window sum and the number of flows."""
