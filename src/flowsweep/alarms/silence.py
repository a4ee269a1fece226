"""When a path was silent: due more than once since it was measured, as `flowsweep status` says it."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile

import numpy as np

from flowsweep.alarms.alarm import Alarm, moment_of
from flowsweep.defaults import SECOND_NS
from flowsweep.plan import Plan
from flowsweep.schedule import has_times, occasions

Path = tuple[str, str, str]
"""Sweep, source and sink."""
_DUE = 2
"""How often it must have been due: once may be anything."""


def silences(
    plan: Plan, begun_unix_ns: int, seed: int, measured: Mapping[Path, Sequence[int]], now_unix_ns: int
) -> Iterator[Alarm]:
    """Find when paths were not measured for longer than they should be.

    Args:
        plan: With times.
        begun_unix_ns: When the campaign began.
        seed: Of the campaign.
        measured: By path, when trials began that are whole, ascending, in Unix nanoseconds.
        now_unix_ns: Up to when.

    Returns:
        Each begins when the second time was over that the path could have been measured, and ends with the
        next measurement.
    """
    for sweep in plan.sweeps:
        own = plan.model_copy(update={"sweeps": (sweep,)})
        if not has_times(own):
            continue
        past = takewhile(lambda one: one.latest_unix_ns < now_unix_ns, occasions(own, begun_unix_ns, seed))
        times = np.array([(one.due_unix_ns, one.latest_unix_ns) for one in past], dtype=np.int64)
        due, latest = times.reshape(-1, 2).T
        for path in sweep.paths:
            ways = [(path.src, path.dst)] + ([] if sweep.directions == "one" else [(path.dst, path.src)])
            for src, dst in ways:
                began = np.array(measured.get((sweep.name, src, dst), ()), dtype=np.int64)
                yield from _of_path((sweep.name, src, dst), due, latest, begun_unix_ns, began, now_unix_ns)


def _of_path(
    path: Path, due: np.ndarray, latest: np.ndarray, begun_ns: int, measured: np.ndarray, now_ns: int
) -> Iterator[Alarm]:
    sweep, src, dst = path
    since = np.concatenate([np.array([begun_ns - 1], dtype=np.int64), measured])
    until = np.concatenate([measured, np.array([now_ns], dtype=np.int64)])
    second = np.searchsorted(due, since, side="right") + _DUE - 1
    for place in np.flatnonzero(second < len(due)):
        found_ns = int(latest[second[place]])
        if found_ns >= until[place]:
            continue
        over = moment_of(int(until[place]) / SECOND_NS) if place < len(measured) else None
        yield Alarm(
            kind="silent",
            worse=True,
            sweep=sweep,
            src=src,
            dst=dst,
            point=None,
            quantity=None,
            unit=None,
            since=moment_of(max(int(since[place]), begun_ns) / SECOND_NS),
            found=moment_of(found_ns / SECOND_NS),
            over=over,
            end=None if over is None else "measured",
            size=None,
            first_size=None,
        )
