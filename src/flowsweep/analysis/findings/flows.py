"""Numbers of flows are compared where they have equal windows: usable ones, not requested ones."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from flowsweep.analysis.axes import level_words
from flowsweep.analysis.findings.effects import effect_hypotheses
from flowsweep.analysis.findings.finding import Decision
from flowsweep.analysis.findings.hypothesis import NO_ESTIMATE, Hypothesis
from flowsweep.analysis.statistics.design import Design, Level, design, levels_of
from flowsweep.analysis.statistics.observations import DIRECTION, Observations, ObservedRow, trial_ids
from flowsweep.analysis.summarising.trial_row import known, quantity_of
from flowsweep.defaults import EQUIVALENCE_MARGIN
from flowsweep.wording import format_margin, format_number

_SUM = "window_sum_bytes"


@dataclass(frozen=True, slots=True)
class _Unequal:
    """Window sums at which numbers of flows have unlike usable windows, which limit them."""

    sums: tuple[str, ...]
    """In words."""
    trials: frozenset[str]
    """trial_id of those that ran there."""
    apart: float
    """By how much the usable sums differ at most: natural logarithm."""


def effects_at_equal_windows(
    observed: Observations, *, margin: float = EQUIVALENCE_MARGIN
) -> list[Hypothesis]:
    """Ask of each axis whether it changes goodput; of the number of flows at equal usable windows.

    Args:
        observed: Trials of one sweep and mode; goodput in bit/s.
        margin: Of practical equivalence, relative.

    Returns:
        Those of `effect_hypotheses`. That about flows at equal window sum is asked without the sums at
        which the usable windows of all flows together differ between numbers of flows by more than the
        margin, while goodput is below its plateau there: windows are granted in steps
        (docs/explanation/windows.md), which are coarse for small ones, and what they do is no effect of the
        number of flows. On the plateau the usable window is not conditioned on, as it follows from what
        limits there. Without such sums, and where usable windows are not known, nothing is left out.
    """
    hypotheses = effect_hypotheses(observed, margin=margin)
    unequal = _unequal(design(observed), margin) if any(each.kind == "flows" for each in hypotheses) else None
    if unequal is None:
        return hypotheses
    left = tuple(row for row in observed.rows if row["trial_id"] not in unequal.trials)
    asked = effect_hypotheses(replace(observed, rows=left), margin=margin) if left else []
    rest = next((each for each in asked if each.kind == "flows"), None)
    return [
        _conditioned(each, rest, unequal, margin) if each.kind == "flows" else each for each in hypotheses
    ]


def _unequal(grid: Design, margin: float) -> _Unequal | None:
    """Find the sums whose comparison would be one of windows."""
    sums_of = _sums(grid)
    groups: dict[tuple[str, object], dict[tuple[Level, int], list[ObservedRow]]] = {}
    for unit in grid.units:
        for row in unit.rows:
            level = sums_of[row["trial_id"]]
            if level is not None and row["flows"]:
                points = groups.setdefault((row[DIRECTION], row["congestion_asked"]), {})
                points.setdefault((level, row["flows"]), []).append(row)
    sums: dict[Level, float] = {}
    trials: set[str] = set()
    allowed = math.log1p(margin)
    for points in groups.values():
        highest = max(_mean(rows, "goodput_bps") for rows in points.values())
        for level in dict.fromkeys(level for level, _ in points):
            there = {flows: rows for (each, flows), rows in points.items() if each == level}
            apart = _usable_apart(there)
            if (
                apart > allowed
                and min(_mean(rows, "goodput_bps") for rows in there.values()) < highest - allowed
            ):
                sums[level] = max(apart, sums.get(level, 0.0))
    for points in groups.values():
        trials |= {row["trial_id"] for (level, _), rows in points.items() if level in sums for row in rows}
    if not sums:
        return None
    words = tuple(
        level_words(_SUM, level)
        for level in sorted(sums, key=lambda level: level if isinstance(level, int) else 0)
    )
    return _Unequal(words, frozenset(trials), max(sums.values()))


def _sums(grid: Design) -> dict[str, Level]:
    """The window sum of each trial, by trial_id."""
    rows = [row for unit in grid.units for row in unit.rows]
    return dict(zip(trial_ids(rows), levels_of(rows, _SUM), strict=True))


def _usable_apart(rows_of: Mapping[int, Sequence[ObservedRow]]) -> float:
    """By how much usable windows of all flows together differ between numbers of flows: natural logarithm."""
    logs = [
        _mean(rows, "window_usable_bytes") + math.log(flows)
        for flows, rows in rows_of.items()
        if all(row["window_usable_bytes"] for row in rows)
    ]
    return max(logs) - min(logs) if len(logs) > 1 else 0.0


def _mean(rows: Sequence[ObservedRow], column: str) -> float:
    return float(np.mean(np.log([known(quantity_of(row, column)) for row in rows])))


def _conditioned(whole: Hypothesis, rest: Hypothesis | None, unequal: _Unequal, margin: float) -> Hypothesis:
    sums = ", ".join(unequal.sums)
    differ = f"{format_number(100 * math.expm1(unequal.apart))} %"
    where = f"usable windows differ by up to {differ} between numbers of flows at a window sum of {sums}"
    if rest is None:
        return replace(
            whole,
            claim=f"Whether the number of flows matters at equal window sum is undecided: {where}.",
            estimate=NO_ESTIMATE, p_value=None, untestable=True, within_margin=False, second_opinion=None,
            method=f"none: at no window sum do usable windows agree within {format_margin(margin)}",
        )  # fmt: skip

    def said(decision: Decision) -> str:
        return f"{rest.say(decision)[:-1]}; not compared where {where}."

    return replace(rest, claim=said, method=f"{rest.method}; only where usable windows agree or do not limit")
