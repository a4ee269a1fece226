"""What the times of a plan must agree on."""

from collections.abc import Iterator, Sequence

from flowsweep import defaults
from flowsweep.plan.input import PlanFile
from flowsweep.plan.problems import KeyPath, Problem
from flowsweep.plan.sweeps.table import SweepTable, sweep_name
from flowsweep.plan.tests.registry import PLAN_TESTS
from flowsweep.plan.times.build import times_of
from flowsweep.plan.times.keys import TimesKeys
from flowsweep.units import write_duration

_CAMPAIGN = "campaign"
_MINUTE_NS = 60 * defaults.SECOND_NS
_OF_TIMES = ("between", "jitter", "slip")
"""Keys that do nothing without `every` or `at`."""


def times_problems(file: PlanFile) -> Iterator[Problem]:
    """Find what contradicts itself in when sweeps run."""
    timed = [_is_timed(times_of(file.campaign, sweep)) for sweep in file.sweep]
    yield from _campaign_problems(file, any_timed=any(timed))
    for index, sweep in enumerate(file.sweep):
        yield from _sweep_problems(file, sweep, ("sweep", index), timed=timed[index])
        of_probes = PLAN_TESTS[sweep.test].every_of_probes
        if any(timed) and not timed[index] and (of_probes or sweep.every is None):
            first = sweep_name(file.sweep[timed.index(True)], timed.index(True) + 1)
            here = "`at` here or `every`" if of_probes else "`every` or `at` here or"
            message = (
                f'missing: sweep "{first}" has times, and this one has none; say {here} in [campaign], or '
                "move it to a plan of its own"
            )
            yield Problem(("sweep", index, "at" if of_probes else "every"), message)


def _is_timed(times: TimesKeys) -> bool:
    often = times.every is not None and times.every >= defaults.RECURRENCE_MIN_NS
    return often or times.at is not None


def _campaign_problems(file: PlanFile, *, any_timed: bool) -> Iterator[Problem]:
    campaign, about = file.campaign, (("sweep",),)
    yield from _own_problems(campaign, (_CAMPAIGN,), of_probes=False)
    if campaign.lasts is not None and campaign.until is not None:
        message = "found together with `for`, expected one of them"
        yield Problem((_CAMPAIGN, "until"), message, ((_CAMPAIGN, "for"),))
    for alias, name in (("for", "lasts"), ("until", "until"), *((name, name) for name in _OF_TIMES)):
        if getattr(campaign, name) is not None and not any_timed:
            message = "has no effect: no sweep has `every` or `at`; leave it out, or say when a sweep runs"
            yield Problem((_CAMPAIGN, alias), message, about)
    often = any(times_of(campaign, sweep).every is not None for sweep in file.sweep)
    if campaign.between is not None and any_timed and not often:
        message = "has no effect on `at`, only on `every`, which no sweep has; leave it out"
        yield Problem((_CAMPAIGN, "between"), message, ((_CAMPAIGN, "at"), *about))
    of_day = any(times.at or times.between for times in (campaign, *file.sweep))
    if "timezone" in campaign.model_fields_set and not of_day:
        message = "has no effect without `at` or `between`, which are times of the day; leave it out"
        yield Problem((_CAMPAIGN, "timezone"), message, about)
    if "repeats" in campaign.model_fields_set and any_timed:
        message = "has no effect: each time that a sweep is due is a repeat of it; leave it out"
        yield Problem((_CAMPAIGN, "repeats"), message, about)


def _sweep_problems(file: PlanFile, sweep: SweepTable, at: KeyPath, *, timed: bool) -> Iterator[Problem]:
    shortest_ns = PLAN_TESTS[sweep.test].probes_every_min_ns
    yield from _own_problems(sweep, at, of_probes=shortest_ns is not None)
    if shortest_ns is not None and sweep.every is not None:
        yield from _pause_problems(sweep.every, shortest_ns, at)
    for name in _OF_TIMES:
        if getattr(sweep, name) is not None and not timed:
            message = "has no effect without `every` or `at`; leave it out"
            yield Problem((*at, name), message, ((*at, "every"),))
    times = times_of(file.campaign, sweep)
    if times.every is not None:
        yield from _lateness_problems(sweep, times, times.every, at)
    elif times.at is not None and (times.jitter or 0) > (gap_ns := _shortest_gap_ns(times.at)):
        where = at if sweep.jitter is not None else (_CAMPAIGN,)
        message = (
            f"found {write_duration(times.jitter or 0)}, expected at most what lies between the times of "
            f"`at`, {write_duration(gap_ns)}"
        )
        yield Problem((*where, "jitter"), message, ((*at, "at"), (_CAMPAIGN, "at")))
    if times.every is None and sweep.between is not None and timed:
        message = "has no effect on `at`, only on `every`; leave it out"
        yield Problem((*at, "between"), message, ((*at, "at"),))


def _pause_problems(every_ns: int, shortest_ns: int, at: KeyPath) -> Iterator[Problem]:
    longest_ns = defaults.SAMPLE_INTERVAL_MAX_NS
    if not shortest_ns <= every_ns <= longest_ns:
        message = (
            f"found {write_duration(every_ns)}, which here is from one probe to the next, expected "
            f"{write_duration(shortest_ns)} to {write_duration(longest_ns)}; when the sweep runs, `every` of "
            "[campaign] says"
        )
        yield Problem((*at, "every"), message, ((*at, "test"),))


def _lateness_problems(sweep: SweepTable, times: TimesKeys, every_ns: int, at: KeyPath) -> Iterator[Problem]:
    late_ns = (times.jitter or 0) + (times.slip or 0)
    if late_ns > every_ns >= defaults.RECURRENCE_MIN_NS:
        key = "slip" if times.slip is not None else "jitter"
        where = at if getattr(sweep, key) is not None else (_CAMPAIGN,)
        message = (
            f"found {write_duration(late_ns)} with `jitter` and `slip` together, expected at most `every`, "
            f"{write_duration(every_ns)}: a run would still be due when the next one is"
        )
        yield Problem((*where, key), message, ((*at, "every"), (_CAMPAIGN, "every")))


def _shortest_gap_ns(minutes: Sequence[int]) -> int:
    """Between times of the day, over midnight too."""
    ordered = sorted(minutes)
    next_ones = [*ordered[1:], ordered[0] + defaults.DAY_MINUTES]
    gaps = (following - minute for minute, following in zip(ordered, next_ones, strict=True))
    return min(gaps) * _MINUTE_NS


def _own_problems(times: TimesKeys, at: KeyPath, *, of_probes: bool) -> Iterator[Problem]:
    """Find what a table's own `every` and `at` contradict; `every` may be of probes."""
    if times.every is None or of_probes:
        return
    if times.at is not None:
        yield Problem((*at, "at"), "found together with `every`, expected one of them", ((*at, "every"),))
    if times.every < defaults.RECURRENCE_MIN_NS:
        least = write_duration(defaults.RECURRENCE_MIN_NS)
        yield Problem((*at, "every"), f"found {write_duration(times.every)}, expected at least {least}")
