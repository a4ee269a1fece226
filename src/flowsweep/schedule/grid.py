"""The points of a plan: every combination of the axes of a sweep, windows worked out."""

import itertools
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from flowsweep import defaults
from flowsweep.axes import grid_parameters
from flowsweep.plan.model import Directions, Plan, RateSearch, Sweep, host_pairs
from flowsweep.schedule.companions import Beside, beside_of
from flowsweep.schedule.parameters import (
    AnyParameters,
    PathParameters,
    RttParameters,
    TcpParameters,
    Test,
    UdpParameters,
)
from flowsweep.schedule.rate_search import first_rate_bps
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
    test: Test
    parameters: AnyParameters
    window_sums_asked_bytes: tuple[int, ...]
    """Window per flow times flows, or the sum, as the plan has it; several if the cap made them equal."""
    window_capped: bool
    beside: Beside | None = None
    search: RateSearch | None = None
    """Its parameters have the first rate."""

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
        return tuple(trial if self.beside is None else self.beside.added_to(trial) for trial in alone)

    def _turned(self) -> "Point":
        return replace(self, src=self.dst, dst=self.src, sources=self.sinks, sinks=self.sources)


def expand(plan: Plan) -> tuple[Point, ...]:
    """List all points of a plan as written: sweeps, paths, pairs, flows, other axes, the last one fastest.

    Points that `window_max` makes equal are one point, which keeps all the sums that were asked.
    """
    return tuple(point for sweep in plan.sweeps for point in _merged(_points(plan, sweep)))


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


@dataclass(frozen=True, slots=True)
class _Window:
    """What both ends ask for; None leaves it to the kernel."""

    size_bytes: int | None
    sums_asked_bytes: tuple[int, ...]
    capped: bool


_NO_WINDOW = _Window(size_bytes=None, sums_asked_bytes=(), capped=False)


def _points(plan: Plan, sweep: Sweep) -> Iterator[Point]:
    beside = beside_of(plan, sweep)
    for path, pairs, flows in itertools.product(sweep.paths, sweep.pairs, sweep.flows):
        sources, sinks = plan.members(path.src, pairs), plan.members(path.dst, pairs)
        seed = plan.campaign.seed or 0
        for window, parameters in _parameters(sweep, flows, len(host_pairs(sources, sinks)), seed):
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
                beside=beside,
                search=sweep.rate_search,
            )


def _parameters(sweep: Sweep, flows: int, pairs: int, seed: int) -> Iterator[tuple[_Window, AnyParameters]]:
    """All parameters that a sweep asks for with some flows between some pairs of hosts."""
    return _GRIDS[sweep.test](sweep, flows, pairs, seed)


def _of_tcp(sweep: Sweep, flows: int, pairs: int, _: int) -> Iterator[tuple[_Window, AnyParameters]]:
    return _bulk(TcpParameters, sweep, flows, pairs, _own_axes(sweep))


def _of_udp(sweep: Sweep, flows: int, pairs: int, _: int) -> Iterator[tuple[_Window, AnyParameters]]:
    axes = [_paces(sweep, flows * pairs), *_own_axes(sweep)]
    return _bulk(UdpParameters, sweep, flows, pairs, axes)


FIXED = ("omit_ns", "interval_ns", "sample_interval_ns", "clip_allowed", "drain_timeout_ns")
"""What all trials of a bulk sweep have in common, under the same name."""

Axis = list[dict[str, object]]
"""For each of its values the parameters that it sets."""


def _bulk(
    test: type[TcpParameters | UdpParameters], sweep: Sweep, flows: int, pairs: int, axes: Sequence[Axis]
) -> Iterator[tuple[_Window, AnyParameters]]:
    fixed = {name: getattr(sweep, name) for name in FIXED}
    ends = itertools.product(sweep.window_send_bytes or (None,), sweep.window_recv_bytes or (None,))
    for window, (send, recv), values in itertools.product(
        _windows(sweep, flows * pairs), ends, itertools.product(*axes)
    ):
        sizes = {
            "window_send_bytes": window.size_bytes if send is None else send,
            "window_recv_bytes": window.size_bytes if recv is None else recv,
        }
        yield window, test.model_validate({"flows": flows, **sizes, **dict(ChainMap(*values)), **fixed})


def _of_round_trips(sweep: Sweep, _: int, __: int, seed: int) -> Iterator[tuple[_Window, AnyParameters]]:
    asking = {} if sweep.asking is None else sweep.asking.model_dump()
    axes = _own_axes(sweep)
    for size, values in itertools.product(sweep.length_bytes, itertools.product(*axes)):
        chosen = dict(ChainMap(*values))
        # A handshake carries no payload: one trial, whatever the sizes of the others.
        sizes = (defaults.ECHO_BYTES if chosen["echo"] == "tcp_connect" else size,)
        yield (
            _NO_WINDOW,
            RttParameters.model_validate({**chosen, **asking, "sizes_bytes": sizes, "seed": seed}),
        )


def _of_paths(sweep: Sweep, _: int, __: int, seed: int) -> Iterator[tuple[_Window, AnyParameters]]:
    probing = {} if sweep.probing is None else sweep.probing.model_dump()
    for values in itertools.product(*_own_axes(sweep)):
        yield _NO_WINDOW, PathParameters.model_validate({**dict(ChainMap(*values)), **probing, "seed": seed})


_GRIDS: Mapping[str, Callable[[Sweep, int, int, int], Iterator[tuple[_Window, AnyParameters]]]] = {
    "tcp": _of_tcp,
    "udp": _of_udp,
    "rtt": _of_round_trips,
    "path": _of_paths,
}
"""How each test makes parameters of a sweep, its flows, its pairs of hosts and the campaign's seed."""


def _own_axes(sweep: Sweep) -> list[Axis]:
    """Those that are factors of the grid by themselves."""
    names = grid_parameters(sweep.test)
    return [[{name: value} for value in getattr(sweep, name)] for name in names]


def _paces(sweep: Sweep, flows: int) -> Axis:
    """Work out the pace of one of some flows for every rate, sum of rates, or spacing of the sweep."""
    if sweep.spacing_ns is not None:
        return [{"rate_bps": None, "spacing_ns": spacing_ns} for spacing_ns in sweep.spacing_ns]
    sums = sweep.rate_sum_bps if sweep.rate_search is None else (first_rate_bps(sweep.rate_search),)
    if sums is not None:
        return [{"rate_bps": asked // flows, "spacing_ns": None, "rate_sum_bps": asked} for asked in sums]
    return [{"rate_bps": rate_bps, "spacing_ns": None} for rate_bps in sweep.rate_bps]


def _windows(sweep: Sweep, flows: int) -> list[_Window]:
    """Work out the window of one of some flows for every window or window sum of the sweep."""
    if sweep.window_sum_bytes is not None:
        return [_capped(asked // flows, asked, sweep.window_max_bytes) for asked in sweep.window_sum_bytes]
    if sweep.window_bytes is not None:
        return [_capped(window, window * flows, sweep.window_max_bytes) for window in sweep.window_bytes]
    return [_NO_WINDOW]


def _capped(window: int, asked: int, cap: int | None) -> _Window:
    if cap is None or window <= cap:
        return _Window(size_bytes=window, sums_asked_bytes=(asked,), capped=False)
    return _Window(size_bytes=cap, sums_asked_bytes=(asked,), capped=True)
