"""When a path was silent: due more than once since it was measured, as `flowsweep status` says it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise

from flowsweep.alarms.alarm import Alarm, moment_of
from flowsweep.defaults import SECOND_NS
from flowsweep.plan import Plan
from flowsweep.schedule.overdue import due_well_before, never_ns, past_times, silent_from, up_to

Path = tuple[str, str, str]
"""Sweep, source and sink."""
SilentFrom = Callable[[int, int], int | None]
"""As `PastTimes.silent_from`."""
_LISTED_MAX = 1_000_000
"""Times of a sweep that are listed at once: 19 years of every 10 minutes. A stranger's archive may have
begun in 1970, and be due every second."""


def silences(
    plan: Plan, begun_unix_ns: int, seed: int, measured: Mapping[Path, Sequence[int]], now_unix_ns: int
) -> Iterator[Alarm]:
    """Find when paths were not measured for longer than they should be.

    Args:
        plan: With times.
        begun_unix_ns: When the campaign began.
        seed: Of the campaign.
        measured: By path, when trials began that are whole, ascending, in Unix nanoseconds; those in the
            future do not count.
        now_unix_ns: Up to when.

    Returns:
        Each begins when the second time was over that the path could have been measured, and ends with the
        next measurement.
    """
    counts = due_well_before(plan, begun_unix_ns, now_unix_ns)
    for sweep in plan.sweeps:
        times: SilentFrom
        if counts.get(sweep.name, 0) > _LISTED_MAX:
            times = partial(silent_from, plan, begun_unix_ns, seed, sweep.name)
        else:
            times = past_times(plan, begun_unix_ns, seed, sweep.name, until_ns=now_unix_ns).silent_from
        for path in sweep.paths:
            ways = [(path.src, path.dst)] + ([] if sweep.directions == "one" else [(path.dst, path.src)])
            for src, dst in ways:
                key = (sweep.name, src, dst)
                known = up_to(now_unix_ns, measured.get(key, ()))
                yield from _of_path(key, times, begun_unix_ns, known, now_unix_ns)


def _of_path(
    path: Path, times: SilentFrom, begun_ns: int, measured: Sequence[int], now_ns: int
) -> Iterator[Alarm]:
    sweep, src, dst = path
    for since_ns, until_ns in pairwise((never_ns(begun_ns), *measured, now_ns)):
        found_ns = times(since_ns, until_ns)
        if found_ns is None:
            continue
        over = None if until_ns == now_ns else moment_of(until_ns / SECOND_NS)
        yield Alarm(
            kind="silent",
            worse=True,
            sweep=sweep,
            src=src,
            dst=dst,
            point=None,
            quantity=None,
            unit=None,
            since=moment_of(max(since_ns, begun_ns) / SECOND_NS),
            found=moment_of(found_ns / SECOND_NS),
            over=over,
            end=None if over is None else "measured",
            size=None,
            first_size=None,
        )
