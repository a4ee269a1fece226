"""What the keys of a sweep must agree on."""

from collections.abc import Iterator

from flowsweep import defaults
from flowsweep.plan.background.checks import background_problems
from flowsweep.plan.hosts.groups import total_flows
from flowsweep.plan.hosts.pairs import trials_of_path
from flowsweep.plan.input import PlanFile
from flowsweep.plan.problems import KeyPath, Problem, shown_path
from flowsweep.plan.readers import listed
from flowsweep.plan.searching.checks import NO_SETTINGS, range_problems, search_problems
from flowsweep.plan.searching.keys import KNEE, FindKeys, levels_of
from flowsweep.plan.sweeps.buffers import buffer_problems
from flowsweep.plan.sweeps.table import SweepTable, points_of_axes, sweep_name
from flowsweep.plan.tests.registry import PLAN_TESTS
from flowsweep.plan.tests.udp.search import rate_search_of
from flowsweep.plan.until.checks import until_problems
from flowsweep.plan.until.keys import longest_of
from flowsweep.tests import TIMED_TESTS
from flowsweep.units import write_duration, write_size
from flowsweep.wording import counted


def sweep_problems(file: PlanFile) -> Iterator[Problem]:
    """Find what contradicts itself within sweeps and between them."""
    if not file.sweep:
        yield Problem(("sweep",), "missing: a plan needs at least one [[sweep]]")
    names: dict[str, KeyPath] = {}
    for index, sweep in enumerate(file.sweep):
        at: KeyPath = ("sweep", index)
        flows = total_flows(file, sweep)
        yield from _key_problems(sweep, at)
        yield from _window_problems(sweep, at)
        yield from buffer_problems(max(levels_of(sweep.flows)), max(sweep.length or [0]), at)
        if FindKeys.model_fields.keys() <= PLAN_TESTS[sweep.test].keys:
            yield from search_problems(file, sweep, at)
        else:
            yield from range_problems(sweep, at)
        yield from until_problems(file, sweep, at)
        yield from _window_sum_problems(sweep, flows, at)
        yield from PLAN_TESTS[sweep.test].check(file, sweep, flows, at)
        if sweep.test in TIMED_TESTS:
            yield from _time_problems(sweep, at)
        yield from background_problems(file, sweep, at)
        yield from _path_problems(file, sweep, at)
        name = sweep_name(sweep, index + 1)
        first = names.setdefault(name, at)
        if first != at:
            found = f'found "{name}" again' if sweep.name else f'absent, which makes it "{name}" again'
            message = f"{found}, expected another name than {shown_path(first)}"
            yield Problem((*at, "name"), message, about=((*first, "name"),))
    yield from _count_problems(file)


def _count_problems(file: PlanFile) -> Iterator[Problem]:
    """Find too many trials; the rounds of a search take the place of repeats."""
    repeats = file.campaign.repeats
    in_rounds = [sweep.find not in (None, KNEE) for sweep in file.sweep]
    counts = [_trial_count(file, sweep) for sweep in file.sweep]
    trials = sum(count if alone else count * repeats for count, alone in zip(counts, in_rounds, strict=True))
    if trials > defaults.TRIALS_MAX:
        times = f" with `repeats = {repeats}` of [campaign]" if repeats > 1 and not all(in_rounds) else ""
        message = (
            f"found axes that multiply{times} to {trials} trials, expected at most {defaults.TRIALS_MAX}"
        )
        yield Problem(("sweep",), message)


def _key_problems(sweep: SweepTable, at: KeyPath) -> Iterator[Problem]:
    """Find the keys that a sweep sets and that its test does not have: one that does nothing is a mistake."""
    for key in SweepTable.model_fields:
        if key not in sweep.model_fields_set or key in PLAN_TESTS[sweep.test].keys:
            continue
        tests = listed([name for name, test in PLAN_TESTS.items() if key in test.keys])
        message = f'has no effect in a sweep of test = "{sweep.test}", only in one of {tests}; leave it out'
        yield Problem((*at, key), message, about=((*at, "test"),))


def _window_problems(sweep: SweepTable, at: KeyPath) -> Iterator[Problem]:
    window, window_sum = (*at, "window"), (*at, "window_sum")
    if sweep.window is not None and sweep.window_sum is not None:
        message = "found together with `window`, expected one of them: `window` is what each flow gets"
        yield Problem(window_sum, message, about=(window,))
    ends = {"window_send": sweep.window_send, "window_recv": sweep.window_recv}
    for key, sizes in ends.items():
        if sizes is None:
            continue
        if sweep.window_sum is not None:
            message = "found together with `window_sum`, expected it alone or beside `window`, both per flow"
            yield Problem((*at, key), message, about=(window_sum,))
        if sweep.window_max is not None and max(sizes) > sweep.window_max:
            largest, cap = write_size(max(sizes)), write_size(sweep.window_max)
            message = f"found {largest}, expected no more than `window_max`, {cap}"
            yield Problem((*at, key), message)
    if sweep.window is not None and None not in ends.values():
        message = "has no effect: `window_send` and `window_recv` override it at both ends; leave it out"
        yield Problem(window, message)
    if sweep.window_max is not None and sweep.window is None and sweep.window_sum is None:
        message = (
            "found without `window` or `window_sum`, expected one of them: it caps what they give a flow"
        )
        yield Problem((*at, "window_max"), message, about=(window, window_sum))


def _window_sum_problems(sweep: SweepTable, flows: list[int], at: KeyPath) -> Iterator[Problem]:
    if sweep.window_sum is None:
        return
    about = ((*at, "flows"), (*at, "window_max"), (*at, "paths"), (*at, "pairs"), ("groups",))
    sums = levels_of(sweep.window_sum)
    smallest, most_flows = min(sums), max(flows)
    if smallest < most_flows:
        message = (
            f"found {write_size(smallest)} for {counted(most_flows, 'flow')}, expected at least 1B per flow"
        )
        yield Problem((*at, "window_sum"), message, about)
    largest, least_flows = max(sums), min(flows)
    window = min(largest // least_flows, sweep.window_max or largest)
    if window > defaults.WINDOW_MAX_BYTES:
        message = (
            f"found {write_size(largest)} for {counted(least_flows, 'flow')}, expected at most "
            f"{write_size(defaults.WINDOW_MAX_BYTES)} per flow: lower it, or set `window_max`"
        )
        yield Problem((*at, "window_sum"), message, about)


def _time_problems(sweep: SweepTable, at: KeyPath) -> Iterator[Problem]:
    if sweep.interval < sweep.sample_interval:
        message = (
            f"found {write_duration(sweep.interval)}, expected no less than `sample_interval`, "
            f"{write_duration(sweep.sample_interval)}: a bin needs at least one sample"
        )
        yield Problem((*at, "interval"), message, about=((*at, "sample_interval"),))
    needed = sweep.omit + defaults.MINIMUM_BINS * sweep.interval
    durations = longest_of(sweep.duration)
    for index, duration in enumerate(durations):
        if duration >= needed:
            continue
        bins = max(0, duration - sweep.omit) // sweep.interval
        omitted = f" with {write_duration(sweep.omit)} omitted" if sweep.omit else ""
        message = (
            f"found {write_duration(duration)}{omitted}, which holds "
            f"{counted(bins, 'whole interval')} of {write_duration(sweep.interval)}, expected at least "
            f"{defaults.MINIMUM_BINS}: make the duration {write_duration(needed)} or the interval shorter"
        )
        path = (*at, "duration", index) if len(durations) > 1 else (*at, "duration")
        yield Problem(path, message, about=((*at, "omit"), (*at, "interval")))


def _path_problems(file: PlanFile, sweep: SweepTable, at: KeyPath) -> Iterator[Problem]:
    if not sweep.paths:
        yield Problem(
            (*at, "paths"), 'missing: write where to measure, as in [{ from = "left", to = "right" }]'
        )
    seen: dict[tuple[str, str], KeyPath] = {}
    for index, path in enumerate(sweep.paths):
        here = (*at, "paths", index)
        if path.src == path.dst and path.src not in file.groups:
            message = f'found "{path.src}" at both ends, expected two hosts'
            yield Problem(here, message, about=(("groups", path.src),))
            continue
        there, back = (path.src, path.dst), (path.dst, path.src)
        if there in seen:
            yield Problem(here, f"is the same as {shown_path(seen[there])}: leave one out")
        elif back in seen and sweep.directions != "one":
            message = (
                f"is the other direction of {shown_path(seen[back])}, "
                f'which directions = "{sweep.directions}" measures already: leave one out'
            )
            yield Problem(here, message, about=((*at, "directions"),))
        seen.setdefault(there, here)


def _trial_count(file: PlanFile, sweep: SweepTable) -> int:
    paths = sum(trials_of_path(file, path) for path in sweep.paths)
    searches = points_of_axes(sweep)
    if sweep.find == "best":
        searches //= points_of_axes(sweep, without=NO_SETTINGS)
    return paths * searches * _steps(sweep) * (1 if sweep.directions == "one" else 2)


def _steps(sweep: SweepTable) -> int:
    """How many trials run in the place of one point, at most."""
    search = rate_search_of(sweep)
    if search is not None and search.low_bps < search.high_bps:
        return search.trials
    return 1 if sweep.find is None else sweep.at_most.trials
