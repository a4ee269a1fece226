"""Is one direction of a path faster than the other?"""

import math
from collections.abc import Hashable, Sequence
from functools import partial

import numpy as np

from flowsweep.analysis.findings.finding import Decision, FigureKey
from flowsweep.analysis.findings.hypothesis import Question
from flowsweep.analysis.findings.sentences import A_MULTIPLE, format_multiple, percent
from flowsweep.analysis.statistics.design import Unit, coded, design, mostly_repeated
from flowsweep.analysis.statistics.least_squares import Fit
from flowsweep.analysis.statistics.level_effects import FEWEST_ARRANGEMENTS, permutation_p
from flowsweep.analysis.statistics.observations import DIRECTION, Observations
from flowsweep.defaults import EQUIVALENCE_MARGIN
from flowsweep.wording import counted, format_change, format_margin

BOTH_WAYS = 2


def direction_questions(observed: Observations, *, margin: float = EQUIVALENCE_MARGIN) -> list[Question]:
    """Ask of each two hosts whether one direction between them is faster.

    Args:
        observed: Trials of one sweep and mode; goodput in bit/s.
        margin: Of practical equivalence, relative.

    Returns:
        One question for each two hosts that sent both ways. The effect is by how many percent the goodput of
        `direction` is above that of the other. The two directions of a point ran next to each other in each
        repeat: what counts is the difference of their log goodput, averaged over all points, with what it
        differs between repeats of the same point as noise (paired comparison; Student 1908, The probable
        error of a mean, Biometrika 6). Where points ran once, with what it differs between points.
    """
    units: dict[Hashable, list[Unit]] = {}
    for unit in design(observed).units:
        if len(unit.rows) == BOTH_WAYS:
            units.setdefault(unit.hosts, []).append(unit)
    return [_question(observed, paired, margin=margin) for paired in units.values()]


def _question(observed: Observations, units: Sequence[Unit], *, margin: float) -> Question:
    ways = sorted(row[DIRECTION] for row in units[0].rows)
    logs = np.array([[math.log(_goodput(unit, way)) for way in ways] for unit in units])
    shifts = logs[:, 0] - logs[:, 1]
    points = coded([unit.levels for unit in units])
    repeated = mostly_repeated(points)
    cells = points if repeated else np.zeros_like(points)
    fit = Fit(shifts, cells, np.zeros_like(points))
    trials = tuple(row["trial_id"] for unit in units for row in unit.rows)
    if fit.freedom < 1:
        return Question(
            kind="direction", sweep=observed.sweep, mode=observed.mode, axis=DIRECTION, n=len(trials),
            say=lambda _: f"Whether {ways[0]} or {ways[1]} is faster is undecided: both ran only once.",
            method="none: nothing tells the noise", untestable=True, evidence=trials,
        )  # fmt: skip
    count = int(cells.max()) + 1
    mean = fit.compare(shifts, np.full((1, count), 1 / count))
    shift, half = float(mean.value[0]), float(mean.half_widths()[0])
    estimate = (shift, shift - half, shift + half)
    change, low, high = (percent(value) for value in estimate)
    return Question(
        kind="direction",
        sweep=observed.sweep,
        mode=observed.mode,
        direction=ways[0],
        axis=DIRECTION,
        say=partial(_say, ways, estimate, margin),
        effect=change,
        effect_unit="%",
        interval_low=low,
        interval_high=high,
        p_value=float(mean.p_values[0]),
        within_margin=max(-estimate[1], estimate[2]) <= math.log1p(margin),
        second_opinion=(
            (lambda: permutation_p(logs.T)) if 2 ** (len(units) - 1) >= FEWEST_ARRANGEMENTS else None
        ),
        n=len(trials),
        method=(
            f"paired differences of log goodput, {counted(len(units), 'pair')}, "
            + (f"each of {count} points a mean; " if repeated else "points as repeats; ")
            + f"{counted(fit.freedom, 'degree')} of freedom; t interval"
        ),
        evidence=trials,
        figure=FigureKey("effects", observed.sweep, observed.mode, axis=DIRECTION),
    )


def _goodput(unit: Unit, way: str) -> float:
    return next(float(row["goodput_bps"]) for row in unit.rows if row[DIRECTION] == way)


def _say(ways: Sequence[str], estimate: tuple[float, float, float], margin: float, decision: Decision) -> str:
    faster, slower = ways if estimate[0] >= 0 else reversed(ways)
    shift, low, high = estimate if estimate[0] >= 0 else (-estimate[0], -estimate[2], -estimate[1])
    if shift >= A_MULTIPLE:
        change = f"{format_multiple((shift, low, high), ' times')} as fast as {slower}"
    else:
        change = f"{format_change(percent(shift), percent(low), percent(high))} faster than {slower}"
    if decision == "effect":
        small = high <= math.log1p(margin)
        remark = f", which is less than the margin of {format_margin(margin)}" if small else ""
        return f"{faster} is {change}{remark}."
    if decision == "no practical effect":
        return f"Both directions are alike: {faster} is {change}, no practical effect."
    return (
        f"Whether {ways[0]} or {ways[1]} is faster is undecided: {faster} is {change}, and differences up to "
        f"{format_margin(margin)} would be of no practical effect."
    )
