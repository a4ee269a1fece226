"""The path that a trial's flows share: from a plan's links, or from what a person says."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from flowsweep.defaults import LAB_MTU_BYTES, SECOND_NS
from flowsweep.plan.hosts.expansion import HostPair
from flowsweep.plan.links.model import Link, LinkDirection
from flowsweep.prediction.setting import Before, PathModel
from flowsweep.prediction.tests.row import NoModelError
from flowsweep.schedule import Trial

ACKNOWLEDGEMENTS = 0.05
"""Of the bytes of segments: one of 52 bytes for each segment of 1500 takes 3.5 %."""
ACKNOWLEDGEMENTS_LOST = 0.01
"""Up to that, the next one says what a lost one said."""


@dataclass(frozen=True, slots=True)
class KnownPath:
    """A path as a person describes it: what `flowsweep predict` is told of real hosts."""

    rate_bps: float
    rtt_ns: float
    queue_bytes: float | None = None
    """None: rate × round trip."""
    loss: float = 0.0
    mtu_bytes: int = LAB_MTU_BYTES

    def model(self) -> PathModel:
        """As the model has it."""
        rtt_s = self.rtt_ns / SECOND_NS
        product_bytes = self.rate_bps * rtt_s / 8
        queue_bytes = product_bytes if self.queue_bytes is None else self.queue_bytes
        return PathModel(self.rate_bps, rtt_s, queue_bytes, self.loss, self.mtu_bytes)


def path_of(trial: Trial, links: Iterable[Link]) -> PathModel:
    """Make a model of the emulated path of a trial.

    Raises:
        NoModelError: Its flows do not share one bottleneck with one queue, or nothing is known of it.
    """
    [pair] = trial.pairs
    for link in links:
        way, back = link.direction(*pair), link.direction(*reversed(pair))
        if way is not None and back is not None:
            return _of_ways(way, back, link, pair)
    raise NoModelError(
        "the path is not known; say what it is: `flowsweep predict PLAN --rate 1Gbit/s --rtt 20ms`"
    )


def _of_ways(way: LinkDirection, back: LinkDirection, link: Link, pair: HostPair) -> PathModel:
    ways = (way, back)
    reasons = (
        (link.is_switch, "a switch has no round trip to speak of"),
        (way.rate_bps is None, "the link has no rate"),
        (any(one.members for one in ways), "flows take paths side by side"),
        (any(one.policer for one in ways), "a policer drops packets without a queue"),
        (any(one.jitter_ns for one in ways), "its delay varies"),
        (any(one.duplicate for one in ways), "packets arrive twice"),
        (link.varies(*pair), "its cross traffic pauses, so what it leaves depends on the moment"),
        (back.loss > ACKNOWLEDGEMENTS_LOST, "over 1 % of the acknowledgements are lost"),
    )
    for applies, reason in reasons:
        if applies:
            raise NoModelError(reason)
    full_bps, left_bps = way.rate_bps or 0, way.rate_beside_bps or 0
    back_bps = link.least_bps(*reversed(pair))
    if back_bps is not None and back_bps < ACKNOWLEDGEMENTS * left_bps:
        raise NoModelError("acknowledgements may need more than the way back carries")
    # What waits leaves at the link's whole rate: at the flows' part of it that is less of theirs.
    share = left_bps / full_bps
    return PathModel(
        rate_bps=float(left_bps),
        rtt_s=(way.delay_ns + back.delay_ns) / SECOND_NS,
        queue_bytes=_queue_bytes(way, link) * share,
        loss=way.loss,
        packet_bytes=link.mtu_bytes,
        crossed=way.cross is not None,
        before=_before(link, pair),
        queue_packets=None if way.queue_packets is None else way.queue_packets * share,
    )


def _before(link: Link, pair: HostPair) -> Before | None:
    """What packets pass before the narrowest of several hops."""
    ways = link.ways(*pair)
    rates = [math.inf if (rate_bps := way.rate_beside_bps) is None else float(rate_bps) for way in ways]
    narrow = rates.index(min(rates))
    ahead, slowest_bps = ways[:narrow], min(rates[:narrow], default=math.inf)
    loss = 1 - math.prod(1 - way.loss for way in ahead)
    if slowest_bps == math.inf and not loss:
        return None
    return Before(None if slowest_bps == math.inf else slowest_bps, loss)


def _queue_bytes(way: LinkDirection, link: Link) -> float:
    limits = [
        way.queue_limit_bytes,
        None if way.queue_packets is None else way.queue_packets * link.mtu_bytes,
    ]
    return float(min(limit for limit in limits if limit is not None))
