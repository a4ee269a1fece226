"""From a sweep's table that is right to the frozen sweep; keys of other tests keep their defaults."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from flowsweep import defaults
from flowsweep.axes import AXES, DURATION, LENGTH, MODE, PART, WINDOWS
from flowsweep.plan.background.keys import BackgroundTable
from flowsweep.plan.campaign import Timing
from flowsweep.plan.hosts.expansion import mesh_pairs
from flowsweep.plan.model import Background, Path, Sweep
from flowsweep.plan.probing import Echo, Probe
from flowsweep.plan.searching.keys import FlowsRange, RateRange, WindowRange
from flowsweep.plan.searching.model import BestSearch, FlowsSearch, OfPlateau, WindowSearch
from flowsweep.plan.sweeps.table import PathTable, SweepTable, sweep_name
from flowsweep.plan.tests.durations import durations_of
from flowsweep.plan.tests.registry import PLAN_TESTS
from flowsweep.plan.tests.udp.search import rate_search_of
from flowsweep.plan.until.keys import UntilTable
from flowsweep.plan.until.model import Until

ECHOES: Mapping[str, Echo] = {"auto": "auto", "icmp": "icmp", "udp": "udp", "tcp-connect": "tcp_connect"}
"""What a plan and an engine call what a round trip consists of."""
_WORKED_OUT = (LENGTH, DURATION)
"""Axes for which the test has a say where a plan names no level."""


def build_sweep(
    sweep: SweepTable, number: int, timing: Timing | None, groups: Mapping[str, Sequence[str]]
) -> Sweep:
    """Make the frozen sweep of a table without problems; `number` is its place in the plan, from 1."""
    sweep = PLAN_TESTS[sweep.test].completed(sweep)
    return Sweep(
        name=sweep_name(sweep, number),
        test=sweep.test,
        paths=tuple(one for path in sweep.paths for one in _paths(path, groups)),
        directions=sweep.directions,
        pairs=(None,) if sweep.pairs is None else tuple(sweep.pairs),
        duration_ns=tuple(durations_of(sweep)),
        until=_until(sweep),
        **_windows(sweep),
        **_bulk(sweep),
        **_axes(sweep),
        rate_sum_bps=None if isinstance(sweep.rate_sum, RateRange) else _set(sweep.rate_sum),
        spacing_ns=_set(sweep.spacing),
        rate_search=rate_search_of(sweep),
        plateau_search=_plateau_search(sweep),
        best_search=BestSearch(**_until_known(sweep)) if sweep.find == "best" else None,
        probe=_probe(sweep),
        background=tuple(_background(table, sweep.interval) for table in sweep.background),
        echo=tuple(ECHOES[name] for name in sweep.echo),
        exclusive=sweep.exclusive,
        timing=timing,
        **PLAN_TESTS[sweep.test].build(sweep),
    )


def _paths(path: PathTable, groups: Mapping[str, Sequence[str]]) -> Iterator[Path]:
    if path.mesh is None:
        yield Path(src=path.src, dst=path.dst)
        return
    for src, dst in mesh_pairs(groups, path.src, path.dst, path.mesh):
        yield Path(src=src, dst=dst)


def _bulk(sweep: SweepTable) -> dict[str, Any]:
    return {
        # The first step of a search has the fewest.
        "flows": (sweep.flows.low,) if isinstance(sweep.flows, FlowsRange) else tuple(sweep.flows),
        "window_max_bytes": sweep.window_max,
        "clip_allowed": sweep.clip == "allow",
        "length_bytes": _lengths(sweep),
        "omit_ns": sweep.omit,
        "interval_ns": sweep.interval,
        "sample_interval_ns": sweep.sample_interval,
        "drain_timeout_ns": _drain_ns(sweep),
    }


def _windows(sweep: SweepTable) -> dict[str, Any]:
    asked = {axis.column: getattr(sweep, axis.key) for axis in WINDOWS}
    return {column: None if isinstance(one, WindowRange) else _set(one) for column, one in asked.items()}


def _axes(sweep: SweepTable) -> dict[str, Any]:
    """Axes that span a grid, where a level is taken as it is; one that a plan leaves open has its default."""
    taken = [axis for axis in (*AXES, MODE, PART) if axis.spans and axis not in _WORKED_OUT]
    values = ((axis, getattr(sweep, axis.key)) for axis in taken)
    return {axis.parameter: (axis.default,) if given is None else tuple(given) for axis, given in values}


def _plateau_search(sweep: SweepTable) -> OfPlateau | None:
    of_window = _window_search(sweep)
    if not isinstance(sweep.flows, FlowsRange):
        return of_window
    return FlowsSearch(
        low_flows=sweep.flows.low,
        high_flows=sweep.flows.high,
        window_shared=sweep.window_sum is not None,
        then=of_window,
        **_until_known(sweep),
    )


def _window_search(sweep: SweepTable) -> WindowSearch | None:
    per_flow = isinstance(sweep.window, WindowRange)
    windows = sweep.window if per_flow else sweep.window_sum
    if not isinstance(windows, WindowRange):
        return None
    return WindowSearch(
        of="window_bytes" if per_flow else "window_sum_bytes",
        low_bytes=windows.low,
        high_bytes=windows.high,
        **_until_known(sweep),
    )


def _until_known(sweep: SweepTable) -> dict[str, Any]:
    """How precisely a search in rounds wants to know, and what it may take."""
    return {
        "precision": sweep.precision,
        "confidence": sweep.confidence,
        "trials_max": sweep.at_most.trials,
        "duration_max_ns": sweep.at_most.duration,
        "bytes_max": sweep.at_most.bytes,
    }


def _until(sweep: SweepTable) -> Until | None:
    asked = sweep.duration
    return Until(share=asked.until, at_least_ns=asked.at_least) if isinstance(asked, UntilTable) else None


def _probe(sweep: SweepTable) -> Probe | None:
    if sweep.probe is None:
        return None
    return Probe(
        every_ns=sweep.probe_every,
        before_ns=sweep.probe_before,
        after_ns=sweep.probe_after,
        echo=ECHOES[sweep.probe_echo],
        poisson=sweep.probe_spread == "poisson",
    )


def _background(table: BackgroundTable, interval_ns: int) -> Background:
    rates = None if table.rate is None else [table.rate]
    return Background(
        name=table.name,
        src=table.src,
        dst=table.dst,
        test=table.test,
        flows=table.flows,
        window_bytes=table.window,
        length_bytes=table.length or _usual_length(table.test, rates, interval_ns),
        congestion=table.congestion,
        rate_bps=table.rate,
        start_ns=table.start,
        duration_ns=table.duration,
        on_ns=table.on,
        off_ns=table.off,
    )


def _drain_ns(sweep: SweepTable) -> int:
    if sweep.drain is not None:
        return sweep.drain
    return PLAN_TESTS[sweep.test].drain_ns


def _lengths(sweep: SweepTable) -> tuple[int, ...]:
    if sweep.length is not None:
        return tuple(sweep.length)
    return (_usual_length(sweep.test, sweep.rate, sweep.interval),)


def _usual_length(test: str, rates: Sequence[int] | None, interval_ns: int) -> int:
    """One length for all rates, where none is asked for: two things must not vary at once."""
    usual = PLAN_TESTS[test].length_bytes
    if usual is not None:
        return usual
    if rates is None:
        return defaults.LENGTH_BYTES
    bits = min(rates) * interval_ns // (defaults.SECOND_NS * defaults.WRITES_PER_INTERVAL)
    power_of_two = 1 << max(0, (bits // 8).bit_length() - 1)
    return min(defaults.LENGTH_BYTES, power_of_two)


Item = TypeVar("Item")


def _set(values: list[Item] | None) -> tuple[Item, ...] | None:
    return None if values is None else tuple(values)
