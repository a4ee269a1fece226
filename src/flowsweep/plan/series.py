"""What hops do to packets together."""

import math
from collections.abc import Sequence

from flowsweep.plan.model import LinkDirection


def in_series(ways: Sequence[LinkDirection]) -> LinkDirection:
    """Sum up one direction of several hops: the rate and queue of the narrowest, of the rest what adds up."""
    narrow = min(ways, key=lambda way: math.inf if way.rate_bps is None else way.rate_bps)
    return LinkDirection(
        rate_bps=narrow.rate_bps,
        queue_bytes=narrow.queue_bytes,
        queue_packets=narrow.queue_packets,
        delay_ns=sum(way.delay_ns for way in ways),
        jitter_ns=sum(way.jitter_ns for way in ways),
        reorder=any(way.reorder for way in ways),
        loss=1 - math.prod(1 - way.loss for way in ways),
        duplicate=math.prod(1 + way.duplicate for way in ways) - 1,
    )
