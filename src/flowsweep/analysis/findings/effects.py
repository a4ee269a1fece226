"""Does an axis of the grid matter? One hypothesis for each of them."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

import numpy as np
import scipy

from flowsweep.analysis.axes import AXIS_NAMES, UNORDERED, level_words
from flowsweep.analysis.findings.finding import FigureKey, FindingKind
from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis, unrepeated
from flowsweep.analysis.findings.sentences import AxisEffect, Somewhere, say_effect, whole_points
from flowsweep.analysis.statistics.blocks import blocks, is_imported
from flowsweep.analysis.statistics.design import Design, Level, Unit, changed_with, design, levels_of
from flowsweep.analysis.statistics.level_effects import Incomparable, LevelComparison, Pair, compare_levels
from flowsweep.analysis.statistics.observations import DIRECTION, Observations, trial_ids
from flowsweep.analysis.statistics.usual_trials import LeftOut, usual_trials
from flowsweep.defaults import EQUIVALENCE_MARGIN, SIGNIFICANCE
from flowsweep.occasions import Occasions
from flowsweep.wording import counted

PLAIN = 0.001
"""Below this p-value, Bonferroni's bound included, a pair stays beyond chance among many other hypotheses."""
IN_PLACE_OF_ENDS = 0.02
"""Below this p-value, Bonferroni included, a pair may stand in place of the lowest and the highest level. Its
interval does not hold 0, which may be the truth all the same: with the choice, 93 % of the intervals or more
hold the truth."""
_DATE = len("2024-03-05")
_PAIR = 2
_MOST_NAMED = 3
"""Levels whose days are told."""
_OF_ITS_OWN = frozenset({"duration_s"})
"""Axes that another topic asks about; here they only make points differ."""


def effect_hypotheses(observed: Observations, *, margin: float = EQUIVALENCE_MARGIN) -> list[Hypothesis]:
    """Ask of each axis whether it changes goodput, all other axes being equal.

    Args:
        observed: Trials of one sweep and mode; goodput in bit/s.
        margin: Of practical equivalence, relative.

    Returns:
        One hypothesis for each axis, of the kind "flows" for the number of flows at equal window sum,
        "congestion" for congestion control, else "effect". The effect is in percent of goodput, between the
        two levels that `headline_of` chooses, and interval and p-value are of the same two. Imported trials
        whose file does not say the level take no part. Trials that
        stand out from their repeats are left out, and the sentence says how many. Where goodput stepped
        (`Observations.sides`), only trials of the same side of the step are held against each other. Method:
        `compare_levels`.
    """
    grid, left_out = usual_trials(design(observed))
    parts = {axis: grid.where_reported(axis) for axis in grid.axes if axis not in _OF_ITS_OWN}
    return [
        _hypothesis(observed, part, axis, margin=margin, left_out=left_out)
        for axis, part in parts.items()
        if _told(observed, axis) and (len(part.levels(axis)) > 1 or part is grid)
    ]


def _told(observed: Observations, axis: str) -> bool:
    """Whether trials have more than one level of an axis that is known: a file may not say it."""
    levels = zip(observed.rows, levels_of(observed.rows, axis), strict=True)
    return len({level for row, level in levels if level is not None or not row.get("imported_from")}) > 1


def _hypothesis(
    observed: Observations, grid: Design, axis: str, *, margin: float, left_out: LeftOut
) -> Hypothesis:
    compared = compare_levels(grid, axis)
    kind = _kind(observed, grid, axis)
    if isinstance(compared, Incomparable):
        why = _why_without(design(observed).where_reported(axis), grid, axis, compared)
        claim = f"Whether the {AXIS_NAMES[axis]} matters is undecided: {why}."
        return unrepeated(kind, observed.scope(), claim, grid.trials, axis=axis)
    headline = headline_of(compared)
    pair = headline.pair
    p_value = min(1.0, compared.p_of(pair) * len(compared.pairs))
    estimate = compared.difference(pair, comparisons=headline.comparisons)
    within = _within(compared, margin)
    uneven = within and _uneven(compared, pair, margin)
    own = _compared_units(grid, compared, pair)
    everywhere = {unit.hosts for unit in own} == {unit.hosts for unit in grid.units}
    effect = AxisEffect(
        kind=kind,
        axis=axis,
        changed_with=changed_with(axis, grid, observed),
        levels=compared.levels,
        first=compared.levels[pair[0]],
        second=compared.levels[pair[1]],
        in_order=headline.comparisons == 1 and axis not in UNORDERED,
        extremes=pair == (int(np.argmin(compared.means)), int(np.argmax(compared.means))),
        highest=compared.levels[int(np.argmax(compared.means))],
        estimate=estimate,
        margin=margin,
        uneven=uneven,
        left_out=left_out,
        paths=() if everywhere else _paths(own),
        once=_once(grid, compared, own, pair),
        sided=_is_sided(grid) and _sides_matter(grid, axis, pair, estimate),
        spread=partial(_spread, compared, pair, margin),
    )
    return Hypothesis(
        kind,
        observed.scope(),
        partial(say_effect, effect),
        grid.trials if everywhere else trial_ids(row for unit in own for row in unit.rows),
        Estimate.in_percent(estimate),
        axis=axis,
        p_value=p_value,
        within_margin=within and not uneven,
        second_opinion=compared.permuted,
        method=_method(grid, compared, headline, left_out),
        figure=FigureKey("effects", observed.sweep, observed.mode, axis=axis),
    )


def _kind(observed: Observations, grid: Design, axis: str) -> FindingKind:
    if axis == "congestion_asked":
        return "congestion"
    sums = set(levels_of(observed.rows, "window_sum_bytes"))
    if axis == "flows" and ("window_sum_bytes" in grid.axes or (len(sums) == 1 and None not in sums)):
        return "flows"
    return "effect"


@dataclass(frozen=True, slots=True)
class Headline:
    """The two levels that a sentence about an axis compares; its p-value and interval are of the same two."""

    pair: Pair
    comparisons: int
    """From how many pairs it was chosen by what they differ; 1 for the lowest and the highest level."""


def headline_of(compared: LevelComparison) -> Headline:
    """Choose the two levels that a sentence about an axis compares.

    The ends are taken, or the extremes where levels have no order or goodput has a peak or a dip between
    them, unless only another pair differs well beyond chance: then the most telling one, or a sentence would
    claim what its own interval denies.
    """
    count = len(compared.pairs)
    if _has_ends(compared) and not _peak_or_dip(compared):
        preferred = Headline((0, len(compared.levels) - 1), 1)
    else:
        preferred = Headline(_extremes(compared), count)
    low, high = compared.pairs[int(np.argmin(compared.differences.p_values))]
    differs = compared.p_of((low, high)) * count < IN_PLACE_OF_ENDS
    if differs and set(preferred.pair) != {low, high} and compared.p_of(preferred.pair) * count >= PLAIN:
        upwards = compared.difference((low, high))[0] >= 0
        return Headline((low, high) if upwards else (high, low), count)
    return preferred


def _has_ends(compared: LevelComparison) -> bool:
    """Whether a lowest and a highest level can be compared."""
    ends = (0, len(compared.levels) - 1)
    return compared.axis not in UNORDERED and None not in compared.levels and ends in compared.pairs


def _extremes(compared: LevelComparison) -> Pair:
    """The levels of the lowest and the highest goodput; of those that can be compared, if these cannot."""
    lowest, highest = int(np.argmin(compared.means)), int(np.argmax(compared.means))
    if (min(lowest, highest), max(lowest, highest)) in compared.pairs:
        return lowest, highest
    return max(compared.pairs, key=lambda pair: abs(compared.difference(pair)[0]))


def _peak_or_dip(compared: LevelComparison) -> bool:
    """Whether the best or the worst level lies between the ends, and beyond both of them beyond chance."""
    last = len(compared.levels) - 1

    def beyond_both(level: int, sign: int) -> bool:
        pairs = [(0, level), (level, last)]
        if level in (0, last) or not set(pairs) <= set(compared.pairs):
            return False
        intervals = (compared.difference((end, level), comparisons=len(compared.pairs)) for end in (0, last))
        return all((low if sign > 0 else -high) > 0 for _, low, high in intervals)

    return beyond_both(int(np.argmax(compared.means)), 1) or beyond_both(int(np.argmin(compared.means)), -1)


def _within(compared: LevelComparison, margin: float) -> bool:
    """Whether no two levels differ by more than the margin.

    All pairs have to be within, each with 95 % confidence: an intersection-union test, which needs no
    correction (Berger 1982, Multiparameter hypothesis testing and acceptance sampling, Technometrics 24).
    """
    differences = compared.differences
    reach = np.abs(differences.value) + differences.half_widths()
    return bool(np.all(reach <= math.log1p(margin)))


def _uneven(compared: LevelComparison, pair: Pair, margin: float) -> bool:
    """Whether the levels differ by more than the margin somewhere, though not on average over the grid."""
    if not compared.repeated:
        return False
    _, there = compared.at_points((min(pair), max(pair)))
    telling = there.p_values * len(there.value) < SIGNIFICANCE
    return bool(np.any(telling & (np.abs(there.value) > math.log1p(margin))))


def _spread(compared: LevelComparison, pair: Pair, margin: float) -> tuple[Somewhere, Somewhere] | None:
    """Where on the grid the levels differ least and most, if these two differ beyond chance and margin."""
    if not compared.repeated:
        return None
    points, there = compared.at_points((min(pair), max(pair)))
    low, high = int(np.argmin(there.value)), int(np.argmax(there.value))
    apart = float(there.value[high] - there.value[low])
    error = math.hypot(there.error[low], there.error[high])
    freedom = min(there.freedom[low], there.freedom[high])
    # They were chosen by what they differ: Bonferroni's bound over all pairs of points.
    if (
        apart <= math.log1p(margin)
        or scipy.stats.t.sf(apart / error, freedom) * len(points) * (len(points) - 1) >= SIGNIFICANCE
    ):
        return None
    sign = 1 if pair[0] < pair[1] else -1
    ends = [(sign * float(there.value[place]), compared.points[points[place]]) for place in (low, high)]
    first, second = sorted(ends, key=lambda end: -abs(end[0]))
    return first, second


def _compared_units(grid: Design, compared: LevelComparison, pair: Pair) -> tuple[Unit, ...]:
    """Units of the points at which two levels are compared; all of them where points ran once."""
    if not compared.repeated:
        return grid.units
    points = set(compared.common[min(pair), max(pair)].tolist())
    places = zip(grid.units, compared.point_of.tolist(), strict=True)
    return tuple(unit for unit, point in places if point in points)


def _once(grid: Design, compared: LevelComparison, units: Sequence[Unit], pair: Pair) -> tuple[Level, ...]:
    """Those of two levels of which there is a single trial: their noise is taken to be that of the others."""
    if not compared.repeated:
        return ()
    place = grid.axes.index(compared.axis)
    rows = Counter(unit.levels[place] for unit in units for _ in unit.rows)
    return tuple(compared.levels[number] for number in sorted(pair) if rows[compared.levels[number]] == 1)


def _is_sided(grid: Design) -> bool:
    return bool(np.any(grid.sides))


def _sides_matter(grid: Design, axis: str, pair: Pair, estimate: tuple[float, float, float]) -> bool:
    """Whether two levels would differ otherwise, had trials on both sides of a step been held together."""
    together = compare_levels(grid.of_one_side(), axis)
    if isinstance(together, Incomparable):
        return True
    _, low, high = estimate
    return not low <= together.difference(pair)[0] <= high


def _paths(units: Iterable[Unit]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(row[DIRECTION] for unit in units for row in unit.rows))


def _why_without(whole: Design, grid: Design, axis: str, why: Incomparable) -> str:
    """Why levels cannot be compared in `grid`, which is `whole` without the trials that stand out.

    Where goodput stepped, a level's few trials on the other side stand out: it did run beside the others.
    """
    left_out = len(whole.trials) - len(grid.trials)
    if not left_out or compare_levels(whole, axis) is why:
        return _why_untestable(whole, axis, why)
    paired = ", or are the counterpart of one" if max(len(unit.rows) for unit in whole.units) > 1 else ""
    which = f"that {'stands' if left_out == 1 else 'stand'} out from all repeats of the same point{paired}"
    return f"without {counted(left_out, 'trial')} {which}, {_why_untestable(grid, axis, why)}"


def _why_untestable(grid: Design, axis: str, why: Incomparable) -> str:
    if grid.unpaired and not grid.units:
        return f"{counted(grid.unpaired, 'trial')} ended well, none with that of the other direction"
    if grid.unpaired and len(grid.levels(axis)) < _PAIR:
        return "only one of its levels has trials of both directions that ended well"
    if why is Incomparable.NOT_ALIKE:
        return "no two of its levels ran with everything else alike"
    if _is_sided(grid) and isinstance(compare_levels(grid.of_one_side(), axis), LevelComparison):
        return (
            "no two of its levels can be compared on the same side of the step in goodput, which cannot be "
            "told apart from them"
        )
    if why is Incomparable.APART:
        return _apart(grid, axis)
    if why is Incomparable.ROUNDED:
        return "the imported figures are equal since rounded, and give no measure of chance"
    if is_imported(grid) and np.bincount(grid.codes(*grid.axes)).max() > 1:
        return "the imported trials are too few to give a measure of chance"
    return "the trials that ended ok give no measure of chance; more repeats would"


def _apart(grid: Design, axis: str) -> str:
    """Say that each level ran at a time of its own: on days, in sittings, or in repeats alone."""
    place = grid.axes.index(axis)
    times = [(unit.levels[place], row["started_at"]) for unit in grid.units for row in unit.rows]
    starts = [(level, datetime.fromisoformat(time)) for level, time in times if time is not None]
    if not is_imported(grid) or len(starts) < len(times):
        return "no two of its levels ran in the same repeat"
    days: dict[Level, set[str]] = {}
    for level, time in times:
        days.setdefault(level, set()).add(str(time)[:_DATE])
    counts = [len(own) for own in days.values()]
    if len(set().union(*days.values())) < sum(counts):
        occasions = Occasions(time for _, time in starts)
        sittings = {(level, occasions.of(time)) for level, time in starts}
        if len({number for _, number in sittings}) < len(sittings):
            return "no two of its levels ran in the same repeat"
        return "each level was measured in a sitting of its own: sittings and levels cannot be told apart"
    which = "a day" if max(counts) == 1 else "days"
    named = [f"{level_words(axis, level)} on {min(own)}" for level, own in days.items()]
    said = f" ({', '.join(named)})" if max(counts) == 1 and len(named) <= _MOST_NAMED else ""
    return f"each level was measured on {which} of its own{said}: days and levels cannot be told apart"


def _method(grid: Design, compared: LevelComparison, headline: Headline, left_out: LeftOut) -> str:
    directions = max(len(unit.rows) for unit in grid.units)
    unit = "mean over both directions of a point" if directions > 1 else "trial"
    if compared.repeated:
        model = f"each of {len(set(grid.codes(*grid.axes).tolist()))} points a mean, {_blocks(grid)}"
    else:
        blocks = counted(len(compared.points), "point")
        model = f"one repeat: additive model, {blocks} of the other axes as blocks"
    parts = [
        f"linear model of log goodput, one value for each {unit}",
        model,
        f"{counted(compared.freedom, 'degree')} of freedom",
        "t intervals",
    ]
    if len(compared.pairs) > 1:
        parts.append(f"p by Bonferroni over {len(compared.pairs)} pairs of levels")
    if headline.comparisons > 1:
        parts.append("interval likewise")
    if grid.unpaired:
        parts.append(f"{counted(grid.unpaired, 'trial')} left out: that of the other direction is missing")
    if compared.permuted is None:
        parts.append("too few arrangements for a check by permutation")
    return "; ".join(parts) + trials_left_out(left_out)


def _blocks(grid: Design) -> str:
    count = int(blocks(grid).max()) + 1
    if _is_sided(grid):
        return f"repeats as blocks, {count} with those of each side apart"
    if count == int(grid.repeats.max()) + 1:
        return "repeats as blocks"
    return f"repeats as blocks, joined to {count} where their times overlap or one has a single trial"


def trials_left_out(left_out: LeftOut) -> str:
    """What the method of a finding says where trials that stand out have no part in it."""
    if not left_out.trials:
        return ""
    what = "left out that stand out from their repeats, or are the counterpart of one"
    return f"; {counted(left_out.trials, 'trial')} {what}{whole_points(left_out)}"
