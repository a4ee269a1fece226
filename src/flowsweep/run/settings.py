"""From a point of a sweep to what an engine is told of the test."""

from typing import Any

from flowsweep.defaults import CONNECT_TIMEOUT_NS, MICROSECOND_NS, SILENCE_TIMEOUT_NS
from flowsweep.hosts.messages import PathTest, RttTest, TcpTest, UdpTest
from flowsweep.run.requests import EndRole
from flowsweep.schedule.parameters import (
    AnyParameters,
    Bulk,
    PathParameters,
    RttParameters,
    TcpParameters,
    UdpParameters,
)

Settings = TcpTest | UdpTest | RttTest | PathTest


def settings_of(parameters: AnyParameters, role: EndRole, pad_ns: int) -> Settings:
    """What one end of a pair of hosts is told of its test.

    Args:
        parameters: of the trial, or of a companion of it.
        role: of the end.
        pad_ns: how much longer than asked a source sends.
    """
    match parameters:
        case TcpParameters():
            return TcpTest(
                **_bulk(parameters, role, pad_ns),
                drain_timeout_us=parameters.drain_timeout_ns // MICROSECOND_NS,
                congestion=parameters.congestion,
                pacing_rate_bps=parameters.pacing_rate_bps,
                mss_bytes=parameters.mss_bytes,
                no_delay=parameters.no_delay,
                fwmark=parameters.fwmark,
                mode=parameters.mode,
            )
        case UdpParameters():
            return UdpTest(
                **_bulk(parameters, role, pad_ns),
                drain_us=parameters.drain_timeout_ns // MICROSECOND_NS,
                spacing_ns=parameters.spacing_ns,
                gso=parameters.gso,
                gro=parameters.gro,
            )
        case RttParameters():
            return RttTest(
                echo=parameters.echo,
                sizes_bytes=list(parameters.sizes_bytes),
                every_us=parameters.every_ns // MICROSECOND_NS,
                poisson=parameters.poisson,
                seed=parameters.seed,
                duration_us=parameters.duration_ns // MICROSECOND_NS,
                timeout_us=parameters.timeout_ns // MICROSECOND_NS,
                connect_timeout_us=CONNECT_TIMEOUT_NS // MICROSECOND_NS,
                dscp=parameters.dscp,
                family=parameters.family,
            )
        case PathParameters():
            return PathTest(
                ttl_max=parameters.ttl_max,
                sizes_bytes=list(parameters.sizes_bytes),
                probes=parameters.probes,
                every_us=parameters.every_ns // MICROSECOND_NS,
                timeout_us=parameters.timeout_ns // MICROSECOND_NS,
                trains=parameters.trains,
                train_packets=parameters.train_packets,
                train_bytes=parameters.train_bytes,
                streams=parameters.streams,
                stream_packets=parameters.stream_packets,
                stream_rates=parameters.stream_rates,
                deadline_us=parameters.duration_ns // MICROSECOND_NS,
                connect_timeout_us=CONNECT_TIMEOUT_NS // MICROSECOND_NS,
                seed=parameters.seed,
                family=parameters.family,
            )


def window_of(parameters: AnyParameters | Bulk, role: EndRole) -> int | None:
    """What one end asks for as its socket buffer, per flow; absent where that is left to the host."""
    if not isinstance(parameters, Bulk):
        return None
    return parameters.window_send_bytes if role == "source" else parameters.window_recv_bytes


def _bulk(parameters: Bulk, role: EndRole, pad_ns: int) -> dict[str, Any]:
    """What TCP and UDP are told alike."""
    return {
        "flows": parameters.flows,
        "length_bytes": parameters.length_bytes,
        "window_bytes": window_of(parameters, role),
        "clip_allowed": parameters.clip_allowed,
        "duration_us": parameters.duration_ns // MICROSECOND_NS,
        "pad_us": pad_ns // MICROSECOND_NS,
        "sample_interval_us": parameters.sample_interval_ns // MICROSECOND_NS,
        "connect_timeout_us": CONNECT_TIMEOUT_NS // MICROSECOND_NS,
        "silence_timeout_us": SILENCE_TIMEOUT_NS // MICROSECOND_NS,
        "rate_bps": parameters.rate_bps,
        "dscp": parameters.dscp,
        "cpus": list(parameters.affinity),
        "family": parameters.family,
    }
