"""How probes are sent: of measurements of round-trip times and paths, and beside other trials."""

from typing import Literal

from flowsweep.frozen import Frozen

Echo = Literal["auto", "icmp", "udp", "tcp_connect"]


class RttProbing(Frozen):
    """How a measurement of round-trip times probes."""

    every_ns: int
    """From one probe to the next; the mean of it if `poisson`."""
    timeout_ns: int
    poisson: bool


class PathProbing(Frozen):
    """What a measurement of a path probes with; sizes are of IP packets."""

    ttl_max: int
    sizes_bytes: tuple[int, ...]
    probes: int
    every_ns: int
    timeout_ns: int
    trains: int
    train_packets: int
    train_bytes: int
    streams: int
    stream_packets: int
    stream_rates: int


class Probe(Frozen):
    """Questions for the round-trip time beside each trial."""

    every_ns: int
    before_ns: int
    """How long before the traffic starts, and after it has stopped."""
    after_ns: int
    echo: Echo
    poisson: bool
