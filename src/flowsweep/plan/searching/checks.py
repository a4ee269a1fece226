"""What the keys of a sweep that searches must agree on."""

from collections.abc import Iterator

from flowsweep import defaults
from flowsweep.plan.input import PlanFile
from flowsweep.plan.problems import KeyPath, Problem
from flowsweep.plan.searching.keys import KNEE, FindKeys, FlowsRange, WindowRange
from flowsweep.plan.searching.model import FIRST_WINDOWS
from flowsweep.plan.searching.spans import pairs_together, span_of
from flowsweep.plan.sweeps.table import SweepTable, points_of_axes
from flowsweep.units import write_duration, write_size

_WINDOWS = ("window", "window_sum")
_RANGES = (*_WINDOWS, "flows")
_OF_ENDS: tuple[str, ...] = ("window_send", "window_recv", "window_max")
NO_SETTINGS = ("pairs", "duration")
"""Lists that make no settings: other hosts and other durations have a search of their own."""
_FEWEST_SETTINGS = 2


def search_problems(file: PlanFile, sweep: SweepTable, at: KeyPath) -> Iterator[Problem]:
    """Find what contradicts itself in a sweep that searches, or has keys of one that does."""
    ranges = _ranges(sweep)
    if sweep.find is None:
        yield from range_problems(sweep, at)
        for key in FindKeys.model_fields.keys() & sweep.model_fields_set - {"find"}:
            message = 'has no effect without find = "plateau"; leave it out, or search'
            yield Problem((*at, key), message, about=((*at, "find"),))
        return
    if sweep.find == KNEE:
        message = f'found "{KNEE}" beside test = "{sweep.test}", expected "udp": datagrams are delayed singly'
        yield Problem((*at, "find"), message, about=((*at, "test"),))
        return
    if sweep.find == "best":
        yield from _best_problems(file, sweep, ranges, at)
    else:
        yield from _plateau_problems(file, sweep, ranges, at)
    if sweep.directions == "simultaneous":
        message = (
            'found "simultaneous" beside a search, expected "one" or "both": each has a search of its own'
        )
        yield Problem((*at, "directions"), message, about=((*at, "find"),))
    times = [(*at, key) for key in ("every", "at") if getattr(sweep, key) is not None]
    times += [("campaign", key) for key in ("every", "at") if getattr(file.campaign, key) is not None]
    if times:
        message = "found beside times, expected a sweep that runs once: rounds of a search are its repeats"
        yield Problem((*at, "find"), message, about=tuple(times))


def range_problems(sweep: SweepTable, at: KeyPath) -> Iterator[Problem]:
    """Find ranges in a sweep that does not search."""
    for key in _ranges(sweep):
        kinds = "a number or a list of numbers" if key == "flows" else "a size or a list of sizes"
        message = f'found a range, expected {kinds}: a range is searched, with find = "plateau"'
        yield Problem((*at, key), message, about=((*at, "find"),))


def _ranges(sweep: SweepTable) -> list[str]:
    return [key for key in _RANGES if isinstance(getattr(sweep, key), WindowRange | FlowsRange)]


def _plateau_problems(file: PlanFile, sweep: SweepTable, ranges: list[str], at: KeyPath) -> Iterator[Problem]:
    if not ranges:
        example = 'window_sum = { from = "64KiB", to = "64MiB" }'
        message = f'found "{sweep.find}" without a range, expected one, such as {example}'
        yield Problem((*at, "find"), message, about=tuple((*at, key) for key in _RANGES))
    windows = [key for key in ranges if key != "flows"]
    if "flows" in ranges:
        yield from _flows_problems(sweep, at)
    for key in windows:
        yield from _window_problems((*at, key), getattr(sweep, key))
    if windows:
        ends = _OF_ENDS
        why = "found beside a search, whose range says which windows both ends get; leave it out"
    else:
        ends = ("window_max",)
        why = "found beside a search for flows, whose windows are as given; leave it out"
    for key in ends:
        if getattr(sweep, key) is not None:
            yield Problem((*at, key), why, about=((*at, "find"),))
    yield from _budget_problems(file, sweep, (defaults.SEARCH_TRIALS_MIN, FIRST_WINDOWS[1]), at)


def _best_problems(file: PlanFile, sweep: SweepTable, ranges: list[str], at: KeyPath) -> Iterator[Problem]:
    for key in ranges:
        message = 'found a range beside find = "best", expected a list: the best is one of those listed'
        yield Problem((*at, key), message, about=((*at, "find"),))
    counts = _settings(file, sweep)
    settings = max(counts)
    if min(counts) < _FEWEST_SETTINGS:
        several = 'axes with several levels, such as congestion = ["cubic", "bbr"] and flows = [1, 4, 16]'
        alike = points_of_axes(sweep, without=NO_SETTINGS) >= _FEWEST_SETTINGS
        why = ", since all windows that a flow gets are the same" if alike else ""
        yield Problem(
            (*at, "find"),
            f'found "best" of one setting{why}, expected {several}',
            about=((*at, "window_max"), (*at, "window"), (*at, "window_sum")) if alike else (),
        )
    least = defaults.BEST_TRIES_MIN * settings + min(settings, defaults.BEST_ROUND_MAX)
    if sweep.at_most.trials < least:
        message = (
            f"found {sweep.at_most.trials}, expected at least {least}: {settings} settings, of which each is "
            "tried twice, and a round of the best of them"
        )
        yield Problem((*at, "at_most", "trials"), message, about=((*at, "find"),))
    else:
        yield from _budget_problems(file, sweep, (least, least), at)


def _settings(file: PlanFile, sweep: SweepTable) -> set[int]:
    """How many settings there are, with each number of pairs of hosts; of equal windows of a flow one."""
    others = points_of_axes(sweep, without=(*NO_SETTINGS, "flows", *_WINDOWS))
    flows = sweep.flows if isinstance(sweep.flows, list) else [1]  # of a range, which is refused
    return {
        others * sum(_windows(sweep, pairs * each) for each in flows) for pairs in pairs_together(file, sweep)
    }


def _windows(sweep: SweepTable, flows: int) -> int:
    """How many windows a flow may have, of so many over all pairs."""
    whole = sweep.window_sum is not None
    axis = sweep.window_sum if whole else sweep.window
    sizes = axis if isinstance(axis, list) else []
    of_flow = [size // flows if whole else size for size in sizes]
    return len({min(size, sweep.window_max or size) for size in of_flow}) or 1


def _budget_problems(
    file: PlanFile, sweep: SweepTable, trials: tuple[int, int], at: KeyPath
) -> Iterator[Problem]:
    """See that the time holds so many trials; where much runs beside each, the second number: a round."""
    longest_ns = sweep.at_most.duration
    if longest_ns is None:
        return
    span = span_of(file, sweep)
    count = trials[1] if span.probes_ns or span.background_ns else trials[0]
    least_ns = count * span.whole_ns
    if longest_ns >= least_ns:
        return
    about = [(*at, "duration")]
    found = f"{count} trials"
    if span.probes_ns:
        found += f", each with {write_duration(span.probes_ns)} of probes around it"
        about += [(*at, "probe_before"), (*at, "probe_after")]
    if span.background_ns:
        whole = write_duration(_upwards(span.whole_ns))
        found += f", each of {whole} with its background traffic, which goes on after it"
        about += [(*at, "background")]
    least = write_duration(_upwards(least_ns))
    message = f"found {write_duration(longest_ns)}, expected at least {least}: {found}"
    yield Problem((*at, "at_most", "duration"), message, about=tuple(about))


_STEP_NS = 100 * defaults.MILLISECOND_NS


def _upwards(time_ns: int) -> int:
    """A time that is easily read, and no less."""
    return -(-time_ns // _STEP_NS) * _STEP_NS


def _flows_problems(sweep: SweepTable, at: KeyPath) -> Iterator[Problem]:
    flows = sweep.flows
    for key in (*_WINDOWS, "window_send", "window_recv"):
        levels = getattr(sweep, key)
        if isinstance(levels, list) and len(levels) > 1:
            message = "found a list beside a range of flows, expected one size: name a sweep for each"
            yield Problem((*at, key), message, about=((*at, "flows"),))
    if isinstance(flows, FlowsRange) and flows.high < defaults.SEARCH_FLOWS_RANGE_MIN * flows.low:
        least = defaults.SEARCH_FLOWS_RANGE_MIN * flows.low
        message = (
            f"found {flows.high}, expected at least {least}, {defaults.SEARCH_FLOWS_RANGE_MIN} times `from`: "
            "a plateau shows beside what is below it"
        )
        yield Problem((*at, "flows", "to"), message, about=((*at, "flows", "from"),))


def _window_problems(here: KeyPath, windows: WindowRange) -> Iterator[Problem]:
    if windows.high < defaults.SEARCH_RANGE_MIN * windows.low:
        least = write_size(defaults.SEARCH_RANGE_MIN * windows.low)
        message = (
            f"found {write_size(windows.high)}, expected at least {least}, {defaults.SEARCH_RANGE_MIN} times "
            "`from`: a plateau shows beside what is below it"
        )
        yield Problem((*here, "to"), message, about=((*here, "from"),))
    if here[-1] == "window" and windows.high > defaults.WINDOW_MAX_BYTES:
        most = write_size(defaults.WINDOW_MAX_BYTES)
        yield Problem((*here, "to"), f"found {write_size(windows.high)}, expected at most {most}")
