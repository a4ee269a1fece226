"""The points of a plan: every combination of the axes of a sweep, each as its test makes it."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from flowsweep.grouping import grouped
from flowsweep.plan.hosts.expansion import host_pairs
from flowsweep.plan.model import Directions, Plan, Sweep
from flowsweep.plan.searching.model import BestSearch, Search
from flowsweep.schedule.background import SweepBackground, background_of
from flowsweep.schedule.parameters import Parameters
from flowsweep.schedule.tests.registry import SCHEDULE_TESTS
from flowsweep.schedule.trial import Trial


@dataclass(frozen=True, slots=True)
class Point:
    """One combination of the axes of a sweep, on one path."""

    sweep: str
    src: str
    dst: str
    sources: tuple[str, ...]
    sinks: tuple[str, ...]
    directions: Directions
    test: str
    parameters: Parameters
    window_sums_asked_bytes: tuple[int, ...]
    """Window per flow times flows, or the sum, as the plan has it; several if the cap made them equal."""
    window_capped: bool
    background: SweepBackground | None = None
    search: Search | None = None
    """Its parameters have the first rate or window."""
    alternatives: tuple["Point", ...] = ()
    """The other settings that a search for the best chooses among."""

    def trials(self, repeat: int) -> tuple[Trial, ...]:
        """Return the trials that measure this point once: one for each direction, as the path says first."""
        ways = [self] if self.directions == "one" else [self, self._turned()]
        alone = (
            Trial(
                sweep=self.sweep,
                repeat=repeat,
                src=way.src,
                dst=way.dst,
                sources=way.sources,
                sinks=way.sinks,
                test=self.test,
                simultaneous=self.directions == "simultaneous",
                parameters=self.parameters,
                window_sums_asked_bytes=self.window_sums_asked_bytes,
                window_capped=self.window_capped,
                search=self.search,
            )
            for way in ways
        )
        return tuple(trial if self.background is None else self.background.added_to(trial) for trial in alone)

    def _turned(self) -> "Point":
        return replace(self, src=self.dst, dst=self.src, sources=self.sinks, sinks=self.sources)


def expand(plan: Plan) -> tuple[Point, ...]:
    """List all points of a plan as written: sweeps, paths, pairs, flows, other axes, the last one fastest.

    Points that `window_max` makes equal are one point, which keeps all the sums that were asked.
    """
    return tuple(point for sweep in plan.sweeps for point in _merged(_points(plan, sweep)))


def searches_gathered(points: Sequence[Point]) -> list[Point]:
    """Make one point of all that one search for the best chooses among: the first, with the others."""
    gathered: dict[tuple[object, ...], list[Point]] = {}
    for number, point in enumerate(points):
        hosts = (point.src, point.dst, point.sources, point.sinks)
        of_search = (point.sweep, *hosts, point.parameters.duration_ns)
        key = of_search if isinstance(point.search, BestSearch) else (number,)
        gathered.setdefault(key, []).append(point)
    return [replace(first, alternatives=tuple(others)) for first, *others in gathered.values()]


def points_by_sweep(plan: Plan) -> dict[str, list[Point]]:
    """All points of a plan, by the name of their sweep, in the order of `expand`."""
    return grouped(expand(plan), lambda point: point.sweep)


def _merged(points: Iterator[Point]) -> Iterator[Point]:
    merged: dict[tuple[object, ...], Point] = {}
    for point in points:
        key = (point.src, point.dst, point.sources, point.sinks, point.parameters)
        equal = merged.get(key)
        merged[key] = point if equal is None else _joined(equal, point)
    return iter(merged.values())


def _joined(first: Point, second: Point) -> Point:
    asked = dict.fromkeys((*first.window_sums_asked_bytes, *second.window_sums_asked_bytes))
    capped = first.window_capped or second.window_capped
    return replace(first, window_sums_asked_bytes=tuple(asked), window_capped=capped)


def _points(plan: Plan, sweep: Sweep) -> Iterator[Point]:
    background = background_of(plan, sweep)
    points = SCHEDULE_TESTS[sweep.test].points
    for path, pairs, flows in itertools.product(sweep.paths, sweep.pairs, sweep.flows):
        sources, sinks = plan.members(path.src, pairs), plan.members(path.dst, pairs)
        seed = plan.campaign.seed or 0
        for window, parameters in points(sweep, flows, len(host_pairs(sources, sinks)), seed):
            yield Point(
                sweep=sweep.name,
                src=path.src,
                dst=path.dst,
                sources=sources,
                sinks=sinks,
                directions=sweep.directions,
                test=sweep.test,
                parameters=parameters,
                window_sums_asked_bytes=window.sums_asked_bytes,
                window_capped=window.capped,
                background=background,
                search=sweep.search,
            )
