"""Whether what median intervals call alike is alike in the mean over a trial, too."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from statistics import median

from flowsweep.analysis.findings.finding import Decision
from flowsweep.analysis.findings.hypothesis import Hypothesis
from flowsweep.analysis.findings.sentences import name_point
from flowsweep.analysis.mean_goodput import mean_goodput_of
from flowsweep.analysis.statistics.design import Design, Level, design
from flowsweep.analysis.statistics.observations import DIRECTION, Observations, ObservedRow
from flowsweep.analysis.summarising.trial_row import goodput_of, quantity_of
from flowsweep.tests import facts_of
from flowsweep.wording import format_share

_LOST = ("loss_share", "loss", "packets_lost", "retransmits")
"""Columns that say whether a trial lost anything: the first that is known does. The last counts
what was before the time that counts, too."""
_BETWEEN_OTHERS = "dip"
"""What falls off at one end is no dip."""


@dataclass(frozen=True, slots=True)
class _Interrupted:
    """The point at which short interruptions cost most, of two levels that differ in that."""

    where: str
    share: float
    """How far the mean over a trial is below its median interval, relative; the median over repeats."""
    causes: str
    """What may explain that, in words."""


def alike_in_the_mean(
    hypotheses: Iterable[Hypothesis], observed: Observations, *, margin: float
) -> Iterator[Hypothesis]:
    """Keep hypotheses from being decided as of no practical effect by the median interval alone.

    A median of intervals does not show what a queue costs that overflows now and then, and whoever moves
    files pays for it.

    Args:
        hypotheses: By the goodput of these trials.
        observed: Trials of one sweep and mode; goodput in bit/s.
        margin: Of practical equivalence, relative. Levels of the axis that a hypothesis is about may not
            differ by more in how far the mean is below the median interval, at any point of the other axes;
            nor in the mean itself, where half of the margin comes from that.
    """
    grid = design(observed, paired=False)
    for hypothesis in hypotheses:
        alike = hypothesis.within_margin and hypothesis.kind != _BETWEEN_OTHERS
        found = _interrupted(observed, grid, hypothesis, margin) if alike else None
        if found is None:
            yield hypothesis
        else:
            # Bounds are of median intervals: they would say what the sentence does not.
            estimate = hypothesis.estimate._replace(low=None, high=None)
            claim = partial(_say, hypothesis, found)
            yield replace(hypothesis, within_margin=False, claim=claim, estimate=estimate)


def _interrupted(
    observed: Observations, grid: Design, hypothesis: Hypothesis, margin: float
) -> _Interrupted | None:
    taking_part = frozenset(hypothesis.evidence)
    points: dict[Hashable, dict[Level, list[ObservedRow]]] = {}
    for unit in grid.units:
        for row in unit.rows:
            if row["trial_id"] in taking_part:
                place = dict(zip(grid.axes, unit.levels, strict=True)) | {DIRECTION: row[DIRECTION]}
                level = place.pop(hypothesis.axis or DIRECTION, None)
                key = (unit.hosts, *place.values())
                points.setdefault(key, {}).setdefault(level, []).append(row)
    most: _Interrupted | None = None
    for levels in points.values():
        shares = {level: median(map(_below_median, rows)) for level, rows in levels.items()}
        means = {level: median(map(_mean_bps, rows)) for level, rows in levels.items()}
        unlike = [
            max(pair, key=lambda level: shares[level])
            for pair in combinations(levels, 2)
            if _unlike([shares[level] for level in pair], [means[level] for level in pair], margin)
        ]
        level = max(unlike, key=lambda level: shares[level], default=None)
        if unlike and (most is None or shares[level] > most.share):
            own = levels[level]
            most = _Interrupted(name_point(observed, own[0]), shares[level], _causes(own))
    return most


def _unlike(shares: Sequence[float], means_bps: Sequence[float], margin: float) -> bool:
    """Whether two levels differ by what median intervals do not show: that alone, or half of it."""
    apart = max(shares) - min(shares)
    return apart > margin or (apart > margin / 2 and min(means_bps) < (1 - margin) * max(means_bps))


def _mean_bps(row: ObservedRow) -> float:
    return mean_goodput_of(row) or goodput_of(row)


def _below_median(row: ObservedRow) -> float:
    mean_bps = mean_goodput_of(row)
    return 0.0 if mean_bps is None else 1 - mean_bps / goodput_of(row)


def _causes(rows: Sequence[ObservedRow]) -> str:
    """Name what any of some trials had, or may have had where nobody knows, that lowers a mean."""
    causes = ["losses"] if any(_lost(row) for row in rows) else []
    causes += ["stalls"] if any(row.get("stalled_share") != 0 for row in rows) else []
    started = not any(row.get("omit_s") or facts_of(row["test"]).datagrams for row in rows)
    causes += ["slow start"] if started else []
    *others, last = causes or ["unsteady goodput"]
    return f"{', '.join(others)} or {last}" if others else last


def _lost(row: ObservedRow) -> bool:
    """Whether a trial lost anything, or nobody knows."""
    return next((lost for name in _LOST if (lost := quantity_of(row, name)) is not None), 1) > 0


def _say(hypothesis: Hypothesis, found: _Interrupted, decision: Decision) -> str:
    claim = hypothesis.say(decision)
    if decision != "undecided":
        return claim
    return (
        f"{claim} These are medians of intervals: at {found.where} the mean over a trial is "
        f"{format_share(found.share)} below its median interval, which {found.causes} may explain, so "
        "nothing is claimed."
    )
