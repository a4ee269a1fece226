"""From a plan file that is right to the Plan that everything else works with."""

import math
from collections.abc import Mapping, Sequence
from pathlib import PurePath

from flowsweep import defaults
from flowsweep.plan.alarms.checks import alarms_of
from flowsweep.plan.campaign import Campaign
from flowsweep.plan.hosts.checks import is_bare
from flowsweep.plan.hosts.expansion import members
from flowsweep.plan.hosts.taking_part import hosts_taking_part
from flowsweep.plan.input import HostTable, PlanFile
from flowsweep.plan.links.model import CrossTraffic, Hop, Link, LinkDirection, Policer
from flowsweep.plan.links.named import NamedLink
from flowsweep.plan.links.table import (
    CrossTable,
    DirectionTable,
    HopTable,
    LinkTable,
    PolicerTable,
    WaysTable,
)
from flowsweep.plan.model import Group, Host, Iperf3Peer, Plan, QuicPerfPeer
from flowsweep.plan.monitors.checks import monitors_of
from flowsweep.plan.retain.model import Retain
from flowsweep.plan.sweeps.build import build_sweep
from flowsweep.plan.times.build import timing_of
from flowsweep.wording import printable

LOOPBACK = "localhost"


def build_plan(file: PlanFile, text: str, source: str, overrides: Mapping[str, str]) -> Plan:
    """Make the frozen plan of a file without problems."""
    links = file.lab.links if file.lab else {}
    # The name of a file need not be UTF-8, and what a plan has is written as JSON.
    source = printable(source)
    return Plan(
        source=source,
        text=text,
        overrides=tuple(f"{name}={value}" for name, value in overrides.items()),
        campaign=Campaign(
            name=file.campaign.name or PurePath(source).stem,
            repeats=file.campaign.repeats,
            order=file.campaign.order,
            seed=file.campaign.seed,
            concurrent=file.campaign.concurrent,
            for_ns=file.campaign.lasts,
            until=file.campaign.until,
        ),
        links=tuple(_link(name, link) for name, link in links.items()),
        hosts=tuple(
            _host(name, file.hosts.get(name, HostTable()), in_lab=bool(links))
            for name in hosts_taking_part(file)
        ),
        groups=tuple(Group(name=name, hosts=tuple(hosts)) for name, hosts in file.groups.items()),
        named_links=tuple(
            NamedLink(
                name=name,
                between=(members(file.groups, link.between[0]), members(file.groups, link.between[1])),
                concurrent=link.concurrent,
            )
            for name, link in file.links.items()
        ),
        sweeps=tuple(
            build_sweep(sweep, number, timing_of(file.campaign, sweep), file.groups)
            for number, sweep in enumerate(file.sweep, start=1)
        ),
        alarms=None if file.alarms is None else alarms_of(file.alarms),
        retain=None if file.retain is None else Retain(samples_ns=file.retain.samples),
        monitors=monitors_of(file),
    )


def _link(name: str, link: LinkTable) -> Link:
    hops = tuple(Hop(**_ways(hop)) for hop in link.hops or ())
    ways = _ways(link)
    if hops:
        ways = {way: in_series([getattr(hop, way) for hop in hops]) for way in ways}
    return Link(
        name=name,
        between=tuple(link.between),
        mtu_bytes=link.mtu,
        **ways,
        hops=hops,
        icmp_interval_ns=link.icmp_interval,
    )


def _ways(hop: HopTable) -> dict[str, LinkDirection]:
    if not hop.members:
        return _ways_of_one(hop)
    members = [
        {way: one.model_copy(update={"dscp": member.dscp}) for way, one in _ways_of_one(member).items()}
        for member in hop.members
    ]
    return {way: in_parallel([member[way] for member in members]) for way in members[0]}


def _ways_of_one(path: WaysTable) -> dict[str, LinkDirection]:
    return {way: _direction(direction) for way, direction in path.ways().items()}


def _direction(direction: DirectionTable) -> LinkDirection:
    return LinkDirection(
        rate_bps=direction.rate,
        queue_bytes=direction.queue,
        queue_packets=direction.queue_packets,
        delay_ns=direction.delay or 0,
        jitter_ns=direction.jitter or 0,
        reorder=bool(direction.reorder),
        loss=direction.loss or 0.0,
        duplicate=direction.duplicate or 0.0,
        policer=None if direction.policer is None else _policer(direction.policer),
        cross=None if direction.cross is None else _cross(direction.cross),
    )


def _policer(policer: PolicerTable) -> Policer:
    return Policer(rate_bps=policer.rate, burst_bytes=policer.burst)


def _cross(cross: CrossTable) -> CrossTraffic:
    return CrossTraffic(
        rate_bps=cross.rate,
        packet_bytes=cross.packet,
        on_ns=cross.on,
        off_ns=cross.off,
        poisson=cross.poisson,
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
        further_addresses=tuple(host.further_addresses),
        folder=host.folder,
        iperf3=_iperf3(host) if host.peer == "iperf3" else None,
        quic_perf=QuicPerfPeer(port=host.port or defaults.QUIC_PERF_PORT)
        if host.peer == "quic-perf"
        else None,
    )


def _iperf3(host: HostTable) -> Iperf3Peer:
    return Iperf3Peer(
        port=host.port or defaults.IPERF3_PORT,
        user=host.user,
        password_env=host.password_env,
        public_key=host.public_key,
        pkcs1=host.padding == "pkcs1",
    )


def in_series(ways: Sequence[LinkDirection]) -> LinkDirection:
    """Sum up one direction of several hops: the rate and queue of the narrowest, of the rest what adds up."""
    policers = [way.policer for way in ways if way.policer is not None]
    narrow = min(ways, key=lambda way: math.inf if (left := way.rate_beside_bps) is None else left)
    return LinkDirection(
        rate_bps=narrow.rate_bps,
        queue_bytes=narrow.queue_bytes,
        queue_packets=narrow.queue_packets,
        delay_ns=sum(way.delay_ns for way in ways),
        jitter_ns=sum(way.jitter_ns for way in ways),
        reorder=any(way.reorder for way in ways),
        loss=1 - math.prod(1 - way.loss for way in ways),
        duplicate=math.prod(1 + way.duplicate for way in ways) - 1,
        cross=narrow.cross,
        members=next((way.members for way in ways if way.members), ()),
        policer=min(policers, key=lambda policer: policer.rate_bps, default=None),
    )


def in_parallel(ways: Sequence[LinkDirection]) -> LinkDirection:
    """Sum up one direction of several paths: what they carry and hold together, of the rest the most."""
    rates = [way.carried_bps for way in ways]
    return LinkDirection(
        rate_bps=_sum_of_limits(rates),
        queue_bytes=_sum_of_limits([way.queue_bytes for way in ways]),
        queue_packets=_sum_of_limits([way.queue_packets for way in ways]),
        delay_ns=max(way.delay_ns for way in ways),
        jitter_ns=max(way.jitter_ns for way in ways),
        reorder=any(way.reorder for way in ways),
        loss=max(way.loss for way in ways),
        duplicate=max(way.duplicate for way in ways),
        members=tuple(ways),
    )


def _sum_of_limits(limits: Sequence[int | None]) -> int | None:
    """None where one of them is missing."""
    known = [limit for limit in limits if limit is not None]
    return sum(known) if len(known) == len(limits) else None
