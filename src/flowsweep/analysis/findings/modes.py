"""Trials of the same point at one of two levels, as where packets take one of two unlike paths."""

import math
from collections.abc import Sequence
from functools import partial
from statistics import fmean, median

import numpy as np
import scipy

from flowsweep.analysis.axes import AXIS_NAMES, level_of, level_words
from flowsweep.analysis.findings.finding import Decision
from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.findings.sentences import percent
from flowsweep.analysis.statistics.bimodality import TwoLevels, two_levels
from flowsweep.analysis.statistics.design import design
from flowsweep.analysis.statistics.least_squares import Floats
from flowsweep.analysis.statistics.observations import DIRECTION, Observations, ObservedRow
from flowsweep.analysis.statistics.repeat_noise import RepeatNoise
from flowsweep.analysis.statistics.robust_fit import robust_fit
from flowsweep.analysis.summarising.trial_row import known
from flowsweep.defaults import CONFIDENCE, EQUIVALENCE_MARGIN, SIGNIFICANCE
from flowsweep.wording import counted, format_change, format_number, format_share

_FEWEST = 12
"""Trials; fewer show no two levels."""
_LARGE_BLOCK = 8
"""Trials of a repeat from which on its mean is known well enough to be taken out."""
_STRAY = 0.15
"""Share of trials up to which those that stand out are strays and no level."""
_LEAST = 0.2
"""Share of the trials at either level."""
_SEPARATE = 3.5
"""Standard deviations between two levels, at least."""
_LIKELY = 0.5
_RUNS = 0.01
"""p-value of the runs test below which levels follow each other in time."""
_PATHS = 0.01
"""p-value below which the two levels have unlike round trips."""
_OTHER_PATH = 1.1
_OTHER_PATH_MS = 0.5
"""Minimum round trips that differ by both of these may be of unlike paths."""


def is_other_path(gap_ms: float, least_ms: float) -> bool:
    """Whether a minimum round trip that is longer by `gap_ms` than `least_ms` may be of an unlike path."""
    return gap_ms >= max(_OTHER_PATH_MS, (_OTHER_PATH - 1) * least_ms)


def mode_hypotheses(
    observed: Observations,
    noise: RepeatNoise | None,
    *,
    asked: int = 1,
    margin: float = EQUIVALENCE_MARGIN,
) -> list[Hypothesis]:
    """Ask whether the repeats of a point come out at one of two levels.

    Args:
        observed: Trials of one sweep and mode; goodput in bit/s.
        noise: Of the same trials; none where points ran once.
        asked: Of how many parts of a sweep this is asked. Those that show no two levels are no hypotheses
            that Holm's correction would count, so p is Bonferroni's over all.
        margin: Of practical equivalence, relative.

    Returns:
        One hypothesis where the repeats show two levels that all points have in common, more than the margin
        apart (`two_levels`); none where they do not. The effect is by how many percent the lower level is
        below the higher one, with its 95 % interval. The sentence names the factor whose levels have unlike
        shares of it (chi-square, Bonferroni over the factors), and how the minimum round trips of the levels
        compare where they are unlike within points, as where connections take one of two paths (Mann and
        Whitney 1947, On a test of whether one of two random variables is stochastically larger than the
        other, Annals of Mathematical Statistics 18; p < 0.01, a tenth and 0.5 ms of difference). Where
        neighbours in time share their level, the hypothesis is undecided: that is a change over time (runs
        test: Wald and Wolfowitz 1940, On a test whether two samples are from the same population, Annals of
        Mathematical Statistics 11). Trials that stand out are left out, unless they are more than 15 % of
        all; a level has at least 20 %.
    """
    found = None if noise is None else _levels(noise)
    if noise is None or found is None:
        return []
    rows, fit = found
    separate = fit.apart >= max(math.log1p(margin), _SEPARATE * fit.spread)
    if not separate or not _LEAST <= fit.share <= 1 - _LEAST:
        return []
    half = fit.error * float(scipy.stats.norm.isf((1 - CONFIDENCE) / 2))
    estimate = [percent(-value) for value in (fit.apart, fit.apart + half, fit.apart - half)]
    return [
        Hypothesis(
            "modes",
            observed.scope(),
            partial(_say, observed, rows, fit, estimate),
            tuple(row["trial_id"] for row, low in zip(rows, fit.low, strict=True) if low > _LIKELY),
            Estimate(estimate[0], "%", *estimate[1:]),
            trials=len(rows),
            p_value=1.0 if _in_runs(rows, fit.low) else min(1.0, asked * fit.p_value),
            method=(
                "likelihood of two levels of log goodput within points, averaged over distances and shares, "
                "over the greatest of one level with normal or heavy-tailed noise; distance of the "
                "greatest likelihood; runs test over time"
                + (f"; p by Bonferroni over {asked} directions" if asked > 1 else "")
            ),
            figure="ecdf",
        )
    ]


def _levels(noise: RepeatNoise) -> tuple[tuple[ObservedRow, ...], TwoLevels] | None:
    kept = np.ones(len(noise.rows), dtype=np.bool_)
    found = robust_fit(noise.logs, noise.cells, noise.blocks)
    if found is not None and len(found.unusual) <= _STRAY * len(noise.rows):
        kept[list(found.unusual)] = False
    if kept.sum() < _FEWEST:
        return None
    whole = np.bincount(noise.blocks).min() >= _LARGE_BLOCK
    values = noise.fit.residuals if whole else noise.logs
    fit = two_levels(values[kept], np.unique(noise.cells[kept], return_inverse=True)[1])
    rows = tuple(row for row, known in zip(noise.rows, kept, strict=True) if known)
    return None if fit is None else (rows, fit)


def _in_runs(rows: Sequence[ObservedRow], low: Floats) -> bool:
    """Whether trials at the same level follow each other more often than by chance."""
    order = np.argsort([row["order_index"] for row in rows], kind="stable")
    levels = low[order] > _LIKELY
    count, of_low = len(levels), int(levels.sum())
    if of_low in (0, count):
        return True
    runs = 1 + int(np.sum(levels[1:] != levels[:-1]))
    both = 2.0 * of_low * (count - of_low)
    expected = both / count + 1
    variance = both * (both - count) / (count**2 * (count - 1))
    return bool(scipy.stats.norm.cdf((runs + 0.5 - expected) / math.sqrt(variance)) < _RUNS)


def _say(
    observed: Observations,
    rows: Sequence[ObservedRow],
    fit: TwoLevels,
    estimate: Sequence[float],
    decision: Decision,
) -> str:
    size = format_change(-estimate[0], -estimate[2], -estimate[1])
    levels = f"{format_share(fit.share)} of {counted(len(rows), 'trial')} carry {size} less than the others"
    if decision == "effect":
        tied = _tied(observed, rows, fit.low) + _paths(observed, rows, fit.low)
        return f"Repeats of the same point come out at two levels: {levels}{tied}."
    if _in_runs(rows, fit.low):
        why = "neighbours in time share their level, so it may be a change over time"
    else:
        why = "corrected for all that was tested it may be chance"
    return f"Whether repeats of the same point have two levels is undecided: {levels}; {why}."


def _tied(observed: Observations, rows: Sequence[ObservedRow], low: Floats) -> str:
    """The factor with whose levels the share of the lower level goes, and where it is greatest."""
    factors = [*({DIRECTION} & {*observed.factors}), *design(observed).axes]
    best: tuple[float, str] | None = None
    for name in factors:
        level = [level_of(row, name) for row in rows]
        counts = {
            one: [sum(low[place] > _LIKELY for place in places), len(places)]
            for one in dict.fromkeys(level)
            if (places := [place for place, other in enumerate(level) if other == one])
        }
        table = np.array([[of_low, count - of_low] for of_low, count in counts.values()])
        if len(table) < 2 or (table.sum(axis=0) == 0).any():
            continue
        p_value = float(scipy.stats.chi2_contingency(table).pvalue) * len(factors)
        if p_value < SIGNIFICANCE and (best is None or p_value < best[0]):
            most = max(counts, key=lambda one: counts[one][0] / counts[one][1])
            words = str(most) if name == DIRECTION else f"{AXIS_NAMES[name]} {level_words(name, most)}"
            best = p_value, f", most often at {words} ({counts[most][0]} of {counts[most][1]})"
    return best[1] if best is not None else ", and nothing that was varied tells which"


def _paths(observed: Observations, rows: Sequence[ObservedRow], low: Floats) -> str:
    """How the minimum round trips of the lower level compare with others of the same point, where they do."""
    points: dict[tuple[object, ...], dict[bool, list[float]]] = {}
    for row, of_low in zip(rows, low, strict=True):
        if row.get("rtt_min_ms"):
            levels = points.setdefault(_point(observed, row), {True: [], False: []})
            levels[of_low > _LIKELY].append(math.log(known(row["rtt_min_ms"])))
    both = [levels for levels in points.values() if levels[True] and levels[False]]
    if not both:
        return ""
    # What points differ by is taken out.
    centres = [fmean(levels[True] + levels[False]) for levels in both]
    lower, higher = (
        [value - centre for levels, centre in zip(both, centres, strict=True) for value in levels[level]]
        for level in (True, False)
    )
    ratio = math.exp(median(fmean(levels[True]) - fmean(levels[False]) for levels in both))
    longer_ms = abs(ratio - 1) * math.exp(median(centres))
    unlike = max(ratio, 1 / ratio) >= _OTHER_PATH and longer_ms >= _OTHER_PATH_MS
    if not unlike or float(scipy.stats.mannwhitneyu(lower, higher).pvalue) >= _PATHS:
        return ""
    return (
        f"; the minimum round trips of trials at the lower level are {format_number(ratio)} times those of "
        "others of the same point, as where connections take one of two paths, or wait in a queue"
    )


def _point(observed: Observations, row: ObservedRow) -> tuple[object, ...]:
    return tuple(level_of(row, name) for name in observed.factors)
