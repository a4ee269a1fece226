"""Is one direction of a path faster than the other?"""

import math
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from flowsweep.analysis.findings.finding import Decision, FigureKey
from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis, unrepeated
from flowsweep.analysis.findings.plateau.unlimited import held_back
from flowsweep.analysis.findings.sentences import A_MULTIPLE, format_multiple, percent
from flowsweep.analysis.statistics.design import Unit, coded, design, mostly_repeated
from flowsweep.analysis.statistics.least_squares import Codes, Fit, Floats
from flowsweep.analysis.statistics.level_effects import FEWEST_ARRANGEMENTS, permutation_p
from flowsweep.analysis.statistics.observations import DIRECTION, Observations, ObservedRow
from flowsweep.analysis.statistics.rounded import ROUNDED, rounded_away
from flowsweep.analysis.summarising.trial_row import goodput_of
from flowsweep.defaults import EQUIVALENCE_MARGIN
from flowsweep.grouping import grouped
from flowsweep.wording import (
    counted,
    format_change,
    format_margin,
    format_percent,
    format_rate,
    rounds_to_nothing,
)

BOTH_WAYS = 2


def direction_hypotheses(observed: Observations, *, margin: float = EQUIVALENCE_MARGIN) -> list[Hypothesis]:
    """Ask of each two hosts whether one direction between them is faster.

    Args:
        observed: Trials of one sweep and mode; goodput in bit/s.
        margin: Of practical equivalence, relative.

    Returns:
        One for each two hosts that sent both ways. Its scope is the faster direction, and the effect is by
        how many percent the plateau of that one is above the other's: never below 0. Which one is faster is
        chosen by the same trials, which the two-sided p-value allows for. Points at which windows, or few
        flows, hold back one of both (`held_back`) say nothing of the path and are left out. The two
        directions of a point ran next to each other in each repeat: what counts is the difference of their
        log goodput, averaged over the points, with what it differs between repeats of the same point as noise
        (paired comparison; Student 1908, The probable error of a mean, Biometrika 6). Where points ran once,
        with what it differs between points. Where both directions have no point on their plateau in common,
        the plateaus are compared as a whole, repeat by repeat. Where points are left out, the highest of
        those compared is named for both.
    """
    grid = design(observed)
    limited = held_back(observed, grid, margin)
    units = grouped((unit for unit in grid.units if len(unit.rows) == BOTH_WAYS), lambda unit: unit.hosts)
    return [_hypothesis(observed, _compared(both, limited), margin=margin) for both in units.values()]


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Log goodput of both directions, side by side."""

    ways: tuple[str, str]
    logs: Floats
    """(2, pairs) natural logarithm of bit/s."""
    points: Codes
    """(pairs,) number of the point that a pair is of."""
    trials: tuple[str, ...]
    left_out: int
    """Trials that windows or few flows hold back."""
    whole: bool
    """Pairs are of whole plateaus, not of points."""
    highest_bps: tuple[float, float]
    """Of the highest point of each direction that is compared, on average over its repeats."""


def _compared(units: Sequence[Unit], limited: Collection[str]) -> _Pairs:
    first, second = sorted(row[DIRECTION] for row in units[0].rows)
    ways = (first, second)
    kept = [unit for unit in units if not any(row["trial_id"] in limited for row in unit.rows)]
    plateaus = _plateaus(units, ways, limited)
    whole = not kept and plateaus.shape[1] > 0
    paired = kept or units
    logs = np.array([[math.log(_goodput(unit, way)) for way in ways] for unit in paired]).T
    points = coded([unit.levels for unit in paired])
    if whole:
        logs, points = plateaus, np.zeros(plateaus.shape[1], dtype=np.intp)
    used = [
        (unit.levels, row)
        for unit in paired
        for row in unit.rows
        if not whole or row["trial_id"] not in limited
    ]
    return _Pairs(
        ways=ways,
        logs=logs,
        points=points,
        trials=tuple(row["trial_id"] for _, row in used),
        left_out=BOTH_WAYS * len(units) - len(used),
        whole=whole,
        highest_bps=(_highest_bps(used, first), _highest_bps(used, second)),
    )


def _plateaus(units: Sequence[Unit], ways: Sequence[str], limited: Collection[str]) -> Floats:
    """(2, repeats) mean log goodput of each direction's own plateau, of repeats in which both have one."""
    found: dict[int, dict[str, list[float]]] = {}
    for unit in units:
        for row in unit.rows:
            if row["trial_id"] not in limited:
                own = found.setdefault(unit.repeat, {}).setdefault(row[DIRECTION], [])
                own.append(math.log(goodput_of(row)))
    both = [[float(np.mean(own[way])) for way in ways] for own in found.values() if len(own) == BOTH_WAYS]
    return np.array(both).reshape(-1, BOTH_WAYS).T


def _highest_bps(used: Sequence[tuple[Hashable, ObservedRow]], way: str) -> float:
    points: dict[Hashable, list[float]] = {}
    for levels, row in used:
        if row[DIRECTION] == way:
            points.setdefault(levels, []).append(math.log(goodput_of(row)))
    return math.exp(max(float(np.mean(own)) for own in points.values()))


def _hypothesis(observed: Observations, pairs: _Pairs, *, margin: float) -> Hypothesis:
    ways, logs = pairs.ways, pairs.logs
    shifts = logs[0] - logs[1]
    repeated = mostly_repeated(pairs.points)
    cells = pairs.points if repeated else np.zeros_like(pairs.points)
    fit = Fit(shifts, cells, np.zeros_like(pairs.points))
    if fit.freedom < 1:
        claim = f"Whether {ways[0]} or {ways[1]} is faster is undecided: {_lacking(observed, pairs)}."
        return unrepeated("direction", observed.scope(), claim, pairs.trials, axis=DIRECTION)
    if rounded_away(observed.rows, fit.residuals):
        claim = f"Whether {ways[0]} or {ways[1]} is faster is undecided: {ROUNDED}; {_at_face_value(pairs)}."
        return unrepeated("direction", observed.scope(), claim, pairs.trials, axis=DIRECTION)
    count = int(cells.max()) + 1
    mean = fit.compare(shifts, np.full((1, count), 1 / count))
    shift, half = float(mean.value[0]), float(mean.half_widths()[0])
    faster, slower = ways if shift >= 0 else (ways[1], ways[0])
    estimate = (abs(shift), abs(shift) - half, abs(shift) + half)
    enough = 2 ** (len(shifts) - 1) >= FEWEST_ARRANGEMENTS
    return Hypothesis(
        "direction",
        observed.scope(faster),
        partial(_say, pairs, (faster, slower), estimate, margin),
        pairs.trials,
        Estimate.in_percent(estimate),
        axis=DIRECTION,
        p_value=float(mean.p_values[0]),
        within_margin=estimate[2] <= math.log1p(margin),
        second_opinion=(lambda: permutation_p(logs)) if enough else None,
        method=_method(pairs, fit, count, repeated=repeated),
        figure=FigureKey("effects", observed.sweep, observed.mode, axis=DIRECTION),
    )


def _at_face_value(pairs: _Pairs) -> str:
    """Say by how much one direction is faster if chance had no part in the means."""
    shift = float(np.mean(pairs.logs[0] - pairs.logs[1]))
    faster, slower = pairs.ways if shift >= 0 else pairs.ways[::-1]
    if round(percent(abs(shift)), 1) == 0:
        return "taken at face value, they are alike"
    more = format_percent(percent(abs(shift)))
    return f"taken at face value, {faster} is {more} faster than {slower}"


def _lacking(observed: Observations, pairs: _Pairs) -> str:
    """Why nothing can be told of a single pair."""
    ended = [row for row in observed.rows if row[DIRECTION] in pairs.ways]
    where = _on_plateau(pairs)
    if len({row["repeat"] for row in ended}) == 1:
        return f"both ran only once{where}"
    alone = len(ended) - len(pairs.trials) - pairs.left_out
    left = f"; {counted(alone, 'trial')} left out: that of the other direction is missing" if alone else ""
    return f"only one repeat has both{where}{left}"


def _method(pairs: _Pairs, fit: Fit, count: int, *, repeated: bool) -> str:
    each = "each repeat's plateaus a pair; " if pairs.whole else "points as repeats; "
    parts = (
        f"paired differences of log goodput, {counted(len(pairs.points), 'pair')}, "
        + (f"each of {count} points a mean; " if repeated and not pairs.whole else each)
        + f"{counted(fit.freedom, 'degree')} of freedom; t interval"
    )
    if not pairs.left_out:
        return parts
    return (
        f"{parts}; {counted(pairs.left_out, 'trial')} left out whose windows or flows are below the plateau "
        "or past it"
    )


def _goodput(unit: Unit, way: str) -> float:
    return next(goodput_of(row) for row in unit.rows if row[DIRECTION] == way)


def _say(
    pairs: _Pairs,
    order: tuple[str, str],
    estimate: tuple[float, float, float],
    margin: float,
    decision: Decision,
) -> str:
    (faster, slower), ways = order, pairs.ways
    percents = [percent(value) for value in estimate]
    if estimate[0] >= A_MULTIPLE:
        said = f"{faster} is {format_multiple(estimate, ' times')} as fast as {slower}"
    elif decision != "effect" or rounds_to_nothing(*percents):
        said = f"{faster} differs by {format_change(*percents)} from {slower}"
    else:
        said = f"{faster} is {format_change(*percents)} faster than {slower}"
    if decision == "effect":
        small = estimate[2] <= math.log1p(margin)
        remark = f", which is less than the margin of {format_margin(margin)}" if small else ""
        return f"{said}{remark}{_highest(pairs)}."
    if decision == "no practical effect":
        return f"Both directions are alike to within {format_margin(margin)}: {said}{_highest(pairs)}."
    return (
        f"Whether {ways[0]} or {ways[1]} is faster is undecided: {said}, and differences up to "
        f"{format_margin(margin)} would be of no practical effect{_highest(pairs)}."
    )


def _highest(pairs: _Pairs) -> str:
    if not pairs.left_out:
        return ""
    rates = (f"{format_rate(rate)} {way}" for way, rate in zip(pairs.ways, pairs.highest_bps, strict=True))
    return f"; this rests on the {_kept(pairs)} on the plateau, with up to {' and '.join(rates)}"


def _on_plateau(pairs: _Pairs) -> str:
    return f" on the plateau ({_kept(pairs)})" if pairs.left_out else ""


def _kept(pairs: _Pairs) -> str:
    return f"{len(pairs.trials)} of {counted(pairs.left_out + len(pairs.trials), 'trial')}"
