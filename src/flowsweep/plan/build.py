"""From a plan file that is right to the Plan that everything else works with."""

from collections.abc import Mapping
from pathlib import PurePath
from typing import TypeVar

from flowsweep import defaults
from flowsweep.plan.check_hosts import is_bare
from flowsweep.plan.groups import members
from flowsweep.plan.input import HostTable, PlanFile
from flowsweep.plan.link_table import DirectionTable, LinkTable
from flowsweep.plan.model import Campaign, Group, Host, Link, LinkDirection, Path, Plan, Sweep
from flowsweep.plan.sweep_table import SweepTable, sweep_name

LOOPBACK = "localhost"


def build_plan(file: PlanFile, text: str, source: str, overrides: Mapping[str, str]) -> Plan:
    """Make the frozen plan of a file without problems."""
    links = file.lab.links if file.lab else {}
    return Plan(
        source=source,
        text=text,
        overrides=tuple(f"{name}={value}" for name, value in overrides.items()),
        campaign=Campaign(
            name=file.campaign.name or PurePath(source).stem,
            repeats=file.campaign.repeats,
            order=file.campaign.order,
            seed=file.campaign.seed,
        ),
        links=tuple(_link(name, link) for name, link in links.items()),
        hosts=tuple(
            _host(name, file.hosts.get(name, HostTable()), in_lab=bool(links)) for name in _hosts(file)
        ),
        groups=tuple(Group(name=name, hosts=tuple(hosts)) for name, hosts in file.groups.items()),
        sweeps=tuple(_sweep(sweep, number) for number, sweep in enumerate(file.sweep, start=1)),
    )


def _hosts(file: PlanFile) -> list[str]:
    """Name every host of a path once, in the order of the file; one that takes no part needs no engine."""
    named = (
        host
        for sweep in file.sweep
        for path in sweep.paths
        for name in (path.src, path.dst)
        for host in members(file.groups, name, max(sweep.pairs) if sweep.pairs else None)
    )
    return list(dict.fromkeys(named))


def _link(name: str, link: LinkTable) -> Link:
    ways = {way: _direction(direction) for way, direction in link.ways().items()}
    return Link(name=name, between=tuple(link.between), mtu_bytes=link.mtu, **ways)


def _direction(direction: DirectionTable) -> LinkDirection:
    return LinkDirection(
        rate_bps=direction.rate,
        queue_bytes=direction.queue,
        queue_packets=direction.queue_packets,
        delay_ns=direction.delay or 0,
        jitter_ns=direction.jitter or 0,
        reorder=bool(direction.reorder),
        loss=direction.loss or 0.0,
    )


def _host(name: str, host: HostTable, *, in_lab: bool) -> Host:
    """A host of which nothing is said is reached by loopback; from elsewhere the checks refused it."""
    address = LOOPBACK if is_bare(host) and not in_lab else host.address
    return Host(
        name=name,
        launch=tuple(host.launch),
        address=address,
        data_address=host.data_address,
        bind=host.bind,
        ports=host.ports,
        engine=host.engine,
        listens=host.listens,
    )


def _sweep(sweep: SweepTable, number: int) -> Sweep:
    return Sweep(
        name=sweep_name(sweep, number),
        test=sweep.test,
        paths=tuple(Path(src=path.src, dst=path.dst) for path in sweep.paths),
        directions=sweep.directions,
        pairs=_axis(sweep.pairs),
        flows=tuple(sweep.flows),
        window_bytes=_set(sweep.window),
        window_sum_bytes=_set(sweep.window_sum),
        window_send_bytes=_set(sweep.window_send),
        window_recv_bytes=_set(sweep.window_recv),
        window_max_bytes=sweep.window_max,
        length_bytes=_lengths(sweep),
        congestion=_axis(sweep.congestion),
        duration_ns=tuple(sweep.duration),
        rate_bps=_axis(sweep.rate),
        pacing_rate_bps=_axis(sweep.pacing_rate),
        mss_bytes=_axis(sweep.mss),
        dscp=_axis(sweep.dscp),
        no_delay=tuple(sweep.no_delay),
        affinity=((),) if sweep.affinity is None else tuple(sweep.affinity),
        family=_axis(sweep.family),
        mode=tuple(sweep.mode),
        omit_ns=sweep.omit,
        interval_ns=sweep.interval,
        sample_interval_ns=sweep.sample_interval,
        clip_allowed=sweep.clip == "allow",
        drain_timeout_ns=sweep.drain,
    )


def _lengths(sweep: SweepTable) -> tuple[int, ...]:
    """One length for all rates, where none is asked for: two things must not vary at once."""
    if sweep.length is not None:
        return tuple(sweep.length)
    if sweep.rate is None:
        return (defaults.LENGTH_BYTES,)
    bits = min(sweep.rate) * sweep.interval // (defaults.SECOND_NS * defaults.WRITES_PER_INTERVAL)
    power_of_two = 1 << max(0, (bits // 8).bit_length() - 1)
    return (min(defaults.LENGTH_BYTES, power_of_two),)


Item = TypeVar("Item")


def _set(values: list[Item] | None) -> tuple[Item, ...] | None:
    return None if values is None else tuple(values)


def _axis(values: list[Item] | None) -> tuple[Item | None, ...]:
    return (None,) if values is None else tuple(values)
