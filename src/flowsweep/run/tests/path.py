"""A measurement of a path, as an engine is asked for it."""

from flowsweep.defaults import CONNECT_TIMEOUT_NS, MICROSECOND_NS
from flowsweep.hosts.messages import PathTest
from flowsweep.run.outcome import EndRole
from flowsweep.schedule.tests.path import HOP_TRIES, PathParameters

_HOP_BYTES = 192
_TRAIN_BYTES = 96


def path_settings(parameters: PathParameters, _: EndRole, __: int) -> PathTest:
    """What both ends of a pair of hosts are asked to do."""
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


def path_table_bytes(parameters: PathParameters, _: float, __: int) -> float:
    """What all tries of probes, trains and streams take."""
    probes = parameters.ttl_max * parameters.probes * len(parameters.sizes_bytes) * HOP_TRIES
    packets = parameters.trains_packets_most + parameters.streams_packets_most
    return probes * _HOP_BYTES + packets * _TRAIN_BYTES
