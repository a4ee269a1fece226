"""Where in a grid each of several outcomes is the rule: the axis that tells them apart, and its ranges."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flowsweep.analysis.axes import AXIS_NAMES, UNORDERED, level_words

_LEAST_AGREEING = 0.9
"""Share of the trials that must be of the outcome that is the rule at their level."""
_AXES = (
    "window_sum_bytes", "window_bytes", "window_recv_bytes", "window_send_bytes", "rate_bps",
    "rate_sum_bps", "spacing_ns", "pacing_rate_bps", "flows", "length_bytes", "congestion_asked",
)  # fmt: skip
"""The likeliest first: of axes that tell apart equally well the first is named."""


@dataclass(frozen=True, slots=True)
class Regions:
    """Outcomes by levels of one axis."""

    axis: str
    words: Mapping[str, str]
    """Of each outcome that is the rule at some level: "window sum up to 1 MiB"."""


def regions(rows: Sequence[Mapping[str, object]], column: str) -> Regions | None:
    """Find the axis whose levels tell outcomes apart.

    Args:
        rows: Of a summary.
        column: Of the outcome, a word.

    Returns:
        None if there is one outcome only, or no axis tells at least 90 % of the trials apart.

    Method:
        At each level of an axis the most frequent outcome is the rule (Holte, "Very simple classification
        rules perform well on most commonly used datasets", Machine Learning 11, 1993, without its pruning);
        the axis with most trials in agreement is taken.
    """
    if len({row[column] for row in rows}) < 2:
        return None
    best: tuple[int, str, dict[object, str]] | None = None
    for axis in _AXES:
        rule = _rule(rows, axis, column)
        agreeing = sum(rule.get(row[axis]) == row[column] for row in rows if axis in row)
        if len(rule) > 1 and (best is None or agreeing > best[0]):
            best = (agreeing, axis, rule)
    if best is None or best[0] < _LEAST_AGREEING * len(rows):
        return None
    _, axis, rule = best
    levels = _in_order(axis, rule)
    found = {outcome: [level for level in levels if rule[level] == outcome] for outcome in rule.values()}
    return Regions(axis, {outcome: _words(axis, own, levels) for outcome, own in found.items()})


def _rule(rows: Sequence[Mapping[str, object]], axis: str, column: str) -> dict[object, str]:
    counts: dict[object, Counter[str]] = {}
    for row in rows:
        # What a file does not say may have been any level.
        if axis in row and not (row[axis] is None and row.get("imported_from")):
            counts.setdefault(row[axis], Counter())[str(row[column])] += 1
    return {level: counter.most_common(1)[0][0] for level, counter in counts.items()}


def _in_order(axis: str, rule: Mapping[object, str]) -> list[object]:
    if axis in UNORDERED:
        return list(rule)
    numbers = sorted(level for level in rule if isinstance(level, int | float))
    return [*numbers, *(level for level in rule if level is None)]


def _words(axis: str, own: Sequence[object], levels: Sequence[object]) -> str:
    """Say which levels: as a range where there is no other level between them."""
    name = AXIS_NAMES[axis]
    places = [levels.index(level) for level in own]
    in_one_piece = places[-1] - places[0] == len(own) - 1
    if axis in UNORDERED or None in own or len(levels) <= 2 or not in_one_piece:
        return f"{name} {', '.join(level_words(axis, level) for level in own)}"
    first, last = level_words(axis, own[0]), level_words(axis, own[-1])
    if places[0] == 0:
        return f"{name} up to {last}"
    if own[-1] == levels[-1]:
        return f"{name} from {first} on"
    return f"{name} {first}" if len(own) == 1 else f"{name} {first} to {last}"
