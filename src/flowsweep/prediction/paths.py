"""The path that a trial's flows share: from a plan's links, or from what a person says."""

from collections.abc import Iterable
from dataclasses import dataclass

from flowsweep.defaults import LAB_MTU_BYTES, SECOND_NS
from flowsweep.plan.model import Link, LinkDirection
from flowsweep.prediction.setting import PathModel
from flowsweep.prediction.tests.row import NoModelError
from flowsweep.schedule import Trial


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
    if len(trial.pairs) > 1:
        raise NoModelError("flows of several pairs of hosts share no single path")
    [pair] = trial.pairs
    for link in links:
        way, back = link.direction(*pair), link.direction(*reversed(pair))
        if way is not None and back is not None:
            _check(way, link)
            return PathModel(
                rate_bps=float(way.rate_beside_bps or 0),
                rtt_s=(way.delay_ns + back.delay_ns) / SECOND_NS,
                queue_bytes=_queue_bytes(way, link),
                loss=way.loss,
                packet_bytes=link.mtu_bytes,
            )
    raise NoModelError("nothing is known of the path: say its rate and round trip by --rate and --rtt")


def _check(way: LinkDirection, link: Link) -> None:
    reasons = (
        (way.rate_bps is None, "the link has no rate"),
        (bool(way.members), "flows take paths side by side"),
        (way.policer is not None, "a policer drops packets without a queue"),
        (way.reorder, "packets overtake each other"),
        (link.is_switch, "a switch has no round trip to speak of"),
    )
    for applies, reason in reasons:
        if applies:
            raise NoModelError(reason)


def _queue_bytes(way: LinkDirection, link: Link) -> float:
    limits = [
        way.queue_limit_bytes,
        None if way.queue_packets is None else way.queue_packets * link.mtu_bytes,
    ]
    return float(min(limit for limit in limits if limit is not None))
