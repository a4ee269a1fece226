"""What the fluid model is asked, and what it answers."""

import math
from dataclasses import dataclass, replace
from typing import Literal, Self

from flowsweep.wording import counted, format_rate, format_share

Limit = Literal["path", "window", "rate asked", "congestion control"]
"""What holds flows back: the link, their windows, what applications send, or their congestion control."""


@dataclass(frozen=True, slots=True)
class Before:
    """Hops before the bottleneck, all together."""

    rate_bps: float | None
    """Of the slowest, without what cross traffic takes; None: no limit."""
    loss: float
    """Probability that a packet is lost there at random: part of the path's."""


@dataclass(frozen=True, slots=True)
class PathModel:
    """A path with one bottleneck, in the direction in which data go."""

    rate_bps: float
    """Of IP packets, at the bottleneck; what cross traffic takes is not in it."""
    rtt_s: float
    """Round trip with empty queues, without the time that a packet takes at the bottleneck."""
    queue_bytes: float
    """What may wait at the bottleneck (drop-tail), in packets of `packet_bytes`."""
    loss: float = 0.0
    """Probability that a packet is lost at random."""
    packet_bytes: int = 1500
    """Of a full IP packet."""
    crossed: bool = False
    """Whether cross traffic is in the queue, too, which yields to nobody."""
    queue_packets: float | None = None
    """How many packets may wait, of whatever size, where the queue counts them."""
    before: Before | None = None
    """What packets pass before the bottleneck; None: nothing that has a rate or loses."""

    @property
    def packet_s(self) -> float:
        """How long a full packet takes at the bottleneck."""
        return self.packet_bytes * 8 / self.rate_bps

    def with_packets(self, packet_bytes: int) -> Self:
        """The same with smaller packets: of those a queue that counts packets holds fewer bytes."""
        counted_bytes = math.inf if self.queue_packets is None else self.queue_packets * packet_bytes
        queue_bytes = min(self.queue_bytes, counted_bytes)
        return replace(self, packet_bytes=packet_bytes, queue_bytes=queue_bytes)


@dataclass(frozen=True, slots=True)
class Compared:
    """Settings in which a model was compared with measurements: docs/truth/predictions.md.

    Of ranges the least and the most.
    """

    rates_bps: tuple[float, float]
    rtts_s: tuple[float, float]
    queues: tuple[float, float]
    """In bandwidth × delay."""
    loss_most: float
    flows_most: int
    durations_s: tuple[float, float] = (5.0, 20.0)
    """Trials of 10 s were: half and twice of that are taken for alike."""

    @property
    def words(self) -> str:
        """All of it, for people."""
        lost = f"up to {format_share(self.loss_most)}" if self.loss_most else "none"
        return (
            f"{self.rates_bps[0] / 1e6:g} to {format_rate(self.rates_bps[1])}, {self.rtts_s[0] * 1e3:g} to "
            f"{self.rtts_s[1] * 1e3:g} ms, queues of {self.queues[0]:g} to {self.queues[1]:g} times "
            f"bandwidth × delay, {lost} lost at random, up to {counted(self.flows_most, 'flow')}, trials of "
            f"{self.durations_s[0]:g} to {self.durations_s[1]:g} s"
        )


TCP_COMPARED = Compared((10e6, 200e6), (0.01, 0.15), (0.25, 2.0), 1e-3, 8)
QUIC_COMPARED = Compared((10e6, 100e6), (0.01, 0.15), (0.25, 2.0), 1e-4, 4)
_ROUNDING = 1.01
"""Of a queue: plans name whole bytes and packets."""


@dataclass(frozen=True, slots=True)
class FlowSetting:
    """Flows that share a path, all alike."""

    path: PathModel
    flows: int
    congestion: str
    """One of `flowsweep.prediction.congestion.LAWS`."""
    window_segments: int | None
    """What each may have in flight; None: as much as it likes."""
    flow_bps: float | None
    """Rate of the application or of its pacing per flow, of payload; None: as fast as it goes."""
    segment_bytes: int
    """Payload of a full packet."""
    duration_s: float
    omit_s: float
    """From the start, left out of the mean."""
    application_share: float = 1.0
    """What applications count, of the payload of packets: encryption takes some of it."""
    in_bursts: bool = True
    """Whether segments wait until several can be sent at once, as Linux has those of TCP wait (TSO)."""
    compared: Compared = TCP_COMPARED

    @property
    def was_compared(self) -> bool:
        """Whether the model was compared with measurements of such paths where congestion control decides."""
        path, compared = self.path, self.compared
        queue = path.queue_bytes * 8 / (path.rate_bps * path.rtt_s) if path.rtt_s else math.inf
        within = (
            (path.rate_bps, compared.rates_bps, 1.0),
            (path.rtt_s, compared.rtts_s, 1.0),
            (queue, compared.queues, _ROUNDING),
            (self.duration_s, compared.durations_s, 1.0),
        )
        return (
            all(least / about <= value <= most * about for value, (least, most), about in within)
            and path.loss <= compared.loss_most
            and self.flows <= compared.flows_most
        )

    @property
    def counted_bytes(self) -> float:
        """What applications count of a full packet."""
        return self.segment_bytes * self.application_share


@dataclass(frozen=True, slots=True)
class Prediction:
    """What the model says of one setting: means over its runs, which differ by chance."""

    goodput_bps: float
    """Payload of all flows together, mean over the time that counts."""
    lowest_bps: float
    """Of the runs."""
    highest_bps: float
    whole_bps: float
    """Payload that arrives over the whole duration, what is left out of `goodput_bps` included."""
    rtt_s: float
    """Mean, queue included."""
    limit: Limit
    """Of the mean, or at the end."""
    mean_reaches_bound: bool = True
    """Whether the mean, too, is near what link, windows or application let through; else congestion control,
    slow start included, decides it."""
    was_compared: bool = True
    """Windows and links decide alike everywhere; congestion control may differ where nobody compared it."""
