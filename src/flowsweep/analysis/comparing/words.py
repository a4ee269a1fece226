"""A comparison in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flowsweep.analysis.comparing.comparison import Comparison
from flowsweep.analysis.comparing.point_names import place, telling
from flowsweep.analysis.comparing.settings import settings_compared
from flowsweep.analysis.comparing.shifts import Shift
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.defaults import EQUIVALENCE_MARGIN
from flowsweep.wording import counted, format_change, format_margin, format_percent

Difference = tuple[str, str, str]
"""What differs, its value in A, its value in B."""
SAME_SETTING = "A and B are the same setting."
HOSTS, PLANS, SETTINGS = "Hosts", "Plans", "Settings"
"""What may differ beside goodput."""
_MOST_POINTS_NAMED = 10
"""Of those that only one campaign has."""


@dataclass(frozen=True, slots=True)
class Differing:
    """What else differs between A and B, as far as it is known of both."""

    found: Mapping[str, Sequence[Difference]]
    """Of each that was compared, "Hosts" and "Plans", or "Settings": empty where nothing differs."""
    not_compared: tuple[str, ...] = ()
    """What is not known of both, in sentences."""

    @property
    def nothing(self) -> str:
        """Says that nothing differs of what was compared; empty where something does, or nothing was."""
        if not self.found or any(self.found.values()):
            return ""
        if SETTINGS in self.found:
            return SAME_SETTING
        return f"Nothing that is known of {' and '.join(self.found).lower()} differs."


@dataclass(frozen=True, slots=True)
class Only:
    """Points of which one of two campaigns has no trial that counts."""

    line: str
    """How many, and in which."""
    places: tuple[str, ...]
    """The first of them, by name."""
    more: int
    """How many further ones there are."""


def outcome(comparison: Comparison, overall: Shift) -> str:
    """Say what B is, over how many points and repeats.

    Args:
        comparison: With points in common.
        overall: Its overall shift.
    """
    points = counted(len(comparison.points), "point")
    repeats = f"{counted(overall.repeats_a, 'repeat')} in A, {overall.repeats_b} in B"
    return f"B is {verdict(overall, comparison.margin)}: {points}, {repeats}"


def left_out(comparison: Comparison) -> tuple[str, ...]:
    """Say of each campaign which of its trials took no part, and why; nothing of one that lost none."""
    of_both = (
        ("A", comparison.trials_a, comparison.not_ok_a, comparison.empty_a),
        ("B", comparison.trials_b, comparison.not_ok_b, comparison.empty_b),
    )
    lines = []
    for name, trials, not_ok, empty in of_both:
        why = [f"{not_ok} did not end well"] if not_ok else []
        why += [f"{empty} carried nothing, 0 bit/s"] if empty else []
        if why:
            lines.append(f"Left out in {name}: {', '.join(why)}, of {counted(trials, 'trial')}")
    return tuple(lines)


def cautions(comparison: Comparison) -> tuple[str, ...]:
    """Say all that makes an outcome less certain or the comparison less than whole; nothing if there is none.

    These are the remarks, and how many trials and points took no part.
    """
    only = (one.line for one in only_in(comparison))
    return (*comparison.remarks, *left_out(comparison), *only)


def nothing_missing(comparison: Comparison) -> str:
    """Say that every trial took part, of a comparison without cautions."""
    of_each = f"{comparison.trials_a} of A and {comparison.trials_b} of B"
    return f"All trials ended ok, {of_each}, at points that both have."


def only_in(comparison: Comparison) -> tuple[Only, ...]:
    """Name the points that only A or only B has, or at which no trial of the other counts."""
    only_in_a, only_in_b = (
        [point for point in points if point not in lost]
        for points, lost in (
            (comparison.only_in_a, comparison.lost_in_b),
            (comparison.only_in_b, comparison.lost_in_a),
        )
    )
    named = (
        ("Only in A:", only_in_a),
        ("Only in B:", only_in_b),
        ("No trial of A takes part at", comparison.lost_in_a),
        ("No trial of B takes part at", comparison.lost_in_b),
    )
    return tuple(_only(line, points) for line, points in named if points)


def _only(line: str, points: Sequence[Mapping[str, object]]) -> Only:
    names = telling(points)
    places = tuple(place(point, names) for point in points[:_MOST_POINTS_NAMED])
    return Only(f"{line} {counted(len(points), 'point')}", places, len(points) - len(places))


def settings_line(
    stored_plan: Mapping[str, Any], trials: Sequence[TrialRow], margin: float = EQUIVALENCE_MARGIN
) -> str:
    """Say whether B is faster or slower than A, and in what they differ; nothing of any other campaign."""
    compared = settings_compared(stored_plan, trials, margin)
    overall = None if compared is None else compared.comparison.overall
    if compared is None or overall is None:
        return ""
    over = f"{counted(len(compared.comparison.points), 'point')}, {counted(overall.repeats_a, 'repeat')}"
    keys = ", ".join(f"{key} ({in_a} in A, {in_b} in B)" for key, in_a, in_b in compared.changes)
    differ = f"They differ in {keys}." if keys else "They are the same setting."
    return f"B is {verdict(overall, margin)}, pair by pair, over {over}. {differ}"


def verdict(overall: Shift, margin: float) -> str:
    """Say what B is, as a sentence goes on: "slower, −5.1 % [−5.4, −4.8]"."""
    words = {
        "same": f"the same within {format_margin(margin)}",
        "undecided": "not known to be faster, slower or the same",
    }
    return f"{words.get(overall.outcome, overall.outcome)}, {change(overall)}"


def change(shift: Shift) -> str:
    """Write a shift with its interval: "−5.1 % [−5.4, −4.8]", "+5.1 % [+4.8, +5.4]"."""
    low, high = shift.interval_low_percent, shift.interval_high_percent
    if low is None or high is None:
        repeated = shift.repeats_a > 1 or shift.repeats_b > 1
        return f"{change_alone(shift)}, without {'an interval' if repeated else 'repeats'}"
    return format_change(shift.percent, low, high, signed=True)


def change_alone(shift: Shift) -> str:
    """Write a shift as `change` does, without its interval."""
    return format_percent(shift.percent, signed=True)
