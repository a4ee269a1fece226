"""What each test is told of one point of a sweep: frozen types, one for each test."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from flowsweep import defaults
from flowsweep.plan.model import Echo

Family = Literal[4, 6]
Mode = Literal["copy", "zerocopy", "discard"]


class Parameters(BaseModel):
    """What every test has. `None` means: not set, the kernel or the host decides."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    flows: int = 1
    """From each source to each sink."""
    duration_ns: int
    """How long the source sends or asks, at most."""
    family: Family | None = None

    @property
    def pad_ns(self) -> int:
        """How much longer than asked one pair of hosts sends."""
        return 0

    @property
    def wait_ns(self) -> int:
        """How long an end may go on after the source has stopped."""
        return 0

    @property
    def window_bytes(self) -> int | None:
        """Window per flow, where both ends ask for the same."""
        return None

    @property
    def expected_bins(self) -> int:
        """Whole intervals that count: of a test that sends at full length only."""
        return 0

    @property
    def bound_bps(self) -> int | None:
        """What one flow sends at most."""
        return None


class Bulk(Parameters):
    """What tests have that send for a time, and look at what came in bins of it."""

    window_send_bytes: int | None
    window_recv_bytes: int | None
    length_bytes: int
    omit_ns: int
    interval_ns: int
    sample_interval_ns: int
    rate_bps: int | None
    dscp: int | None
    affinity: tuple[int, ...]
    clip_allowed: bool
    drain_timeout_ns: int

    @property
    def pad_ns(self) -> int:
        """So that the last bin of all flows is whole."""
        return defaults.PAD_NS + round(self.duration_ns * defaults.PAD_PER_DURATION)

    @property
    def wait_ns(self) -> int:
        """The drain."""
        return self.drain_timeout_ns

    @property
    def window_bytes(self) -> int | None:
        """Window per flow, where both ends ask for the same."""
        return self.window_send_bytes if self.window_send_bytes == self.window_recv_bytes else None

    @property
    def expected_bins(self) -> int:
        """Whole intervals that count: the duration less what is omitted."""
        return (self.duration_ns - self.omit_ns) // self.interval_ns


class TcpParameters(Bulk):
    """One point of a TCP sweep."""

    congestion: str | None
    pacing_rate_bps: int | None
    mss_bytes: int | None
    no_delay: bool
    # Trials without it are those that they were before there was one.
    fwmark: int | None = Field(default=None, exclude_if=lambda mark: mark is None)
    mode: Mode

    @property
    def bound_bps(self) -> int | None:
        """The lower of the application's and the kernel's pace."""
        return min(filter(None, (self.rate_bps, self.pacing_rate_bps)), default=None)


class UdpParameters(Bulk):
    """One point of a UDP sweep: `length_bytes` is a datagram's payload, rates are of payload."""

    spacing_ns: int | None
    """From the beginning of one datagram to that of the flow's next, in place of a rate."""
    rate_sum_bps: int | None = None
    """Asked of all flows of the trial together; `rate_bps` is the share of one."""
    gso: bool
    gro: bool

    @property
    def bound_bps(self) -> int | None:
        """The pace."""
        if self.spacing_ns is not None:
            return self.length_bytes * 8 * defaults.SECOND_NS // self.spacing_ns
        return self.rate_bps


class RttParameters(Parameters):
    """One point of a sweep of round-trip times."""

    echo: Echo
    sizes_bytes: tuple[int, ...]
    """Payloads, asked in turn."""
    every_ns: int
    poisson: bool
    seed: int
    timeout_ns: int
    dscp: int | None

    @property
    def length_bytes(self) -> int | None:
        """Payload of a question, where all have one of one size."""
        return self.sizes_bytes[0] if len(self.sizes_bytes) == 1 and self.echo != "tcp_connect" else None

    @property
    def wait_ns(self) -> int:
        """For the last answer."""
        return self.timeout_ns


class PathParameters(Parameters):
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
    seed: int

    @property
    def bytes_at_most(self) -> int:
        """All probes, and all packets of trains and streams."""
        probed = self.ttl_max * self.probes * sum(self.sizes_bytes)
        packets = self.trains * self.train_packets + self.streams * self.stream_rates * self.stream_packets
        return probed + packets * self.train_bytes


AnyParameters = TcpParameters | UdpParameters | RttParameters | PathParameters
Test = Literal["tcp", "udp", "rtt", "path"]
