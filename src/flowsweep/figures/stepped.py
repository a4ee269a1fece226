"""Points whose goodput stepped: what ran since then stands for them, apart from what ran before."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from flowsweep.analysis.axes import level_of
from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.step_directions import split_at_steps
from flowsweep.analysis.grid_rows import POINT_COLUMNS, CellRow
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.grouping import grouped

SINCE = "since goodput stepped"
BEFORE = "before goodput stepped"
SINCE_THEN = " Where goodput stepped, what stands for a point is of the repeats since then."
MEASURED_SINCE = " Where goodput stepped, what was measured is of the repeats since then."
NUMBERS = f"{SINCE_THEN[:-1]}; hover for those before."
OPEN_MARKS = f"{SINCE_THEN[:-1]}; open marks are those before."
_ONLY = f" Some points ran {BEFORE} only: hover to see which."


@dataclass(frozen=True, slots=True)
class Sides:
    """Trials of a campaign, told apart where goodput stepped."""

    counted: list[TrialRow]
    """Those that stand for their point: since the last step; of a point that ran before it only, all."""
    before: list[TrialRow]
    """Those that ran before the last step, of points that ran since."""
    alone: frozenset[tuple[object, ...]]
    """Points that ran before it only, as `point_of`."""


def point_of(row: Mapping[str, Any]) -> tuple[object, ...]:
    """What tells a point, or a trial of it, from others."""
    # A trial answers several sums of windows that were asked for.
    return tuple(level_of(row, name) for name in POINT_COLUMNS if name != "window_sum_asked_bytes")


def sides_of(trials: Sequence[TrialRow], findings: Sequence[Finding]) -> Sides:
    """Tell the trials since goodput stepped from those before; `findings`: of the same campaign."""
    since, early = split_at_steps(trials, findings)
    if not early:
        return Sides(since, [], frozenset())
    there = set(map(point_of, since))
    alone = [row for row in early if point_of(row) not in there]
    before = [row for row in early if point_of(row) in there]
    return Sides([*since, *alone], before, frozenset(map(point_of, alone)))


def cells_since(cells: Sequence[CellRow], sides: Sides) -> list[CellRow]:
    """Make points of what ran since goodput stepped.

    Returns:
        The cells; those of which trials ran before have these as `goodputs_before_bps`, and those of which
        all did are `before_only`.
    """
    if not (sides.before or sides.alone):
        return list(cells)
    before, since = grouped(sides.before, point_of), grouped(sides.counted, point_of)
    return [
        _since(row, since[point], before[point])
        if (point := point_of(row)) in before
        else _made({**row, "before_only": True})
        if point in sides.alone
        else row
        for row in cells
    ]


def words_of(rows: Sequence[Mapping[str, Any]], words: str) -> str:
    """Say in a caption what a step has to do with some points; nothing if it concerns none of them."""
    only = any(row.get("before_only") for row in rows)
    split = any(row.get("goodputs_before_bps") is not None for row in rows)
    return f"{words if split else ''}{_ONLY if only else ''}"


def _since(row: CellRow, since: Sequence[TrialRow], before: Sequence[TrialRow]) -> CellRow:
    goodputs_bps = _goodputs(since)
    return _made(
        {
            **row,
            "goodput_median_bps": median(goodputs_bps) if goodputs_bps else None,
            "goodput_lowest_bps": min(goodputs_bps, default=None),
            "goodput_highest_bps": max(goodputs_bps, default=None),
            "goodputs_bps": goodputs_bps or None,
            "repeats_ok": len(goodputs_bps),
            "trials": len(since),
            "goodputs_before_bps": _goodputs(before),
        }
    )


def _goodputs(trials: Sequence[TrialRow]) -> list[float]:
    found = (row["goodput_bps"] for row in trials if row["status"] == "ok")
    return sorted(goodput for goodput in found if goodput is not None)


def _made(row: Mapping[str, Any]) -> CellRow:
    made: Any = row
    found: CellRow = made
    return found
