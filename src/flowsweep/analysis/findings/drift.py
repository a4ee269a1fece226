"""Did goodput drift over the campaign?"""

import math
from functools import partial

import numpy as np
import scipy

from flowsweep.analysis.findings.finding import Decision, FigureKey
from flowsweep.analysis.findings.hypothesis import Question
from flowsweep.analysis.findings.sentences import percent
from flowsweep.analysis.statistics.campaign_series import CampaignSeries, shuffled
from flowsweep.analysis.statistics.observations import Observations
from flowsweep.defaults import CONFIDENCE, EQUIVALENCE_MARGIN, SECOND_NS
from flowsweep.wording import counted, format_change, format_duration, format_margin

_PERMUTATIONS = 999
_SEED = 20010829
_FEWEST_FREEDOM = 3
_FACTOR_TOLD = 2.0
"""Where goodput may have fallen and risen by as much, numbers say nothing."""


def drift_questions(
    observed: Observations, series: CampaignSeries | None, *, margin: float = EQUIVALENCE_MARGIN
) -> list[Question]:
    """Ask whether goodput rose or fell over the campaign.

    Args:
        observed: Trials of one sweep and mode; goodput in bit/s.
        series: Of the same trials.
        margin: Of practical equivalence, relative, from the first trial to the last.

    Returns:
        One question, none where time cannot be told from the repeats. The effect is the change of goodput in
        percent from the first trial's start to the last's, if it went on evenly: the slope of log goodput
        over time by least squares, points taken out, and repeats too where there are fewer than eight
        (analysis of covariance; Box, Hunter and Hunter, Statistics for Experimenters, 2005), with Student's t
        interval. Checked by permutation within repeats. No numbers where the interval holds both half
        the goodput and the double.
    """
    if series is None or series.freedom <= _FEWEST_FREEDOM or not np.any(series.times_s):
        return []
    time_s, values = series.times_s, series.values
    square = float(time_s @ time_s)
    slope = float(time_s @ values) / square
    freedom = series.freedom - 1
    left = values - slope * time_s
    error = max(math.sqrt(float(left @ left) / freedom / square), np.finfo(np.float64).tiny)
    half = error * float(scipy.stats.t.isf((1 - CONFIDENCE) / 2, freedom))
    span_s = series.span_s
    estimate = (slope * span_s, (slope - half) * span_s, (slope + half) * span_s)
    change, low, high = (percent(value) for value in estimate)
    open_wide = estimate[1] <= -math.log(_FACTOR_TOLD) and estimate[2] >= math.log(_FACTOR_TOLD)
    return [
        Question(
            kind="drift",
            sweep=observed.sweep,
            mode=observed.mode,
            axis="started_at",
            say=partial(_say_open, span_s) if open_wide else partial(_say, estimate, span_s, margin),
            effect=None if open_wide else change,
            effect_unit=None if open_wide else "%",
            interval_low=None if open_wide else low,
            interval_high=None if open_wide else high,
            p_value=2 * float(scipy.stats.t.sf(abs(slope) / error, freedom)),
            within_margin=max(-estimate[1], estimate[2]) <= math.log1p(margin),
            second_opinion=lambda: _permuted(series, abs(slope) * square),
            n=len(series.trials),
            method=(
                "slope of log goodput over time, points "
                + (
                    "and repeats taken out"
                    if np.any(series.blocks)
                    else "taken out, one value for each repeat"
                )
                + f"; {counted(freedom, 'degree')} of freedom; Student's t"
            ),
            evidence=series.trials,
            figure=FigureKey("time_series", observed.sweep, observed.mode),
        )
    ]


def _permuted(series: CampaignSeries, found: float) -> float:
    """The share of arrangements in which values go with time as closely as they do."""
    generator = np.random.default_rng(_SEED)
    draws = [abs(float(series.times_s @ shuffled(series, generator))) for _ in range(_PERMUTATIONS)]
    return (1 + sum(draw >= found for draw in draws)) / (_PERMUTATIONS + 1)


def _say_open(span_s: float, _decision: Decision) -> str:
    over = f"over the {format_duration(round(span_s) * SECOND_NS)} of the campaign"
    return (
        f"Whether goodput drifted is undecided: {over} it may have halved or doubled as well as stayed the "
        "same, since trials of a point differ too much, or ran too close together in time."
    )


def _say(estimate: tuple[float, float, float], span_s: float, margin: float, decision: Decision) -> str:
    change = format_change(*(percent(value) for value in estimate))
    over = f"over the {format_duration(round(span_s) * SECOND_NS)} of the campaign"
    if decision == "effect":
        small = max(-estimate[1], estimate[2]) <= math.log1p(margin)
        remark = f", which is less than the margin of {format_margin(margin)}" if small else ""
        return f"Goodput drifted: it changed by {change} {over}{remark}."
    if decision == "no practical effect":
        return f"Goodput did not drift: it changed by {change} {over}, no practical effect."
    return f"Whether goodput drifted is undecided: it changed by {change} {over}."
