"""Does goodput fall again where windows are larger, or flows more, than they have to be?"""

import math
from functools import partial

import numpy as np

from flowsweep.analysis.findings.finding import Decision
from flowsweep.analysis.findings.hypothesis import Hypothesis
from flowsweep.analysis.findings.plateau.apart import split_by_interaction
from flowsweep.analysis.findings.plateau.runs import LONGEST, Run, run_hypotheses
from flowsweep.analysis.findings.plateau.sentences import changed_with_levels, said_of
from flowsweep.analysis.findings.plateau.start import plateau_start
from flowsweep.analysis.findings.plateau.unlimited import flows_alone
from flowsweep.analysis.statistics.design import design
from flowsweep.analysis.statistics.level_means import LevelMeans
from flowsweep.analysis.statistics.means import window_levels
from flowsweep.analysis.statistics.observations import Observations
from flowsweep.defaults import EQUIVALENCE_MARGIN
from flowsweep.wording import format_margin, format_seconds

_LONG_S = 10.0
"""Of a trial that counts: in less, a single loss weighs so much that the time is said."""
_METHOD = (
    f"log of mean goodput over a trial, highest level against up to {LONGEST} neighbouring lower "
    "ones, {freedom} of freedom; one-sided t, a level's own noise where it is more than that of all, "
    "Bonferroni over {tops}"
)


def decline_hypotheses(observed: Observations, *, margin: float = EQUIVALENCE_MARGIN) -> list[Hypothesis]:
    """Ask whether the largest window, or the most flows, give less goodput than smaller ones.

    It is asked of goodput in the mean over a trial: a window that makes a queue overflow now and then costs
    bytes, but not in the median interval.

    Args:
        observed: Trials of one sweep and mode; goodput in bit/s.
        margin: Of practical equivalence, relative.

    Returns:
        One hypothesis for each with at least three window sums, or numbers of flows that no window holds back
        (`flows_alone`), about the most telling top. The effect is in
        percent of goodput: at the largest window, against the mean of up to three neighbouring smaller ones.
        Which those are is not known beforehand: the p-value is one-sided, times the number of tops that are
        possible (umbrella alternatives with an unknown peak: Mack and Wolfe 1981, K-sample rank tests for
        umbrella alternatives, JASA 76; as contrasts of means: Bretz and Hothorn 2001, Testing dose-response
        relationships with a priori unknown, possibly nonmonotone shapes, J. Biopharm. Stat. 11; here with
        Bonferroni's bound). The interval is Bonferroni's over the same tops. A dip that goodput recovers from
        is none: the largest window has to be below the top. Where goodput still rises at the largest window,
        beyond chance and the margin, no finding is made of it: that of the plateau says so.
    """
    means = observed.in_the_mean()
    grid = design(means, paired=False)
    windows = split_by_interaction(window_levels(means, grid), margin)
    flows = split_by_interaction(flows_alone(means, grid, windows, margin), margin)
    most_telling = partial(_most_telling, margin=margin)
    return run_hypotheses("decline", observed, [*windows, *flows], most_telling, _say, _METHOD)


def _most_telling(means: LevelMeans, margin: float) -> Run:
    end = len(means.levels) - 1
    tops = [(first, last) for first in range(end) for last in range(first, min(first + LONGEST, end))]
    compared = means.guarded(
        [means.shares[end] - means.shares[first : last + 1].mean(axis=0) for first, last in tops]
    )
    half = compared.half_widths(len(tops))
    one_sided = np.where(compared.value < 0, compared.p_values / 2, 1 - compared.p_values / 2)
    chosen = int(np.argmin(one_sided))
    value, reach = float(compared.value[chosen]), float(half[chosen])
    return Run(
        means=means,
        first=tops[chosen][0],
        last=tops[chosen][1],
        change=(value, value - reach, value + reach),
        seen=value < 0,
        p_value=min(1.0, float(one_sided[chosen]) * len(tops)),
        at_most=-float((compared.value - half).min()),
        candidates=len(tops),
        margin=margin,
        shown=plateau_start(means, margin).earliest < end,
    )


def _say(run: Run, decision: Decision) -> str:
    where, end = said_of(run.means), len(run.means.levels) - 1
    largest = run.at(end)
    best = run.at(int(np.argmax(run.means.means)))
    many = "with many flows" if run.means.axis == "flows" else "at large windows"
    longer = "" if _counts_s(run) is None else " These trials do not tell what a longer one loses."
    mean = f"in the mean over {_time_that_counts(run)}{_over_flows(run)}"
    less = f"{run.difference} {mean} at {largest} against {run.levels}"
    if decision == "effect":
        small = run.change[1] >= math.log1p(-run.margin)
        remark = (
            f"which is less than the margin of {format_margin(run.margin)}"
            if small
            else f"the highest mean is at {best}"
        )
        return f"{where}: goodput declines {many}: {less}; {remark}.{longer}"
    if decision == "no practical effect":
        most = format_margin(run.margin)
        what = "the most flows" if run.means.axis == "flows" else "the largest window"
        costs = "cost" if run.means.axis == "flows" else "costs"
        no_more = f"{what}, {largest}, {costs} no more than {most} of goodput"
        return f"{where}: {no_more} {mean}{run.bound}.{longer}"
    if not run.seen:
        return f"{where}: no decline of goodput is seen up to {largest}; a small one cannot be excluded."
    return f"{where}: whether goodput declines {many} is undecided: {less}; {run.why_undecided}.{longer}"


def _over_flows(run: Run) -> str:
    """Name the numbers of flows over which windows are compared: they may lose unlike shares."""
    counts = sorted({row["flows"] for row in run.means.rows})
    if run.means.axis == "flows" or len(counts) == 1 or "flows" in changed_with_levels(run.means):
        return ""
    *more, last = map(str, counts)
    return f" and on average over {', '.join(more)} and {last} flows"


def _time_that_counts(run: Run) -> str:
    counts_s = _counts_s(run)
    return "a trial" if counts_s is None else f"the {format_seconds(counts_s)} of a trial that count"


def _counts_s(run: Run) -> float | None:
    """How much of each trial counts, of short ones: in less time a single loss weighs more."""
    times_s = {row["duration_s"] and row["duration_s"] - (row["omit_s"] or 0.0) for row in run.means.rows}
    counts_s = next(iter(times_s)) if len(times_s) == 1 else None
    return None if counts_s is None or counts_s >= _LONG_S else counts_s
