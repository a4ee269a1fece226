"""Searches in words: which flows they look at, and what one believes."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from flowsweep.analysis.axes import setting_axes, setting_words
from flowsweep.analysis.findings.plateau.lower import highest_words, lower_words
from flowsweep.defaults import SECOND_NS
from flowsweep.plan.model import Sweep
from flowsweep.plan.searching.model import FlowsSearch, Left
from flowsweep.schedule.trial_columns import asked_columns
from flowsweep.wording import (
    counted,
    direction,
    format_rate,
    format_seconds,
    format_share,
    format_size,
    format_sizes,
)

if TYPE_CHECKING:
    from flowsweep.run.events import BestBelieved, SearchBelieves
    from flowsweep.schedule.search.belief import Belief

_ENDS: Mapping[str, str] = {
    "precise": "known as precisely as was asked",
    "level": "the least that worked is enough: begin with less to find where goodput falls",
    "rising": "goodput rises up to the most that worked: end with more, if hosts grant it",
    "budget": "no trial is left within `at_most`",
    "failures": "too many trials failed",
}


_BEST_ENDS: Mapping[str, str] = {
    "precise": "no other can be better by more than was asked",
    "budget": _ENDS["budget"],
    "failures": _ENDS["failures"],
}


def belief_words(event: "SearchBelieves") -> str:
    """Say what is believed and what comes next: "left → right: enough is 1.21 MiB, +4 % −3 %; next …"."""
    found = event.belief
    search = event.trial.search
    where = direction(event.trial.src, event.trial.dst)
    if found is None:
        sought = "how many flows are" if isinstance(search, FlowsSearch) else "which window is"
        return f"search {where}: {sought} enough is not known; over: {_ENDS[event.end or 'budget']}"
    if isinstance(search, FlowsSearch):
        known, then = _flows_known(found, search, event.bounds), ", ".join(map(str, event.levels)) + " flows"
    else:
        known, then = _window_known(found, event.levels, event.bounds)
    known = _known_at_end(event, found) or _known_of_a_fall(event, found) or known
    # Where goodput rises up to the most that worked, no plateau was seen.
    if event.end != "rising":
        known += _plateau_words(found, of_flows=isinstance(search, FlowsSearch))
    what = f"over: {_ENDS[event.end]}" if event.end else f"next: {then}; {_left_words(event.left)}"
    return f"search {where}: {known}; {what}"


def _known_at_end(event: "SearchBelieves", found: "Belief") -> str | None:
    """What is known where no level that worked is the least that is enough; None elsewhere."""
    if event.bounds is None or event.end not in ("level", "rising"):
        return None
    of_flows = isinstance(event.trial.search, FlowsSearch)
    low = found.in_whole[1] if of_flows else found.low
    not_enough = event.bounds[1] if low is None else low - 1 if of_flows else round(low)
    level = event.bounds[0] if event.end == "level" else _within(not_enough, event.bounds)
    words = counted(level, "flow") if of_flows else format_sizes(level, binary=True)[0]
    return f"enough is {'at most' if event.end == 'level' else 'more than'} {words}"


def _known_of_a_fall(event: "SearchBelieves", found: "Belief") -> str | None:
    """What is known where goodput is lower again before the estimate; None elsewhere."""
    lower = found.lower
    if lower is None or found.high is not None or found.enough < lower.at[0][0]:
        return None
    sought = "how many flows are" if isinstance(event.trial.search, FlowsSearch) else "which window is"
    return f"{sought} enough is not known yet"


def _plateau_words(found: "Belief", *, of_flows: bool) -> str:
    """Say how high goodput gets, and where it is lower again, if it is."""
    lower = found.lower
    if lower is None:
        return f", plateau {format_rate(found.plateau_bps)}"
    seen = found.high is not None or found.enough < lower.at[0][0]
    most = (
        f"plateau {format_rate(found.plateau_bps)}"
        if seen
        else f"most is {highest_words(lower, of_flows=of_flows)}"
    )
    return f", {most}; {lower_words(lower, of_flows=of_flows)}"


def _within(level: float, bounds: tuple[int, int] | None) -> int:
    """In whole bytes or flows, no further than what may be enough."""
    return round(level if bounds is None else min(max(level, bounds[0]), bounds[1]))


def _window_known(found: "Belief", levels: Sequence[int], bounds: tuple[int, int] | None) -> tuple[str, str]:
    """The window that is enough, and those that come next."""
    at = _within(found.enough, bounds)
    (size, *windows) = format_sizes(at, *levels, binary=True)
    then = ", ".join(windows)
    # Beyond the largest that works nothing is known to be enough.
    if found.low is None or found.high is None or found.enough > at + 1:
        return f"enough is about {size}, not yet bounded", then
    ends = (max(found.high, at) / at - 1, 1 - min(found.low, at) / at)
    more, less = map(format_share, ends)
    return f"enough is {size}, +{more} −{less}", then


def _flows_known(found: "Belief", search: FlowsSearch, bounds: tuple[int, int] | None) -> str:
    fewest, low, high = found.in_whole
    flows = counted(_within(fewest, bounds), "flow")
    if low is None or high is None or high > (search.high_flows if bounds is None else bounds[1]):
        return f"enough is about {flows}, not yet bounded"
    return f"enough is {flows}" if low == high else f"enough is {flows}, {low} to {high}"


def best_words(event: "BestBelieved") -> str:
    """Say what is believed and what comes next: "left → right: best so far is 8 flows, 9.4 Gbit/s; …"."""
    rows = [asked_columns(trial) for trial in event.settings]
    axes = setting_axes(rows)
    names = [setting_words(row, axes) for row in rows]
    found, first = event.belief, event.settings[0]
    where = direction(first.src, first.dst)
    if found is None:
        return (
            f"search {where}: which setting is best is not known; over: {_BEST_ENDS[event.end or 'budget']}"
        )
    open_ = len(found.open)
    others = f"{counted(open_, 'other')} may have" if open_ else "none of the others has"
    sure = f"{others} over {format_share(event.precision)} more"
    then = "; ".join(names[one] for one in event.next if one != found.best) or names[found.best]
    what = f"over: {_BEST_ENDS[event.end]}" if event.end else f"next: {then}; {_left_words(event.left)}"
    rate = format_rate(found.goodput_bps)
    return f"search {where}: best so far is {names[found.best]}, {rate}, {sure}; {what}"


def _left_words(left: Left) -> str:
    """Say what may still be spent: "at most 21 trials, 1 min 30 s and 1.2 GB left"."""
    parts = [counted(left.trials, "trial")]
    if left.duration_ns is not None:
        parts.append(format_seconds(left.duration_ns / SECOND_NS))
    if left.bytes is not None:
        parts.append(format_size(float(f"{left.bytes:.3g}")))
    *first, last = parts
    listed = f"{', '.join(first)} and {last}" if first else last
    return f"at most {listed} left"


def flows_words(sweep: Sweep) -> str:
    """List a sweep's numbers of flows, of a search its range."""
    search = sweep.plateau_search
    return (
        f"{search.low} to {search.high}"
        if isinstance(search, FlowsSearch)
        else ", ".join(map(str, sweep.flows))
    )
