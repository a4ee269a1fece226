"""The token bucket that shapes a link (tc-tbf(8)). Pure."""

from dataclasses import dataclass

from flowsweep import defaults
from flowsweep.plan.model import Link

FRAME_BYTES = defaults.LAB_MTU_BYTES + defaults.LAB_FRAMING_BYTES


@dataclass(frozen=True, slots=True)
class Shaper:
    """What `tc` is told. All three count Ethernet frames, as the kernel does."""

    rate_bps: int
    burst_bytes: int
    limit_bytes: int

    def arguments(self) -> str:
        """As `tc qdisc add dev … root` takes them."""
        return f"tbf rate {self.rate_bps}bit burst {self.burst_bytes} limit {self.limit_bytes}"


def shaper(link: Link) -> Shaper | None:
    """The shaper of one direction of a link; None where the link has no rate.

    A plan's rate and queue count IP packets, the kernel counts frames: both grow by the framing of a full
    packet, so the rate is exact for bulk traffic. The queue is `LAB_QUEUE_NS` at the rate if the plan names
    none. The burst covers the lateness of the kernel's timer, is never below two frames, and stays well below
    a short queue: the kernel splits what is larger than the burst into packets, and an unsplit piece of
    64 KiB would never fit into such a queue.
    """
    if link.rate_bps is None:
        return None
    queue_bytes = link.queue_bytes or max(
        link.rate_bps * defaults.LAB_QUEUE_NS // (8 * defaults.SECOND_NS), defaults.LAB_QUEUE_MINIMUM_BYTES
    )
    rate_bps = _with_framing(link.rate_bps)
    slack_bytes = rate_bps * defaults.LAB_BURST_NS // (8 * defaults.SECOND_NS)
    # One frame more, which must be there in full before it may leave: only the rest outlasts a late timer.
    burst_bytes = max(min(slack_bytes, queue_bytes // 4) + FRAME_BYTES, 2 * FRAME_BYTES)
    return Shaper(rate_bps, burst_bytes, _with_framing(queue_bytes))


def _with_framing(of_packets: int) -> int:
    return round(of_packets * FRAME_BYTES / defaults.LAB_MTU_BYTES)
