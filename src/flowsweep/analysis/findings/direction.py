"""Is one direction of a path faster than the other?"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import permutations

import numpy as np

from flowsweep.analysis.axes import AXIS_NAMES
from flowsweep.analysis.findings.direction_pairs import BOTH_WAYS, Pairs, compared_pairs, since_steps
from flowsweep.analysis.findings.finding import Decision, FigureKey
from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis, unrepeated
from flowsweep.analysis.findings.plateau.sentences import tried
from flowsweep.analysis.findings.plateau.unlimited import held_back, plateau_levels, untried
from flowsweep.analysis.findings.sentences import A_MULTIPLE, format_multiple, percent
from flowsweep.analysis.statistics.campaign_series import seconds
from flowsweep.analysis.statistics.design import design, mostly_repeated
from flowsweep.analysis.statistics.least_squares import Fit
from flowsweep.analysis.statistics.level_effects import FEWEST_ARRANGEMENTS, permutation_p
from flowsweep.analysis.statistics.level_means import LevelMeans
from flowsweep.analysis.statistics.observations import DIRECTION, Observations
from flowsweep.analysis.statistics.rounded import ROUNDED, rounded_away
from flowsweep.analysis.summarising.trial_row import known
from flowsweep.defaults import EQUIVALENCE_MARGIN
from flowsweep.grouping import grouped
from flowsweep.wording import (
    counted,
    format_change,
    format_margin,
    format_number,
    format_percent,
    format_rate,
    rounds_to_nothing,
)


def direction_hypotheses(
    observed: Observations, *, margin: float = EQUIVALENCE_MARGIN, drifts: Sequence[Hypothesis] = ()
) -> list[Hypothesis]:
    """Ask of each two hosts whether one direction between them is faster.

    Args:
        observed: Trials of one sweep and mode; goodput in bit/s.
        margin: Of practical equivalence, relative.
        drifts: Of the same trials, or of each direction by itself, if they were asked; their intervals say by
            how much goodput may have changed.

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
        those compared is named for both. Nothing is claimed of a direction that may have more at windows or
        numbers of flows that only the other one ran with (`untried`).
        Imported directions may not have run next to each other. Then a turn, trials of one direction and the
        trials of the other after them, is a pair (`turns_of`). A single turn tells nothing, since a change
        over time would look alike; and nothing is claimed that is no larger than what the drift allows for
        the time between the directions.
        Where goodput stepped (`Observations.sides`), trials since the last step of both directions count.
    """
    levels = plateau_levels(observed, margin)
    limited = held_back(levels, margin)
    both, alone = (
        grouped((unit for unit in grid.units if len(unit.rows) == ways), lambda unit: unit.hosts)
        for grid, ways in ((design(observed), BOTH_WAYS), (design(observed, paired=False), 1))
    )
    found = []
    for hosts, units in both.items():
        last = _last_sides(observed)
        since = since_steps(units, last)
        if not since:
            found.append(_before_a_step(observed, compared_pairs(units, (), limited)))
            continue
        pairs = compared_pairs(since, since_steps(alone.get(hosts, ()), last), limited)
        pairs = replace(pairs, stepped=any(last.get(way) for way in pairs.ways))
        more = {
            way: means
            for way, other in permutations(pairs.ways)
            if (means := untried(levels, way, other, margin)) is not None
        }
        found.append(_hypothesis(observed, pairs, more, drifts, margin=margin))
    return found


def _last_sides(observed: Observations) -> dict[str, int]:
    """By direction, on which side of the steps in goodput its last trials ran."""
    return {
        way: max(observed.sides.get(row["trial_id"], 0) for row in rows)
        for way, rows in observed.by_direction()
    }


def _before_a_step(observed: Observations, pairs: Pairs) -> Hypothesis:
    pairs = replace(pairs, stepped=True)
    return _untold(observed, pairs, "no repeat has both", method="none: one of both did not run since then")


def _hypothesis(
    observed: Observations,
    pairs: Pairs,
    more: Mapping[str, LevelMeans],
    drifts: Sequence[Hypothesis],
    *,
    margin: float,
) -> Hypothesis:
    ways, logs = pairs.ways, pairs.logs
    shifts = logs[0] - logs[1]
    repeated = mostly_repeated(pairs.points)
    cells = pairs.points if repeated else np.zeros_like(pairs.points)
    fit = Fit(shifts, cells, np.zeros_like(pairs.points))
    if fit.freedom < 1:
        return _untold(observed, pairs, _lacking(observed, pairs), method="none: nothing tells the noise")
    if rounded_away(observed.rows, fit.residuals):
        why = f"{ROUNDED}; {_at_face_value(pairs)}"
        return _untold(observed, pairs, why, method="none: nothing tells the noise")
    count = int(cells.max()) + 1
    mean = fit.compare(shifts, np.full((1, count), 1 / count))
    shift, half = float(mean.value[0]), float(mean.half_widths()[0])
    faster, slower = ways if shift >= 0 else (ways[1], ways[0])
    estimate = (abs(shift), abs(shift) - half, abs(shift) + half)
    # What is faster already may have more.
    open_end = slower if slower in more else faster if faster in more and estimate[1] <= 0 else None
    if open_end is not None:
        (other,) = {*ways} - {open_end}
        why = _may_have_more(open_end, other, more[open_end])
        return _untold(observed, pairs, why, method=f"none: the plateau of {open_end} is not known")
    within = estimate[2] <= math.log1p(margin) and not more
    by_itself = _by_itself(observed, pairs, drifts)
    in_time = 0 < estimate[1] <= by_itself or (within and by_itself > math.log1p(margin))
    enough = 2 ** (len(shifts) - 1) >= FEWEST_ARRANGEMENTS
    return Hypothesis(
        "direction",
        observed.scope(faster),
        _in_time(pairs, (faster, slower), estimate, by_itself)
        if in_time
        else partial(_say, pairs, (faster, slower), estimate, margin),
        pairs.trials,
        Estimate.in_percent(estimate),
        axis=DIRECTION,
        p_value=1.0 if in_time else float(mean.p_values[0]),
        within_margin=within and not in_time,
        second_opinion=(lambda: permutation_p(logs)) if enough else None,
        method=_method(pairs, fit, count, repeated=repeated),
        figure=FigureKey("effects", observed.sweep, observed.mode, axis=DIRECTION),
    )


def _untold(observed: Observations, pairs: Pairs, why: str, *, method: str) -> Hypothesis:
    claim = f"{_whether(pairs)}: {why}."
    return unrepeated("direction", observed.scope(), claim, pairs.trials, axis=DIRECTION, method=method)


def _whether(pairs: Pairs) -> str:
    return f"Whether {pairs.ways[0]} or {pairs.ways[1]} is faster{_since(pairs)} is undecided"


def _since(pairs: Pairs) -> str:
    return " since goodput stepped" if pairs.stepped else ""


def _may_have_more(way: str, other: str, means: LevelMeans) -> str:
    """Why nothing is claimed where one direction has its most at the end of what was tried of it."""
    largest, name = tried(means, len(means.levels) - 1), AXIS_NAMES[means.axis]
    return (
        f"{way} has its highest goodput at {largest}, the largest {name} of which trials ended well in "
        f"that direction, and may have more at larger ones, as {other} ran with"
    )


def _by_itself(observed: Observations, pairs: Pairs, drifts: Sequence[Hypothesis]) -> float:
    """By how much goodput may have changed from the trials of one direction to those of the other.

    Natural logarithm, without sign: the farther end of the 95 % interval of a drift, for the time between.
    """
    most = 0.0
    for drift in drifts if pairs.turns is not None else ():
        ends = [end for end in (drift.estimate.low, drift.estimate.high) if end is not None]
        own = frozenset(drift.evidence)
        starts_s = [seconds(known(row["started_at"])) for row in observed.rows if row["trial_id"] in own]
        if ends and pairs.turns is not None and drift.scope.direction in (None, *pairs.ways):
            share = abs(pairs.turns.apart_s) / float(np.ptp(starts_s))
            most = max(most, share * max(abs(math.log1p(end / 100)) for end in ends))
    return most


def _in_time(pairs: Pairs, order: tuple[str, str], estimate: tuple[float, float, float], most: float) -> str:
    change = format_change(*(percent(value) for value in estimate))
    return (
        f"{_whether(pairs)}: {order[0]} differs by {change} from {order[1]}, but the two did not run next to "
        "each other, and as far as the trials tell goodput changes by up to "
        f"{format_number(percent(most))} % by itself between them."
    )


def _at_face_value(pairs: Pairs) -> str:
    """Say by how much one direction is faster if chance had no part in the means."""
    shift = float(np.mean(pairs.logs[0] - pairs.logs[1]))
    faster, slower = pairs.ways if shift >= 0 else pairs.ways[::-1]
    if round(percent(abs(shift)), 1) == 0:
        return "taken at face value, they are alike"
    more = format_percent(percent(abs(shift)))
    return f"taken at face value, {faster} is {more} faster than {slower}"


def _lacking(observed: Observations, pairs: Pairs) -> str:
    """Why nothing can be told of a single pair, or turn."""
    if pairs.turns is not None and pairs.turns.first is not None:
        return _in_one_turn(pairs, pairs.turns.first)
    ended = [row for row in observed.rows if row[DIRECTION] in pairs.ways]
    where = _on_plateau(pairs)
    if len({row["repeat"] for row in ended}) == 1:
        return f"both ran only once{where}"
    if pairs.stepped:
        return f"only one repeat has both{where}"
    alone = len(ended) - len(pairs.trials) - pairs.left_out
    left = f"; {counted(alone, 'trial')} left out: that of the other direction is missing" if alone else ""
    return f"only one repeat has both{where}{left}"


def _in_one_turn(pairs: Pairs, first: str) -> str:
    (other,) = {*pairs.ways} - {first}
    shift = float(pairs.logs[0, 0] - pairs.logs[1, 0])
    faster, slower = pairs.ways if shift >= 0 else (pairs.ways[1], pairs.ways[0])
    where = " on the plateau" if pairs.left_out else ""
    return (
        f"{faster} has {format_number(percent(abs(shift)))} % more goodput than {slower}, but all trials of "
        f"{first}{where} ran before those of {other}: a change over time would look alike. Directions that "
        "take turns would separate the two"
    )


def _method(pairs: Pairs, fit: Fit, count: int, *, repeated: bool) -> str:
    each = "each repeat's plateaus a pair; " if pairs.whole else "points as repeats; "
    if pairs.turns is not None:
        each = "each turn of the directions a pair, as they did not run next to each other; "
    parts = (
        f"paired differences of log goodput, {counted(len(pairs.points), 'pair')}, "
        + (f"each of {count} points a mean; " if repeated and not (pairs.whole or pairs.turns) else each)
        + f"{counted(fit.freedom, 'degree')} of freedom; t interval"
        + ("; trials since the last step" if pairs.stepped else "")
    )
    if not pairs.left_out:
        return parts
    return (
        f"{parts}; {counted(pairs.left_out, 'trial')} left out whose windows or flows are below the plateau "
        "or past it"
    )


def _say(
    pairs: Pairs,
    order: tuple[str, str],
    estimate: tuple[float, float, float],
    margin: float,
    decision: Decision,
) -> str:
    faster, slower = order
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
        return f"{said}{_since(pairs)}{remark}{_highest(pairs)}.{_always_first(pairs)}"
    if decision == "no practical effect":
        alike = f"Both directions are alike to within {format_margin(margin)}{_since(pairs)}"
        return f"{alike}: {said}{_highest(pairs)}.{_always_first(pairs)}"
    return (
        f"{_whether(pairs)}: {said}, and differences up to {format_margin(margin)} would be of no practical "
        f"effect{_highest(pairs)}."
    )


def _always_first(pairs: Pairs) -> str:
    """What may be behind a difference of directions that took turns in one order only."""
    turns = pairs.turns
    if turns is None or turns.first is None:
        return ""
    return (
        f" In each of {turns.count} turns {turns.first} ran first: a change over time that began anew with "
        "each would look alike."
    )


def _highest(pairs: Pairs) -> str:
    if not pairs.left_out:
        return ""
    rates = (f"{format_rate(rate)} {way}" for way, rate in zip(pairs.ways, pairs.highest_bps, strict=True))
    return f"; this rests on the {_kept(pairs)} on the plateau, with up to {' and '.join(rates)}"


def _on_plateau(pairs: Pairs) -> str:
    return f" on the plateau ({_kept(pairs)})" if pairs.left_out else ""


def _kept(pairs: Pairs) -> str:
    return f"{len(pairs.trials)} of {counted(pairs.left_out + len(pairs.trials), 'trial')}"
