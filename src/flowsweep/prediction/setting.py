"""What the fluid model is asked, and what it answers."""

from dataclasses import dataclass, replace
from typing import Literal, Self

Limit = Literal["path", "window", "rate asked", "congestion control"]
"""What holds flows back: the link, their windows, what applications send, or their congestion control."""

COMPARED_BPS, COMPARED_RTT_S = (10e6, 200e6), (0.01, 0.15)
COMPARED_LOSS_MOST, COMPARED_FLOWS_MOST = 1e-3, 8
"""What the model was compared with: docs/truth/predictions.md."""


@dataclass(frozen=True, slots=True)
class PathModel:
    """A path with one bottleneck, in the direction in which data go."""

    rate_bps: float
    """Of IP packets, at the bottleneck; what cross traffic takes on average is not in it."""
    rtt_s: float
    """Round trip with empty queues, without the time that a packet takes at the bottleneck."""
    queue_bytes: float
    """What may wait at the bottleneck (drop-tail)."""
    loss: float = 0.0
    """Probability that a packet is lost at random."""
    packet_bytes: int = 1500
    """Of a full IP packet."""

    @property
    def packet_s(self) -> float:
        """How long a full packet takes at the bottleneck."""
        return self.packet_bytes * 8 / self.rate_bps

    def with_packets(self, packet_bytes: int) -> Self:
        """The same with packets of another size."""
        return replace(self, packet_bytes=packet_bytes)


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

    @property
    def was_compared(self) -> bool:
        """Whether the model was compared with measurements of such paths where congestion control decides."""
        path = self.path
        return (
            COMPARED_BPS[0] <= path.rate_bps <= COMPARED_BPS[1]
            and COMPARED_RTT_S[0] <= path.rtt_s <= COMPARED_RTT_S[1]
            and path.loss <= COMPARED_LOSS_MOST
            and self.flows <= COMPARED_FLOWS_MOST
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
    was_compared: bool = True
    """Windows and links decide alike everywhere; congestion control may differ where nobody compared it."""
