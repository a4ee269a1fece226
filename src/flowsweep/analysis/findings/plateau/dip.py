"""Does goodput dip between two windows, or numbers of flows of the same window, that are better?"""

from collections.abc import Sequence
from functools import partial

import numpy as np

from flowsweep.analysis.findings.finding import Decision
from flowsweep.analysis.findings.hypothesis import Hypothesis
from flowsweep.analysis.findings.plateau.runs import LONGEST, Run, run_hypotheses
from flowsweep.analysis.findings.plateau.sentences import said_of
from flowsweep.analysis.statistics.level_means import LevelMeans
from flowsweep.analysis.statistics.observations import Observations
from flowsweep.wording import format_margin

_METHOD = (
    f"mean log goodput of up to {LONGEST} neighbouring levels against the level before and the level "
    "after, {freedom} of freedom; t, Bonferroni over {runs} of levels"
)


def dip_hypotheses(
    observed: Observations, windows: Sequence[LevelMeans], *, margin: float
) -> list[Hypothesis]:
    """Ask whether some windows give less goodput than both a smaller and a larger one.

    Args:
        observed: Trials of one sweep and mode; goodput in bit/s.
        windows: From `split_by_interaction`; also numbers of flows of one window.
        margin: Of practical equivalence, relative.

    Returns:
        One for each direction and congestion control with at least three levels, about the most
        telling run of up to three neighbouring ones. The effect is in percent of goodput, against the mean of
        the levels just before and after. It is a dip if it is below each of the two: the larger of both
        p-values counts (intersection-union test: Berger 1982, Technometrics 24), times the number of runs
        (Bonferroni). The model is that of `level_means`.
    """
    return run_hypotheses("dip", observed, windows, partial(_most_telling, margin=margin), _say, _METHOD)


def _most_telling(means: LevelMeans, margin: float) -> Run:
    count = len(means.levels)
    runs = [
        (first, last)
        for first in range(1, count - 1)
        for last in range(first, min(first + LONGEST, count - 1))
    ]
    contrasts = []
    for first, last in runs:
        run = means.shares[first : last + 1].mean(axis=0)
        before, after = means.shares[first - 1], means.shares[last + 1]
        contrasts += [run - before, run - after, run - (before + after) / 2]
    estimates = means.contrasts(contrasts)
    half = estimates.half_widths(len(runs))
    # (runs, 3): against the level before, the level after, and the mean of both.
    values, halves, tests = (each.reshape(-1, 3) for each in (estimates.value, half, estimates.p_values))
    nearer = values[:, :2].max(axis=1)
    p_values = np.where(nearer < 0, tests[:, :2].max(axis=1), 1.0)
    deepest = (halves - values)[:, :2].min(axis=1)
    chosen = min(range(len(runs)), key=lambda place: (p_values[place], nearer[place]))
    value, reach = float(values[chosen, 2]), float(halves[chosen, 2])
    return Run(
        means=means,
        first=runs[chosen][0],
        last=runs[chosen][1],
        change=(value, value - reach, value + reach),
        p_value=min(1.0, float(p_values[chosen]) * len(runs)),
        seen=bool(nearer[chosen] < 0),
        at_most=float(deepest.max()),
        candidates=len(runs),
        margin=margin,
    )


def _say(run: Run, decision: Decision) -> str:
    where, flows = said_of(run.means), run.means.axis == "flows"
    at = run.levels if flows else f"a window of {run.levels}"
    none = "number of flows" if flows else "window"
    beside = f"against {run.at(run.first - 1)} and {run.at(run.last + 1)} beside it"
    if decision == "effect":
        return f"{where}: goodput dips at {at}: {run.difference} {beside}."
    if decision == "no practical effect":
        margin = format_margin(run.margin)
        return f"{where}: goodput dips at no {none} between others by more than {margin}{run.bound}."
    if not run.seen:
        lower = f"at no {none} between others is goodput below that of both"
        return f"{where}: {lower}; small dips cannot be excluded."
    return (
        f"{where}: whether goodput dips at {at} is undecided: {run.difference} {beside}; {run.why_undecided}."
    )
