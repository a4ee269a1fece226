"""Does goodput go with the load of the hosts, where everything that was set is the same?"""

import math
from collections.abc import Mapping
from functools import partial

import numpy as np
import scipy

from flowsweep.analysis.findings.finding import Decision
from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.hosts import HOST_COLUMNS
from flowsweep.analysis.statistics.campaign_series import CampaignSeries, seconds
from flowsweep.analysis.statistics.design import coded
from flowsweep.analysis.statistics.least_squares import Fit, Floats
from flowsweep.analysis.statistics.likelihood_ratio import CourseTest
from flowsweep.analysis.statistics.observations import Observations, trial_ids
from flowsweep.analysis.statistics.red_noise import NoiseModels
from flowsweep.analysis.statistics.repeat_noise import RepeatNoise
from flowsweep.analysis.statistics.simulated import ENOUGH, FIRST, SEED, SIMULATED, simulated_p
from flowsweep.analysis.summarising.trial_row import known, quantity_of
from flowsweep.defaults import CONFIDENCE
from flowsweep.wording import counted

_FEWEST_FREEDOM = 4
_METHOD = (
    "partial correlation (Pearson), {}, {} of freedom; p by simulated campaigns of red noise, over the {} "
    "quantities known"
)
_SPREAD = 1e-9
"""A quantity whose residuals are less than this share of it is the same in all repeats."""


def correlation_hypotheses(
    observed: Observations,
    noise: RepeatNoise | None,
    series: CampaignSeries | None,
    models: NoiseModels | None,
) -> list[Hypothesis]:
    """Ask whether repeats with less goodput are those with a busier CPU, more drops or more retransmissions.

    Args:
        observed: Trials of one sweep and mode; goodput in bit/s.
        noise: Of the same trials; none where points ran once.
        series: Of the same trials; without it nothing is claimed, since neighbours may resemble each other.
        models: Of its noise.

    Returns:
        One hypothesis, about the quantity of `host_words` that goes with goodput most closely. The effect is
        the partial correlation of log goodput with it, points and repeats taken out of both (unit "1", −1 to
        1; Fisher 1924, The distribution of the partial correlation coefficient, Metron 3). p and interval
        are those of `simulated`, the interval by Fisher's z. An effect is claimed only if Spearman's rank
        correlation of the residuals agrees, whichever point is left out: what one point alone shows is not of
        the campaign. None without repeats, or where nothing is known of the hosts.
    """
    if noise is None or noise.fit.freedom < _FEWEST_FREEDOM:
        return []
    left = {name: residuals for name in HOST_COLUMNS if (residuals := _residuals(noise, name)) is not None}
    if not left or not np.any(noise.fit.residuals):
        return []
    freedom = noise.fit.freedom - 1
    own = noise.fit.residuals
    name, coefficient = _closest(own, left)
    half = float(scipy.stats.norm.isf((1 - CONFIDENCE) / 2 / len(left))) / math.sqrt(freedom - 1)
    p_value = None
    if series is not None and models is not None:
        p_value, reached = simulated(noise, series, models, np.array(list(left.values())), coefficient)
        half = max(half, math.atanh(reached))
    middle = math.atanh(coefficient)
    estimate = (coefficient, math.tanh(middle - half), math.tanh(middle + half))
    return [
        Hypothesis(
            "correlation",
            observed.scope(),
            partial(_say, HOST_COLUMNS[name][0], estimate, _doubt(noise, tested=p_value is not None)),
            trial_ids(noise.rows),
            Estimate(coefficient, "1", estimate[1], estimate[2]),
            axis=name,
            p_value=p_value,
            untestable=p_value is None,
            second_opinion=partial(ranked_p, noise, _values(noise, name)),
            second_method=ranked_method(noise),
            method=_METHOD.format(noise.without, counted(freedom, "degree"), len(left)),
            figure="cpu",
        )
    ]


def ranked_method(noise: RepeatNoise) -> str:
    """Name how `ranked_p` is found."""
    spearman = "Spearman's rank correlation"
    return f"{spearman}, the largest p with any one point left out" if noise.cells.max() else spearman


def ranked_p(noise: RepeatNoise, values: Floats) -> float:
    """The largest p-value of Spearman's rank correlation of residuals, with any one point left out.

    Residuals of n trials have fewer degrees of freedom than n, which Student's t takes into account. Where
    a single point is left, how its repeats differ is the noise, as in `repeat_noise`.
    """
    most = 0.0
    for cell in (-1, *(np.unique(noise.cells).tolist() if noise.cells.max() else ())):
        kept = noise.cells != cell
        cells, blocks = (coded(codes[kept].tolist()) for codes in (noise.cells, noise.blocks))
        blocks = blocks if cells.max() else np.zeros_like(blocks)
        own, other = (Fit(one[kept], cells, blocks) for one in (noise.logs, values))
        freedom = own.freedom - 1
        if freedom < 1 or not (_vary(own.residuals, noise.logs) and _vary(other.residuals, values)):
            return 1.0
        rank = float(scipy.stats.spearmanr(own.residuals, other.residuals).statistic)
        rank = max(-1 + _SPREAD, min(1 - _SPREAD, rank))
        t = abs(rank) * math.sqrt(freedom / (1 - rank**2))
        most = max(most, 2 * float(scipy.stats.t.sf(t, freedom)))
    return most


def partial_correlation(noise: RepeatNoise, values: Floats) -> tuple[float, Floats] | None:
    """Pearson's r of log goodput with a quantity of the same trials, points and repeats taken out of both.

    Args:
        noise: Of trials; some of it is not 0.
        values: (rows,) of the quantity.

    Returns:
        r, and what is left of the quantity; None where that does not differ between repeats.
    """
    residuals = noise.refit(values).residuals
    if not _vary(residuals, values):
        return None
    return _closest(noise.fit.residuals, {"": residuals})[1], residuals


def _values(noise: RepeatNoise, name: str) -> Floats:
    return np.array([quantity_of(row, name) for row in noise.rows], dtype=np.float64)


def _closest(own: Floats, left: Mapping[str, Floats]) -> tuple[str, float]:
    """The quantity that goes with goodput most closely, and Pearson's r."""
    coefficients = {
        name: float(own @ other / math.sqrt((own @ own) * (other @ other))) for name, other in left.items()
    }
    name = max(coefficients, key=lambda each: abs(coefficients[each]))
    return name, max(-1 + _SPREAD, min(1 - _SPREAD, coefficients[name]))


def simulated(
    noise: RepeatNoise, series: CampaignSeries, models: NoiseModels, quantities: Floats, found: float
) -> tuple[float, float]:
    """The p-value of a correlation found, and the one that noise alone reaches in 5 % of campaigns.

    Two courses of which neighbours resemble each other go together by chance more often than Student's t
    says (Yule 1926, Why do we sometimes get nonsense-correlations between time-series?, JRSS 89), so p is the
    share of campaigns, drawn with the noise that goodput has over time, in which some quantity goes with it
    as closely.
    """
    nothing = np.empty((series.freedom, 0))
    line = (series.contrasts.T @ series.starts_s)[None, :, None]
    test = CourseTest(models, series.contrasts.T @ series.values, line, nothing)
    times_s = np.array([seconds(known(row["started_at"])) for row in noise.rows]) - series.began_s
    order = np.argsort(times_s, kind="stable")
    design = np.column_stack([np.eye(int(codes.max()) + 1)[codes] for codes in (noise.cells, noise.blocks)])
    basis = scipy.linalg.orth(design)
    scaled = quantities / np.linalg.norm(quantities, axis=1)[:, None]
    half = (noise.fit.freedom - 1) / 2
    statistic = -half * math.log1p(-(found**2))
    p_value = critical = 0.0
    for number in test.likely_noise():
        generator = np.random.default_rng(SEED)
        draws = np.empty(0)
        for count in (FIRST, SIMULATED - FIRST):
            values = np.empty((len(order), count))
            values[order] = models.kinds[number].drawn_at(series, times_s[order], generator, count)
            left = np.square(values).sum(axis=0) - np.square(basis.T @ values).sum(axis=0)
            shares = np.minimum(np.square(scaled @ values).max(axis=0) / left, 1 - _SPREAD)
            draws = np.concatenate([draws, -half * np.log1p(-shares)])
            if int((draws >= statistic).sum()) >= ENOUGH:
                break
        p_value = max(p_value, simulated_p(statistic, draws))
        critical = max(critical, float(np.quantile(draws, CONFIDENCE)))
    return p_value, math.sqrt(-math.expm1(-critical / half))


def _residuals(noise: RepeatNoise, name: str) -> Floats | None:
    """What is left of a quantity; None where it is not known of all trials, or the same in all repeats."""
    found = [row.get(name) for row in noise.rows]
    if any(value is None for value in found):
        return None
    values = np.array(found, dtype=np.float64)
    residuals = noise.refit(values).residuals
    return residuals if _vary(residuals, values) else None


def _vary(residuals: Floats, values: Floats) -> bool:
    """Whether residuals are more than rounding of the values they are left of."""
    return bool(np.abs(residuals).max() > _SPREAD * max(np.abs(values).max(), _SPREAD))


def _doubt(noise: RepeatNoise, *, tested: bool) -> str:
    """Why nothing is claimed of a correlation whose interval does not hold 0."""
    if not tested:
        return "it was not tested, since it is not known when the trials ran, or they are too few"
    ranked = "in ranks without one of the points" if noise.cells.max() else "in ranks"
    return f"corrected for the number of hypotheses, or {ranked}, it may be chance"


def _say(called: str, estimate: tuple[float, float, float], doubt: str, decision: Decision) -> str:
    value, low, high = estimate
    number = f"r = {value:.2f} [{low:.2f}, {high:.2f}]".replace("-", "−")
    if decision == "effect":
        way = "more" if value > 0 else "less"
        said = f"Repeats with more {called} have {way} goodput: {number}."
        return f"{said} The correlation does not show which causes which."
    if low * high > 0:
        return f"Whether goodput goes with {called} is undecided: {number}; {doubt}."
    return (
        f"Among repeats of a point goodput is not seen to go with the state of hosts or path: closest is "
        f"{called}, {number}."
    )
