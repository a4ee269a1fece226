"""The checked emulated links of a plan."""

from pydantic import Field

from flowsweep import defaults
from flowsweep.computed_defaults import lab_queue_bytes
from flowsweep.frozen import Frozen


class Policer(Frozen):
    """What drops packets that exceed a rate and burst, and delays none (RFC 2697)."""

    rate_bps: int
    """Committed rate, of IP packets."""
    burst_bytes: int
    """Committed burst size."""


class CrossTraffic(Frozen):
    """Traffic of others in a link's queue, evenly spaced while it sends."""

    rate_bps: int
    """Of IP packets, while it sends."""
    packet_bytes: int
    on_ns: int | None = None
    """How long it sends before each pause; always if this and `off_ns` are absent."""
    off_ns: int | None = None
    poisson: bool = False
    """Whether these are means of exponential distributions."""

    @property
    def mean_bps(self) -> int:
        """Its rate over a long time."""
        return mean_bps(self.rate_bps, self.on_ns, self.off_ns)


def mean_bps(rate_bps: int, on_ns: int | None, off_ns: int | None) -> int:
    """Compute the mean rate of traffic that pauses, in bit/s."""
    return rate_bps if on_ns is None or off_ns is None else rate_bps * on_ns // (on_ns + off_ns)


class LinkDirection(Frozen):
    """What a link does to packets on one of its two ways."""

    rate_bps: int | None = None
    """Rate of IP packets, without Ethernet framing; unlimited if absent."""
    queue_bytes: int | None = None
    """What may wait for the link; a default that suits the rate if this and `queue_packets` are absent."""
    queue_packets: int | None = None
    """How many packets may wait; beside `queue_bytes`, what is reached first counts."""
    delay_ns: int = 0
    """From the end of a packet's transmission to its arrival."""
    jitter_ns: int = 0
    """Each packet's delay is drawn evenly from `delay_ns` ± this."""
    reorder: bool = False
    """Whether jitter lets packets overtake each other."""
    loss: float = 0.0
    """Probability that a packet is lost, from 0 to below 1."""
    duplicate: float = 0.0
    """Probability that a packet that is not lost arrives twice; of hops together, its further arrivals."""
    policer: Policer | None = None
    """What packets pass before the queue; of hops together, the one of the least rate."""
    cross: CrossTraffic | None = None
    """What comes to the queue besides; of hops together, at the one that leaves least."""
    dscp: int | None = Field(default=None, exclude_if=lambda dscp: dscp is None)
    """Of one of `members`: it carries packets of this DSCP only; if absent, those that no other is for."""
    members: tuple["LinkDirection", ...] = ()
    """Paths side by side, of which every flow takes one; all else is of them together. Empty: one path."""

    @property
    def carried_bps(self) -> int | None:
        """What of the hosts' packets it lets through at most, in bit/s; None without a limit."""
        return self._limited(self.rate_bps)

    @property
    def left_bps(self) -> int | None:
        """What it lets through on average beside its cross traffic, in bit/s.

        None without a limit, where it depends on the paths that flows take, and where cross traffic pauses:
        what one trial finds is then not the mean.
        """
        depends = any(member.carried_bps is not None for member in self.members)
        depends |= self.cross is not None and self.cross.on_ns is not None
        return None if depends else self.mean_left_bps

    @property
    def mean_left_bps(self) -> int | None:
        """What it lets through beside its cross traffic over a long time; None without a limit."""
        return self._limited(self.rate_beside_bps)

    @property
    def queue_limit_bytes(self) -> int | None:
        """Bytes of IP packets that may wait: those of the plan, else the default of the rate.

        None where nothing bounds them: the plan counts packets instead, or there is no rate to wait for.
        """
        if self.queue_bytes is not None:
            return self.queue_bytes
        if self.rate_bps is None or self.queue_packets is not None:
            return None
        return lab_queue_bytes(self.rate_bps)

    @property
    def rate_beside_bps(self) -> int | None:
        """Its rate without what cross traffic takes on average."""
        taken_bps = 0 if self.cross is None else self.cross.mean_bps
        return None if self.rate_bps is None else self.rate_bps - taken_bps

    @property
    def rate_least_bps(self) -> int | None:
        """Its rate while cross traffic comes, if there is any."""
        taken_bps = 0 if self.cross is None else self.cross.rate_bps
        return None if self.rate_bps is None else self.rate_bps - taken_bps

    def _limited(self, rate_bps: int | None) -> int | None:
        limits = [rate_bps, None if self.policer is None else self.policer.rate_bps]
        return min((limit for limit in limits if limit is not None), default=None)


class Hop(Frozen):
    """One of the hops of a link."""

    forward: LinkDirection
    backward: LinkDirection


class Link(Frozen):
    """`[lab.links.NAME]`: an emulated path between two hosts, or a switch that joins more."""

    name: str
    between: tuple[str, ...]
    """Two hosts, or more."""
    mtu_bytes: int = defaults.LAB_MTU_BYTES
    forward: LinkDirection
    """From the first host to the second; of a switch, what each of its ports does, as in `backward`; of hops,
    what they do together."""
    backward: LinkDirection
    hops: tuple[Hop, ...] = ()
    """From the first host to the second, a router between each two of them; empty: the link is one hop."""
    icmp_interval_ns: int | None = None
    """From one ICMP error of a router, or of one of the hosts, to its next; absent: the kernel's limit."""

    @property
    def is_switch(self) -> bool:
        """Whether each of more than two hosts has a port of its own."""
        return len(self.between) > 2

    @property
    def is_emulated(self) -> bool:
        """Whether it does more than a shaper of the kernel can: then packets go through an emulator."""
        one, other = self.forward, self.backward
        if self.hops or one != other:
            return True
        emulated = (
            one.delay_ns,
            one.loss,
            one.duplicate,
            one.policer,
            one.cross,
            one.members,
            one.queue_packets,
        )
        return any(emulated)

    def direction(self, src: str, dst: str) -> LinkDirection | None:
        """What it does to packets from one host to another; None if it does not join them."""
        if src == dst or not {src, dst} <= set(self.between):
            return None
        return self.forward if self._is_forward(src, dst) else self.backward

    def ways(self, src: str, dst: str) -> tuple[LinkDirection, ...]:
        """What each of its hops does to packets from one host to another, in their order; one if it has none.

        Empty if it does not join them.
        """
        whole = self.direction(src, dst)
        if whole is None or not self.hops:
            return () if whole is None else (whole,)
        if self._is_forward(src, dst):
            return tuple(hop.forward for hop in self.hops)
        return tuple(hop.backward for hop in reversed(self.hops))

    def least_bps(self, src: str, dst: str) -> int | None:
        """What its rates leave at least between two hosts: of all hops, while their cross traffic comes.

        None without a limit, or where it does not join them.
        """
        rates = (way.rate_least_bps for way in self.ways(src, dst))
        return min((rate_bps for rate_bps in rates if rate_bps is not None), default=None)

    def varies(self, src: str, dst: str) -> bool:
        """Whether pauses of cross traffic change what it leaves: at times it is less than on average.

        That may be at another hop than the one that leaves least on average, which stands for them all.
        """
        whole, least_bps = self.direction(src, dst), self.least_bps(src, dst)
        mean_bps = None if whole is None else whole.mean_left_bps
        return least_bps is not None and mean_bps is not None and least_bps < mean_bps

    def _is_forward(self, src: str, dst: str) -> bool:
        return self.between.index(src) < self.between.index(dst)
