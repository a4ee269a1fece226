"""The token bucket that shapes a link (tc-tbf(8)). Pure."""

from dataclasses import dataclass

from flowsweep import defaults
from flowsweep.plan.links.model import LinkDirection


@dataclass(frozen=True, slots=True)
class Shaper:
    """What `tc` is given. All three count Ethernet frames, as the kernel does."""

    rate_bps: int
    burst_bytes: int
    limit_bytes: int

    def arguments(self) -> str:
        """As `tc qdisc add dev … root` takes them."""
        return f"tbf rate {self.rate_bps}bit burst {self.burst_bytes} limit {self.limit_bytes}"


def shaper(direction: LinkDirection, mtu_bytes: int) -> Shaper | None:
    """The shaper of one direction of a link; None where it has no rate.

    A plan's rate and queue count IP packets, the kernel counts frames: both grow by the framing of a full
    packet, so the rate is exact for bulk traffic. The burst covers the lateness of the kernel's timer, is
    never below two frames, and stays well below a short queue: the kernel splits what is larger than the
    burst into packets, and an unsplit piece of 64 KiB would never fit into such a queue.
    """
    queue_bytes = direction.queue_limit_bytes
    if direction.rate_bps is None or queue_bytes is None:
        return None
    frame_bytes = mtu_bytes + defaults.LAB_FRAMING_BYTES
    rate_bps = round(direction.rate_bps * frame_bytes / mtu_bytes)
    slack_bytes = rate_bps * defaults.LAB_BURST_NS // (8 * defaults.SECOND_NS)
    # One frame more, which must be there in full before it may leave: only the rest outlasts a late timer.
    burst_bytes = max(min(slack_bytes, queue_bytes // 4) + frame_bytes, 2 * frame_bytes)
    return Shaper(rate_bps, burst_bytes, round(queue_bytes * frame_bytes / mtu_bytes))
