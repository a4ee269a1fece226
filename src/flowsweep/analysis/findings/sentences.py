"""Sentences about the effect of an axis."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from flowsweep.analysis.axes import (
    AXIS_NAMES,
    UNORDERED,
    axes_needed,
    level_of,
    level_words,
    levels_apart,
)
from flowsweep.analysis.findings.finding import Decision, FindingKind
from flowsweep.analysis.statistics.design import FOLLOWING, Level
from flowsweep.analysis.statistics.observations import DIRECTION, Observations, ObservedRow
from flowsweep.analysis.statistics.usual_trials import LeftOut
from flowsweep.wording import (
    counted,
    format_change,
    format_margin,
    format_number,
    format_percent,
    rounds_to_nothing,
)

A_MULTIPLE = math.log(3)
"""From here on a change is stated as a multiple, not in percent."""
WIDEST = math.log(1e6)
"""An end of an interval beyond a millionfold says nothing, and soon no number can hold it."""
_FEW_PATHS = 2
"""Are named."""

Somewhere = tuple[float, tuple[tuple[str, Level], ...]]
"""An effect, natural logarithm, and where it is that: axes and levels."""


@dataclass(frozen=True, slots=True)
class AxisEffect:
    """What there is to say of an axis, before it is decided."""

    kind: FindingKind
    axis: str
    changed_with: tuple[str, ...]
    """Axes whose levels go with this one's: which of them changed goodput, nobody can tell."""
    levels: tuple[Level, ...]
    first: Level
    second: Level
    """The estimate is of goodput at this level, relative to the first."""
    in_order: bool
    """These are the lowest and the highest level; else two that were chosen by their goodput, less first."""
    extremes: bool
    """These are the levels of the lowest and the highest goodput."""
    highest: Level
    """The level of the highest mean."""
    estimate: tuple[float, float, float]
    """Natural logarithm, and ends of its 95 % interval."""
    margin: float
    uneven: bool
    """The mean over the grid hides more than the margin somewhere."""
    left_out: LeftOut
    """Trials that stand out and play no part."""
    paths: tuple[str, ...]
    """Directions that have both levels to compare; none where all have."""
    once: tuple[Level, ...]
    """Those of both levels of which there is a single trial."""
    spread: Callable[[], tuple[Somewhere, Somewhere] | None]
    """Where the effect is greatest and least, if it is not alike everywhere."""
    sided: bool = False
    """Levels are compared on each side of a step in goodput by itself, and would differ otherwise."""


def say_effect(effect: AxisEffect, decision: Decision) -> str:
    """Say what was decided of an axis, in one sentence."""
    return f"{_said(effect, decision)}{_resting_on(effect)}{_without(effect)}."


def _resting_on(effect: AxisEffect) -> str:
    """Say where both levels were compared, if not everywhere, and which of them ran once."""
    said = [f"1 trial of {_words(effect, level)}" for level in effect.once]
    where = ["on each side of the step"] if effect.sided else []
    if effect.paths:
        few = len(effect.paths) <= _FEW_PATHS
        paths = " and ".join(effect.paths) if few else counted(len(effect.paths), "direction")
        where.insert(0, f"at {paths} alone")
    if where:
        said.insert(0, f"compared {', '.join(where)}")
    return f" ({', '.join(said)})" if said else ""


def _without(effect: AxisEffect) -> str:
    if not effect.left_out.trials:
        return ""
    trials = counted(effect.left_out.trials, "trial")
    return f" ({trials} left out: unusual, or the counterpart of one{whole_points(effect.left_out)})"


def whole_points(left_out: LeftOut) -> str:
    """Say of how many points nothing is left once trials that stand out are left out."""
    if not left_out.points:
        return ""
    have = "has" if left_out.points == 1 else "have"
    return f"; {left_out.points} of {counted(left_out.of_points, 'point')} {have} none left"


def _said(effect: AxisEffect, decision: Decision) -> str:
    change = format_change(*(percent(value) for value in effect.estimate))
    if decision == "effect":
        small = _small(effect)
        matters = "" if small else " matters"
        said = f"{_subject(effect)}{matters}: {_difference(effect, change)}{_where(effect)}{small}"
        beyond = effect.in_order and effect.estimate[0] > 0 and effect.highest != effect.second
        return said + (f"; the highest mean is at {_words(effect, effect.highest)}" if beyond else "")
    first, second = _words(effect, effect.first), _words(effect, effect.second)
    if decision == "no practical effect" and effect.in_order:
        return f"{_subject(effect)} {first} … {second} changes goodput by {change}: no practical effect"
    if effect.in_order:
        what = f"{first} … {second} changes goodput by {change}"
    else:
        what = f"goodput differs by {change} between {first} and {second}"
    if decision == "no practical effect":
        return f"{_subject(effect)}: {what}, no practical effect"
    lead = f"Whether {_in_sentence(_subject(effect))} matters is undecided"
    _, low, high = effect.estimate
    if high - low > 2 * A_MULTIPLE and low <= 0 <= high:
        return f"{lead}: the trials do not even tell a change by a factor of 3"
    if effect.uneven:
        return f"{lead}: on average {what}, but it may be more in some part of the grid"
    if low > 0 or high < 0:
        return f"{lead}: {what}; corrected for all that was tested, or by permutation, it may be chance"
    return f"{lead}: {what}; up to {format_margin(effect.margin)} would be of no practical effect"


def format_multiple(estimate: tuple[float, float, float], unit: str) -> str:
    """Show a difference of natural logarithms with its interval as a multiple: "3.20 times [3.10, 3.30]"."""
    shift, low, high = (format_number(math.exp(value)) for value in estimate)
    return f"{shift}{unit} [{low}, {high}]"


def name_point(observed: Observations, row: ObservedRow) -> str:
    """Name the point of a trial by what varies in its sweep: "a → b, window sum 64 KiB, flows 2".

    What the file of an imported trial does not say is left out: it need not be the host's default.
    """
    axes = [name for name in observed.factors if name in AXIS_NAMES and name not in FOLLOWING]
    axes += axes_needed(observed.rows, lambda row: (row[DIRECTION], *(level_of(row, name) for name in axes)))
    told = [name for name in axes if level_of(row, name) is not None or not row.get("imported_from")]
    levels = (f"{AXIS_NAMES[name]} {levels_apart(name, observed.rows)(row)}" for name in told)
    return ", ".join([row[DIRECTION], *levels])


def percent(difference: float) -> float:
    """Turn a difference of natural logarithms into a relative change in percent; at most a millionfold."""
    return 100 * math.expm1(min(difference, WIDEST))


def _subject(effect: AxisEffect) -> str:
    name = AXIS_NAMES[effect.axis]
    if effect.kind == "flows":
        return f"At equal window sum the {name}"
    also = " and ".join(f"the {AXIS_NAMES[axis]}" for axis in effect.changed_with)
    return f"{name[0].upper()}{name[1:]}{f' (with it {also} changed)' if also else ''}"


def _in_sentence(subject: str) -> str:
    return subject[0].lower() + subject[1:] if subject[1].islower() else subject


def _difference(effect: AxisEffect, change: str) -> str:
    estimate = effect.estimate[0]
    first, second = _words(effect, effect.first), _words(effect, effect.second)
    if rounds_to_nothing(*map(percent, effect.estimate)):
        return f"between {first} and {second} goodput differs by {change}"
    if effect.in_order:
        if estimate >= A_MULTIPLE:
            return f"from {first} to {second} goodput rises {format_multiple(effect.estimate, '-fold')}"
        return f"from {first} to {second} goodput {'rises' if estimate > 0 else 'falls'} by {_size(effect)}"
    # Others may be as high or as low: only these two were compared.
    extremes = len(effect.levels) > 2 and effect.extremes
    which = f" (the highest and the lowest mean of {len(effect.levels)})" if extremes else ""
    at = "with" if effect.axis in UNORDERED else "at"
    return f"{at} {second} goodput is {_higher(effect, change)} {at} {first}{which}"


def _higher(effect: AxisEffect, change: str) -> str:
    """By how much the second level's goodput is above the first's, up to the name of the first."""
    if effect.estimate[0] >= A_MULTIPLE:
        return f"{format_multiple(effect.estimate, ' times')} that"
    return f"{change} higher than"


def _size(effect: AxisEffect) -> str:
    """The change without its sign, the ends of the interval from less to more."""
    shift, low, high = (percent(value) for value in effect.estimate)
    return format_change(shift, low, high) if shift > 0 else format_change(-shift, -high, -low)


def _where(effect: AxisEffect) -> str:
    spread = effect.spread()
    if spread is None:
        return ""
    several = any(abs(value) >= A_MULTIPLE for value, _ in spread)
    places = (f"{_shift(value, several=several)} at {_point(point)}" for value, point in spread)
    return f" on average ({', '.join(places)})"


def _shift(value: float, *, several: bool) -> str:
    """A change; as a multiple where it, or what it stands beside, is one."""
    if several:
        return f"{format_number(math.exp(value))}-fold"
    return format_percent(percent(value))


def _point(point: tuple[tuple[str, Level], ...]) -> str:
    return ", ".join(
        counted(level, "flow")
        if axis == "flows" and isinstance(level, int)
        else f"{AXIS_NAMES[axis]} {level_words(axis, level)}"
        for axis, level in point
    )


def _small(effect: AxisEffect) -> str:
    """Significant is not important."""
    inside = max(abs(value) for value in effect.estimate) <= math.log1p(effect.margin)
    return f", beyond chance, but less than the margin of {format_margin(effect.margin)}" if inside else ""


def _words(effect: AxisEffect, level: Level) -> str:
    return level_words(effect.axis, level)
