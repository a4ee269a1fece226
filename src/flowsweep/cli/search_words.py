"""Searches in words: what they look for, and what one believes."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from flowsweep.analysis.axes import setting_axes, setting_words
from flowsweep.analysis.findings.plateau.lower import highest_words, lower_words
from flowsweep.defaults import SECOND_NS
from flowsweep.plan.model import Sweep
from flowsweep.plan.searching.model import (
    Beside,
    BestSearch,
    FlowsSearch,
    Left,
    OfPlateau,
    RateSearch,
    SearchInRounds,
    WindowSearch,
)
from flowsweep.schedule.trial_columns import asked_columns
from flowsweep.wording import (
    counted,
    direction,
    format_duration,
    format_margin,
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
    open_ = len(found.open)
    others = f"{counted(open_, 'other')} may have" if open_ else "none of the others has"
    sure = f"{others} over {format_share(event.precision)} more"
    then = "; ".join(names[one] for one in event.next if one != found.best) or names[found.best]
    what = f"over: {_BEST_ENDS[event.end]}" if event.end else f"next: {then}; {_left_words(event.left)}"
    where, rate = direction(first.src, first.dst), format_rate(found.goodput_bps)
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


def search_rows(sweep: Sweep, points: int, beside: Beside) -> list[tuple[str, str]]:
    """What `check` says of a sweep's search, if it has one.

    Args:
        sweep: Of a plan.
        points: How many it has on all its paths.
        beside: What the shortest of its trials takes beside how long it measures.
    """
    if sweep.rate_search is not None:
        return [("rate search", _rate_search_words(sweep.rate_search))]
    if sweep.plateau_search is not None:
        return [("search", _plateau_search_words(sweep.plateau_search, _shortest_ns(sweep), beside))]
    if sweep.best_search is not None:
        settings = points // (len(sweep.paths) * len(sweep.pairs) * len(sweep.duration_ns))
        return [("search", _best_search_words(sweep.best_search, settings, _shortest_ns(sweep), beside))]
    return []


def _shortest_ns(sweep: Sweep) -> int:
    """How long a trial lasts at least: how many there are depends on what those that end early leave."""
    return sweep.duration_ns[0] if sweep.until is None else sweep.until.at_least_ns


def _rate_search_words(search: RateSearch) -> str:
    """Say which rates are searched, how finely, and how long that takes."""
    bounds = f"{format_rate(search.low_bps)} to {format_rate(search.high_bps)} of all flows"
    resolution = format_rate(search.resolution_bps)
    steps = counted(search.trials, "step")
    limits = f"at most {format_share(search.loss_max)} lost"
    if search.delay_max_ns is not None:
        limits += f", 99 % delayed by at most {format_duration(search.delay_max_ns)}"
    return f"{bounds}, to {resolution}, {limits}: {steps} each"


def _plateau_search_words(search: OfPlateau, trial_ns: int, beside: Beside) -> str:
    """Say what is searched, how precisely, what that may take, and what it probably will."""
    # It needs NumPy and SciPy, which no other plan needs.
    from flowsweep.schedule.search.rehearsal import SCATTER, Rehearsed, rehearsed

    most, whose = search.trials_within(trial_ns + beside.overhead_ns), "each"
    searches: list[OfPlateau] = [search]
    if isinstance(search, FlowsSearch):
        axis, bounds = "number of flows", f"the fewest flows that are enough, {search.low} to {search.high}"
        if search.then is not None:
            searches.append(search.then)
            whose = "for both"
            axis = f"{axis}, and then with the window,"
            bounds = f"{bounds}, with the largest window; then, with so many, {_window_bounds(search.then)}"
    else:
        axis, bounds = "window", _window_bounds(search)
    wanted = f"{bounds}, {_wanted(search)}"
    both = zip(*(rehearsed(one, trial_ns, beside) for one in searches), strict=True)
    took = Rehearsed(*(min(sum(counts), most) for counts in both))
    spread = "" if took.least == took.most else f" ({took.least} to {took.most})"
    if_so = f"if goodput rises with the {axis} up to a corner and repeats scatter by {format_margin(SCATTER)}"
    at_most = counted(most, "trial")
    return f"{wanted}: at most {at_most} {whose}, probably about {took.median}{spread}, {if_so}"


def _window_bounds(search: WindowSearch) -> str:
    whose = "of all flows" if search.of == "window_sum_bytes" else "of each flow"
    bounds = f"{format_size(search.low)} to {format_size(search.high)} {whose}"
    return f"the smallest window that is enough, {bounds}"


def _wanted(search: SearchInRounds) -> str:
    return f"to {format_share(search.precision)} with {format_margin(search.confidence)} confidence"


def _best_search_words(search: BestSearch, settings: int, trial_ns: int, beside: Beside) -> str:
    """Say among how many settings, how precisely, what that may take, and what it probably will."""
    from flowsweep.schedule.search.rehearsal import SCATTER, Rehearsed, rehearsed_best

    most = search.trials_within(trial_ns + beside.overhead_ns)
    took = Rehearsed(*(min(count, most) for count in rehearsed_best(search, settings, trial_ns, beside)))
    spread = "" if took.least == took.most else f" ({took.least} to {took.most})"
    return (
        f"the one of {settings} settings with the most goodput, {_wanted(search)}: "
        f"at most {counted(most, 'trial')} each, probably about {took.median}{spread}, "
        f"if repeats scatter by {format_margin(SCATTER)}"
    )
