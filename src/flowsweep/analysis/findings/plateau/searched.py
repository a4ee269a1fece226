"""What searches for the plateau came to, of windows and of flows."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.findings.plateau.lower import highest_words, level_words, lower_words
from flowsweep.analysis.searched_points import searched_points
from flowsweep.analysis.statistics.observations import Scope, trial_ids
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.defaults import CONFIDENCE, EQUIVALENCE_MARGIN, FEWEST_FOR_INTERVAL
from flowsweep.grouping import grouped
from flowsweep.schedule.search.belief import Belief
from flowsweep.schedule.search.levels import at_each_look
from flowsweep.schedule.search.plateau import End, belief_of
from flowsweep.schedule.search.tried import Tried, bounds_of
from flowsweep.wording import counted, format_margin, format_rate, format_size, format_sizes_alike

WINDOW: Final = "window_sum_bytes"
FLOWS: Final = "flows"
_WINDOWS = (WINDOW, "window_bytes", "window_send_bytes", "window_recv_bytes")
_FLOWS = (FLOWS, "flows_per_pair")
_OF_STEPS: Mapping[str, Collection[str]] = {WINDOW: _WINDOWS, FLOWS: (*_WINDOWS, *_FLOWS)}
"""What differs from step to step, by what is searched: one for flows has one window."""
_METHOD = (
    "adaptive search in rounds, each a block with a {level} of reference; least squares of the generalised "
    "mean of {level} and plateau (Churchill and Usagi 1972) with an effect of each round; profile likelihood "
    "with the lack of fit in its variance, narrowed to what each {level} shows itself by Student's t; {look} "
    "at each look, for {end} after all of them; noise is taken as independent within a round"
)


@dataclass(frozen=True, slots=True)
class Searched:
    """One search, whatever it is for."""

    sweep: str
    mode: str | None
    direction: str
    name: str
    """What tells it from the others of its sweep."""
    steps: tuple[TrialRow, ...]
    """As they ran, failed ones among them."""
    precision: float
    confidence: float


@dataclass(frozen=True, slots=True)
class PlateauSearched(Searched):
    """One search: one point of a sweep without what is searched, in one direction; named as in "4 flows"."""

    axis: str
    """WINDOW or FLOWS: what is searched."""
    belief: Belief | None
    """Of windows of all flows together, or flows of a pair of hosts; None where too few trials were whole."""
    end: End
    """Why nothing more is tried; "budget" of one that was broken off, too."""

    @property
    def whole(self) -> tuple[TrialRow, ...]:
        """Its trials that count."""
        return tuple(row for row in self.steps if goodput_of_step(row) is not None)

    @property
    def levels(self) -> list[int]:
        """What each step tried."""
        return [level_of_step(row, self.axis) for row in self.steps]

    @property
    def worked(self) -> tuple[int, int]:
        """The smallest and the largest level with a trial that counts; there has to be one."""
        levels = [one.level for one in self.tried]
        return min(levels), max(levels)

    @property
    def tried(self) -> list[Tried]:
        """What the trials that count gave."""
        return _tried(self.steps, self.axis)

    @property
    def range(self) -> tuple[int, int]:
        """The smallest level that was tried, and the largest that may be enough (`bounds_of`)."""
        low, high = min(self.levels), max(self.levels)
        return low, bounds_of(self.tried, _failed(self.steps, self.axis), low, high)[1]

    @property
    def plateau_seen(self) -> bool:
        """Whether a level that worked is known to be enough; else goodput may still rise at the largest."""
        found = self.belief
        if found is None or found.high is None:
            return False
        _, most = self.worked
        return (found.in_whole[2] or math.inf) <= most if self.axis == FLOWS else found.enough <= most

    @property
    def interval(self) -> tuple[float, float] | None:
        """Of what is enough; None where the range has no such level, or the interval is open."""
        found = self.belief
        if found is None or not self.plateau_seen or self.end in ("level", "rising"):
            return None
        return None if found.low is None or found.high is None else (found.low, found.high)


def is_step(row: TrialRow) -> bool:
    """Whether a trial is a step of a search for the plateau."""
    return row.get("search_precision") is not None and row.get("searched_for") != "best"


def plateau_searches(summary: Sequence[TrialRow]) -> list[PlateauSearched]:
    """Put the steps of each search together, searches in the order in which they began.

    Args:
        summary: Rows of a campaign; others than steps of such searches are left out.
    """
    steps = sorted(filter(is_step, summary), key=lambda row: row["order_index"])
    # A search for flows may be followed by one for a window.
    alike = grouped(steps, lambda row: (row["sweep"], row.get("searched_for")))
    return [search for rows in alike.values() for search in _searches(rows)]


def plateau_search_hypotheses(summary: Sequence[TrialRow]) -> Iterator[Hypothesis]:
    """Say of each search which window, or how many flows, is enough; only describes.

    Args:
        summary: Rows of a campaign.

    Yields:
        One for each search; the effect is the smallest window that is enough, of all flows together (unit
        "bytes"), or the fewest flows (unit "flows"); none where the range that was searched has none.
    """
    for search in plateau_searches(summary):
        yield Hypothesis(
            "plateau",
            Scope(search.sweep, search.mode, search.direction),
            f"{search.direction}, {search.name}: {_claim(search)}",
            trial_ids(search.steps),
            _estimate(search),
            method=method_of(_METHOD, search.confidence, LEVEL[search.axis]),
            axis=search.axis,
            figure="search",
        )


LEVEL = {WINDOW: "window", FLOWS: "number of flows"}
"""What is searched, in words."""


def level_of_step(row: TrialRow, axis: str) -> int:
    """Take the window of all flows of a step, in bytes, or its flows between each pair of hosts."""
    return (row["flows_per_pair"] if axis == FLOWS else row[WINDOW]) or 0


def goodput_of_step(row: TrialRow) -> float | None:
    """In bit/s, of a trial that counts."""
    return row["goodput_mean_bps"] or None if row["status"] == "ok" else None


def _searches(rows: Sequence[TrialRow]) -> Iterator[PlateauSearched]:
    """The searches of one sweep that look for the same."""
    axis = FLOWS if rows[0].get("searched_for") == FLOWS else WINDOW
    for point in searched_points(rows, _OF_STEPS[axis], unnamed=_FLOWS):
        first = point.steps[0]
        searched = "number of flows" if axis == FLOWS else counted(first["flows"], "flow")
        precision, confidence = first["search_precision"] or 0.0, confidence_of(first)
        belief, end = _believed(point.steps, axis, precision, confidence)
        yield PlateauSearched(
            axis=axis,
            sweep=first["sweep"],
            mode=first["mode"],
            direction=point.direction,
            name=", ".join([searched, *point.words]),
            steps=point.steps,
            precision=precision,
            confidence=confidence,
            belief=belief,
            end=end,
        )


def confidence_of(step: TrialRow) -> float:
    """What a search is asked to be sure by; of older archives, what all were."""
    return step.get("search_confidence") or CONFIDENCE


def method_of(method: str, confidence: float, level: str = "") -> str:
    """Fill in how sure each look is, and what is said after all of them; and what is searched."""
    look, end = format_margin(at_each_look(confidence)), format_margin(confidence)
    return method.format(look=look, end=end, level=level)


def trials_words(steps: Sequence[TrialRow], confidence: float) -> str:
    """Say how many trials a search took, and how sure it was to be where that is not what all are."""
    sure = "" if confidence == CONFIDENCE else f" with {format_margin(confidence)} confidence"
    open_ones = sum(row.get("ended_by") == "at_most" for row in steps)
    known = f" (in {open_ones} of them the mean was not known at the end)" if open_ones else ""
    return f"{counted(len(steps), 'trial')}{sure}{known}"


def _believed(
    steps: Sequence[TrialRow], axis: str, precision: float, confidence: float
) -> tuple[Belief | None, End]:
    tried = _tried(steps, axis)
    levels, failed = [level_of_step(row, axis) for row in steps], _failed(steps, axis)
    if len({one.level for one in tried}) < FEWEST_FOR_INTERVAL:
        return None, "failures"
    return belief_of(tried, failed, min(levels), max(levels), precision=precision, confidence=confidence)


def _tried(steps: Sequence[TrialRow], axis: str) -> list[Tried]:
    return [
        Tried(level_of_step(row, axis), row["repeat"], math.log(goodput_bps))
        for row in steps
        if (goodput_bps := goodput_of_step(row)) is not None
    ]


def _failed(steps: Sequence[TrialRow], axis: str) -> list[int]:
    """Levels of the trials that do not count."""
    return [level_of_step(row, axis) for row in steps if goodput_of_step(row) is None]


def _estimate(search: PlateauSearched) -> Estimate:
    found = search.belief
    unit = "flows" if search.axis == FLOWS else "bytes"
    if found is None or not search.plateau_seen or search.end in ("level", "rising"):
        return Estimate(None, unit)
    enough, low, high = _enough(search, found)
    return Estimate(enough, unit, low, high)


def _claim(search: PlateauSearched) -> str:
    found = search.belief
    trials = trials_words(search.steps, search.confidence)
    if found is None:
        return f"{trials}, {len(search.whole)} of them whole, are too few to say what is enough."
    claim = _of_flows if search.axis == FLOWS else _of_windows
    return claim(search, found, trials)


def _of_windows(search: PlateauSearched, found: Belief, trials: str) -> str:
    plateau = format_rate(found.plateau_bps)
    least, most = search.worked
    raised = _raised(search)
    if search.end == "level" and least <= raised:
        return (
            f"the smallest window that hosts granted is enough for {plateau} ({trials}); up to a window sum "
            f"of {format_size(raised)} that is more than was requested{_lower(search, found)}."
        )
    if search.end == "level":
        smallest = f"{format_size(least)}, the smallest that {_was_tried(search, least)},"
        return f"a window sum of {smallest} is enough for {plateau} ({trials}){_lower(search, found)}."
    largest = f"a window sum of {format_size(most)}, the largest that {_was_tried(search, most)}"
    if search.end == "rising":
        return f"goodput rises up to {largest} ({trials})."
    if not search.plateau_seen:
        needed = "" if found.low is None else format_size(min(round(found.low), most))
        return _not_seen(search, found, largest, needed and f"more than {needed} is needed", trials)
    enough, *ends_bytes = _enough(search, found)
    known = [end for end in ends_bytes if end is not None]
    size, *ends_words = format_sizes_alike(*map(round, (enough, *known)))
    if len(known) < len(ends_bytes):
        return _within(
            search, found, f"a window sum of about {size}", plateau, f"by {trials}; {_NO_INTERVAL}"
        )
    low, high = ends_words
    where = f"a window sum of {size} [{low}, {high}], as requested,"
    return _within(search, found, where, plateau, f"found in {trials}{_missed(search)}")


def _raised(search: PlateauSearched) -> int:
    """The largest window sum of which a host granted more than was requested; 0 where none did."""
    raised = (row for row in search.whole if row.get("window_raised"))
    return max((level_of_step(row, search.axis) for row in raised), default=0)


def _of_flows(search: PlateauSearched, found: Belief, trials: str) -> str:
    first, plateau = search.steps[0], format_rate(found.plateau_bps)
    of_pair = "" if first["flows"] == first["flows_per_pair"] else " per pair of hosts"
    least, most = search.worked
    if search.end == "level":
        are = "is" if least == 1 else "are"
        fewest = f"{counted(least, 'flow')}{of_pair}, the fewest that {_was_tried(search, least, 'were')},"
        return f"{fewest} {are} enough for {plateau} ({trials}){_lower(search, found)}."
    largest = f"{counted(most, 'flow')}{of_pair}, the most that {_was_tried(search, most, 'were')}"
    if search.end == "rising":
        return f"goodput rises up to {largest} ({trials})."
    number, low, high = _enough(search, found)
    if not search.plateau_seen:
        below = 0 if low is None else min(round(low) - 1, most)
        are = "is" if below == 1 else "are"
        needed = f"more than {counted(below, 'flow')} {are} needed" if below else ""
        return _not_seen(search, found, largest, needed, trials)
    enough = f"{counted(round(number), 'flow')}{of_pair}"
    if low is None or high is None:
        return _within(search, found, f"about {enough}", plateau, f"by {trials}; {_NO_INTERVAL}")
    ends = "" if low == high else f" [{low}, {high}]"
    return _within(search, found, f"{enough}{ends}", plateau, f"found in {trials}{_missed(search)}")


def _enough(search: PlateauSearched, found: Belief) -> tuple[float, float | None, float | None]:
    """What is enough, and the ends of its interval, None where it is open; no less than what worked."""
    least, _ = search.worked
    enough, low, high = found.in_whole if search.axis == FLOWS else (found.enough, found.low, found.high)
    return max(enough, least), low, None if high is None else max(high, least)


def _was_tried(search: PlateauSearched, level: int, was: str = "was") -> str:
    """Say that a level is the last that was tried, or that worked where others failed beyond it."""
    return f"{was} tried" if level in (min(search.levels), max(search.levels)) else "worked"


def _not_seen(search: PlateauSearched, found: Belief, largest: str, needed: str, trials: str) -> str:
    """Say that no plateau was seen: goodput may rise at the largest, or what is enough is not known yet."""
    known = f"{needed}; " if needed else ""
    unknown = f"by {trials}: {known}{_NO_INTERVAL}{_failures(search)}"
    lower, (_, most) = found.lower, search.worked
    if lower is None or lower.at[-1][0] < most:
        # Of no plateau goodput can be within the margin again.
        dips = "" if lower is None else _lower(search, replace(found, lower=replace(lower, again=None)))
        return f"goodput still rose, or may have, at {largest}, {unknown}{dips}."
    highest = highest_words(lower, of_flows=search.axis == FLOWS)
    return f"goodput was highest, {highest}, {unknown}{_lower(search, found)}."


_NO_INTERVAL = "no interval can be told"


def _within(search: PlateauSearched, found: Belief, where: str, plateau: str, how: str) -> str:
    """Say from where on goodput is as high as it gets, and no further than that was seen."""
    of_flows, lower, enough = search.axis == FLOWS, found.lower, _enough(search, found)[0]
    if lower is None:
        span = f"from {where} on"
    elif lower.up_to is not None and lower.up_to > enough:
        span = f"from {where} up to {level_words(lower.up_to, of_flows=of_flows)}"
    else:
        span = f"at {where}"
    within = f"goodput is within {format_margin(EQUIVALENCE_MARGIN)} of {plateau}"
    return f"{span} {within}, {how}{_lower(search, found)}."


def _lower(search: PlateauSearched, found: Belief) -> str:
    """Where goodput is lower again, if it is."""
    return "" if found.lower is None else f"; {lower_words(found.lower, of_flows=search.axis == FLOWS)}"


def _missed(search: PlateauSearched) -> str:
    missed = "" if search.end in ("precise", "failures") else ", less precise than was asked for"
    if missed and max(one.round for one in search.tried) < FEWEST_FOR_INTERVAL:
        missed = f", of fewer than {FEWEST_FOR_INTERVAL} rounds"
    return missed + _failures(search)


def _failures(search: PlateauSearched) -> str:
    return "; it ended since too many trials failed" if search.end == "failures" else ""
