"""Does goodput go with the load of the hosts, where everything that was set is the same?"""

import math
from functools import partial

import numpy as np
import scipy

from flowsweep.analysis.findings.finding import Decision, FigureKey
from flowsweep.analysis.findings.hypothesis import Question
from flowsweep.analysis.hosts import HOST_COLUMNS
from flowsweep.analysis.statistics.least_squares import Floats
from flowsweep.analysis.statistics.observations import Observations
from flowsweep.analysis.statistics.repeat_noise import RepeatNoise
from flowsweep.defaults import CONFIDENCE
from flowsweep.wording import counted

_FEWEST_FREEDOM = 4
_SPREAD = 1e-9
"""A quantity whose residuals are less than this share of it is the same in all repeats."""


def correlation_questions(observed: Observations, noise: RepeatNoise | None) -> list[Question]:
    """Ask whether repeats with less goodput are those with a busier CPU, more drops or more retransmissions.

    Args:
        observed: Trials of one sweep and mode; goodput in bit/s.
        noise: Of the same trials; none where points ran once.

    Returns:
        One question, about the quantity of `host_words` that goes with goodput most closely. The effect is
        the partial correlation of log goodput with it, points and repeats taken out of both (unit "1", −1 to
        1): Pearson's r by Student's t (Fisher 1924, The distribution of the partial correlation coefficient,
        Metron 3), times the number of quantities (Bonferroni); interval by Fisher's z, likewise. An effect is
        claimed only if Spearman's rank correlation of the residuals agrees. None without repeats, or where
        nothing is known of the hosts.
    """
    if noise is None or noise.fit.freedom < _FEWEST_FREEDOM:
        return []
    left = {name: residuals for name in HOST_COLUMNS if (residuals := _residuals(noise, name)) is not None}
    if not left:
        return []
    freedom = noise.fit.freedom - 1
    own = noise.fit.residuals
    coefficients = {
        name: float(own @ other / math.sqrt((own @ own) * (other @ other))) for name, other in left.items()
    }
    name = max(coefficients, key=lambda each: abs(coefficients[each]))
    coefficient = max(-1 + _SPREAD, min(1 - _SPREAD, coefficients[name]))
    t_value = coefficient * math.sqrt(freedom / (1 - coefficient**2))
    half = float(scipy.stats.norm.isf((1 - CONFIDENCE) / 2 / len(left))) / math.sqrt(freedom - 1)
    middle = math.atanh(coefficient)
    estimate = (coefficient, math.tanh(middle - half), math.tanh(middle + half))
    return [
        Question(
            kind="correlation",
            sweep=observed.sweep,
            mode=observed.mode,
            axis=name,
            say=partial(_say, HOST_COLUMNS[name][0], estimate),
            effect=coefficient,
            effect_unit="1",
            interval_low=estimate[1],
            interval_high=estimate[2],
            p_value=min(1.0, 2 * float(scipy.stats.t.sf(abs(t_value), freedom)) * len(left)),
            second_opinion=lambda: float(scipy.stats.spearmanr(own, left[name]).pvalue),
            n=len(noise.rows),
            method=(
                "partial correlation (Pearson), points and repeats taken out, "
                f"{counted(freedom, 'degree')} of freedom; Bonferroni over the {len(left)} quantities known; "
                "checked by Spearman's rank correlation"
            ),
            evidence=tuple(row["trial_id"] for row in noise.rows),
            figure=FigureKey("cpu", observed.sweep, observed.mode),
        )
    ]


def _residuals(noise: RepeatNoise, name: str) -> Floats | None:
    """What is left of a quantity; None where it is not known of all trials, or the same in all repeats."""
    found = [row.get(name) for row in noise.rows]
    if any(value is None for value in found):
        return None
    values = np.array(found, dtype=np.float64)
    residuals = noise.refit(values).residuals
    return residuals if np.abs(residuals).max() > _SPREAD * max(np.abs(values).max(), _SPREAD) else None


def _say(called: str, estimate: tuple[float, float, float], decision: Decision) -> str:
    value, low, high = estimate
    number = f"r = {value:.2f} [{low:.2f}, {high:.2f}]".replace("-", "−")
    if decision == "effect":
        way = "more" if value > 0 else "less"
        return f"Repeats with more {called} have {way} goodput: {number}. Which causes which it does not say."
    return f"Goodput does not visibly go with the state of the hosts: closest is {called}, {number}."
