"""What of the variation of goodput monitors explain, and whether asking them shows."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy

from flowsweep.analysis.findings.correlation import partial_correlation, ranked_method, ranked_p, simulated
from flowsweep.analysis.findings.finding import Decision
from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.findings.sentences import percent
from flowsweep.analysis.monitors.explanations import Explanation
from flowsweep.analysis.statistics.campaign_series import CampaignSeries, campaign_series
from flowsweep.analysis.statistics.design import design
from flowsweep.analysis.statistics.intervals import half_width
from flowsweep.analysis.statistics.least_squares import Floats
from flowsweep.analysis.statistics.observations import Observations, trial_ids
from flowsweep.analysis.statistics.red_noise import NoiseModels, noise_models
from flowsweep.analysis.statistics.repeat_noise import RepeatNoise, repeat_noise
from flowsweep.analysis.statistics.turns import in_time
from flowsweep.analysis.summarising.trial_row import goodput_of
from flowsweep.defaults import CONFIDENCE
from flowsweep.wording import counted, format_change, format_number

_FEWEST_FREEDOM = 4
_FEWEST_OF_A_KIND = 2
"""Trials with a poll, and without one: fewer tell nothing of polls."""
_STEEPEST = 2.0
"""bit/s of goodput that a bit/s of cross traffic may take: what seems to take more is trials' own bytes that
polls put into the wrong time."""
_METHOD = "partial correlation (Pearson) with {}, {}, {} of freedom; p by simulated campaigns of red noise"
_SIGNS = {"cross": -1, "cpu": -1, "poll": 0}
"""Which way a quantity may explain goodput: others take what is there. Polls may do either."""


@dataclass(frozen=True, slots=True)
class _Related:
    """How goodput goes with a quantity."""

    coefficient: float
    """Pearson's r of what points and repeats leave of both."""
    low: float
    high: float
    slope: float
    """Of log goodput, per unit of the quantity."""
    half: float
    """Half the 95 % interval of the slope."""
    p_value: float | None


def monitor_hypotheses(
    observed: Observations, explained: Sequence[Explanation], *, margin: float
) -> list[Hypothesis]:
    """Ask of each quantity of a monitor whether repeats with more of it have another goodput.

    Args:
        observed: Trials of one sweep and mode; goodput in bit/s.
        explained: Quantities of trials, by trial_id.
        margin: Of practical equivalence, relative, of goodput with and without a poll.

    Returns:
        A hypothesis for each quantity that differs between repeats, on the trials of which it is known: of
        the first and the last of a campaign it may not be. The effect is the share of what goodput varies
        between repeats that the quantity explains (r², unit "1"), of polls the change of goodput in percent.
        Tests are those of `correlation_hypotheses`, each quantity by itself. Traffic of others is claimed
        only as what takes goodput away, and no more than there was.
    """
    found = []
    trials: dict[tuple[str, ...], _Trials | None] = {}
    for one in explained:
        rows = tuple(row for row in observed.rows if row["trial_id"] in one.values)
        names = trial_ids(rows)
        if names not in trials:
            trials[names] = _trials(replace(observed, rows=rows)) if rows else None
        known = trials[names]
        if known is None:
            continue
        values = np.array([one.values[row["trial_id"]] for row in known.noise.rows], dtype=np.float64)
        hypothesis = _hypothesis(observed, known, one, values, margin)
        if hypothesis is not None:
            found.append(hypothesis)
    return found


@dataclass(frozen=True, slots=True)
class _Trials:
    """Those of which a quantity is known."""

    noise: RepeatNoise
    series: CampaignSeries | None
    """Without it nothing is claimed, since neighbours may resemble each other."""
    models: NoiseModels | None


def _trials(observed: Observations) -> _Trials | None:
    """None where repeats are too few, or nothing differs between them."""
    grid = design(observed)
    noise = repeat_noise(grid)
    if noise is None or noise.fit.freedom < _FEWEST_FREEDOM or not np.any(noise.fit.residuals):
        return None
    series = campaign_series(in_time(grid))
    return _Trials(noise, series, None if series is None else noise_models(series))


def _hypothesis(
    observed: Observations, trials: _Trials, one: Explanation, values: Floats, margin: float
) -> Hypothesis | None:
    noise = trials.noise
    if one.kind == "poll" and min((values > 0).sum(), (values == 0).sum()) < _FEWEST_OF_A_KIND:
        return _all_alike(observed, noise, one, values)
    related = _related(trials, values)
    if related is None:
        return None
    evidence = trial_ids(noise.rows)
    freedom = counted(noise.fit.freedom - 1, "degree")
    method = _METHOD.format(one.called if one.kind != "poll" else "polls", noise.without, freedom)
    taken = _taken(noise, values) if one.kind == "cross" else None
    implausible = related.coefficient * _SIGNS[one.kind] < 0 or (taken is not None and taken > _STEEPEST)
    make = partial(
        Hypothesis,
        scope=observed.scope(),
        evidence=evidence,
        method=method,
        axis="started_at",
        figure="monitors",
        p_value=None if implausible else related.p_value,
        untestable=implausible or related.p_value is None,
        second_opinion=partial(ranked_p, noise, values),
        second_method=ranked_method(noise),
    )
    if one.kind == "poll":
        logs = (related.slope, related.slope - related.half, related.slope + related.half)
        return make(
            kind="polling",
            claim=partial(_say_polling, one.called, logs),
            estimate=Estimate.in_percent(logs),
            within_margin=max(map(abs, logs[1:])) <= math.log1p(margin),
        )
    shares = _shares(related)
    why = _doubt(related, taken, implausible=implausible)
    return make(
        kind="monitors",
        claim=partial(_say_share, one.called, shares, taken, why),
        estimate=Estimate(shares[0], "1", shares[1], shares[2]),
    )


def _related(trials: _Trials, values: Floats) -> _Related | None:
    noise, series, models = trials.noise, trials.series, trials.models
    correlated = partial_correlation(noise, values)
    if correlated is None:
        return None
    coefficient, other = correlated
    own = noise.fit.residuals
    freedom = noise.fit.freedom - 1
    half = float(scipy.stats.norm.isf((1 - CONFIDENCE) / 2)) / math.sqrt(max(freedom - 1, 1))
    p_value, reached = None, 0.0
    if series is not None and models is not None:
        p_value, reached = simulated(noise, series, models, other[None, :], coefficient)
        half = max(half, math.atanh(reached))
    middle = math.atanh(coefficient)
    slope = float(own @ other / (other @ other))
    spread = math.sqrt(float(own @ own) / float(other @ other))
    error = spread * math.sqrt(max(1 - coefficient**2, 0.0) / freedom)
    return _Related(
        coefficient, math.tanh(middle - half), math.tanh(middle + half), slope,
        max(half_width(error, freedom), reached * spread), p_value,
    )  # fmt: skip


def _taken(noise: RepeatNoise, values: Floats) -> float:
    """bit/s less of goodput for each bit/s more of others' traffic."""
    goodput = noise.refit(np.array([goodput_of(row) for row in noise.rows])).residuals
    other = noise.refit(values).residuals
    return -float(goodput @ other / (other @ other))


def _shares(related: _Related) -> tuple[float, float, float]:
    """r², and the ends of its interval."""
    ends = sorted((related.low**2, related.high**2))
    low = 0.0 if related.low * related.high <= 0 else ends[0]
    return related.coefficient**2, low, ends[1]


def _all_alike(observed: Observations, noise: RepeatNoise, one: Explanation, values: Floats) -> Hypothesis:
    asked = int((values > 0).sum())
    during = "all" if asked == len(values) else "none" if asked == 0 else f"{asked} of {len(values)}"
    return Hypothesis(
        "polling",
        observed.scope(),
        f"Whether asking the monitor {one.called} shows in goodput cannot be told: it was asked during "
        f"{during} of these trials, so there is nothing to compare.",
        trial_ids(noise.rows),
        method="none: trials with and without a poll are too few",
        untestable=True,
    )


def _doubt(related: _Related, taken: float | None, *, implausible: bool) -> str:
    if taken is not None and taken > _STEEPEST:
        return (
            f"each bit/s of it would take {format_number(taken)} bit/s, which it cannot: polls are too far "
            "apart to tell it from the trials' own bytes"
        )
    if implausible:
        return "there is more of it where goodput is higher, which it cannot cause"
    if related.p_value is None:
        return "it is not known when the trials ran, or they are too few"
    return "it may be chance"


def _say_share(
    called: str, shares: tuple[float, float, float], taken: float | None, doubt: str, decision: Decision
) -> str:
    number = format_change(*(100 * one for one in shares))
    if decision == "effect":
        slope = "" if taken is None else f"; each Mbit/s of it goes with {format_number(taken)} Mbit/s less"
        return f"Of what goodput varies between repeats, {called} explains {number}{slope}."
    return f"What {called} explains of goodput's variation between repeats is undecided: {number}; {doubt}."


def _say_polling(called: str, logs: tuple[float, float, float], decision: Decision) -> str:
    change, low, high = map(percent, logs)
    number = format_change(change, low, high)
    if decision == "effect":
        way = "more" if logs[0] > 0 else "less"
        asked = f"trials during which it was asked have {way} goodput"
        return f"Asking the monitor {called} shows: {asked}, {number}."
    if decision == "no practical effect":
        differs = "goodput of trials during which it was asked differs by"
        return f"Asking the monitor {called} does not show: {differs} {number}."
    return f"Whether asking the monitor {called} shows in goodput is undecided: {number}."
