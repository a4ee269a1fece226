"""`[lab.links.NAME]` as a person writes it."""

from typing import Annotated

from pydantic import Field

from flowsweep import defaults
from flowsweep.plan import fields
from flowsweep.plan.fields import Table, key


class PolicerTable(Table):
    """A policer (RFC 2697, one bucket): what exceeds its rate and burst is dropped, and nothing waits."""

    rate: fields.LinkRate = Field(description="Committed rate, of IP packets.", examples=["20Mbit/s"])
    burst: fields.Burst = Field(
        description="Committed burst size: what passes at once after a pause; a full packet at least.",
        examples=["100KB"],
    )


class CrossTable(Table):
    """Traffic of others on a link: it waits in the link's queue, and no host sends or receives it."""

    rate: fields.LinkRate = Field(
        description="Its rate of IP packets, evenly spaced, while it sends.", examples=["30Mbit/s"]
    )
    packet: fields.CrossPacket = key(
        "Size of its IP packets.", defaults.CROSS_PACKET_BYTES, written="1000B", examples=["200B"]
    )
    on: fields.Period | None = key(
        "How long it sends before each pause; it always sends if this and `off` are absent.",
        None,
        examples=["500ms"],
    )
    off: fields.Period | None = key("How long each pause is.", None, examples=["1s"])
    poisson: bool = key(
        "Whether `on` and `off` are means of times that are drawn (exponentially), in place of fixed ones.",
        default=False,
    )


class DirectionTable(Table):
    """What a link does to packets in one of its two directions."""

    rate: fields.LinkRate | None = key(
        "Rate of IP packets, without Ethernet framing; unlimited if absent.", None, examples=["200Mbit/s"]
    )
    queue: fields.Queue | None = key(
        "Queue limit in bytes (drop-tail); chosen to suit the rate if absent.", None, examples=["1.1MB"]
    )
    queue_packets: fields.QueuePackets | None = key(
        "Queue limit in IP packets (drop-tail). With `queue`, whichever limit is reached first applies.",
        None,
        examples=[100],
    )
    delay: fields.LinkDelay | None = key(
        "From the end of a packet's transmission to its arrival, one way; none if absent.",
        None,
        examples=["87.5ms"],
    )
    jitter: fields.LinkDelay | None = key(
        "Each packet's delay is drawn evenly from `delay` ± this, at most `delay`; none if absent.",
        None,
        examples=["2ms"],
    )
    reorder: bool | None = key(
        "Whether jitter lets packets overtake each other; they stay in order if absent.", None
    )
    loss: fields.Chance | None = key(
        "Probability that a packet is lost, from 0 to below 1; none if absent.",
        None,
        examples=["0.1%", 0.001],
    )
    duplicate: fields.Chance | None = key(
        "Probability that a packet arrives twice, if it is not lost, from 0 to below 1; none if absent.",
        None,
        examples=["0.1%", 0.001],
    )
    policer: PolicerTable | None = key(
        "What packets pass before the queue: it drops what exceeds its rate and burst; none if absent.",
        None,
        examples=[{"rate": "20Mbit/s", "burst": "100KB"}],
    )
    cross: CrossTable | None = key(
        "Traffic of others that shares the queue; none if absent.",
        None,
        examples=[{"rate": "30Mbit/s", "on": "500ms", "off": "1s"}],
    )


class WaysTable(DirectionTable):
    """What one path does to packets in both directions."""

    forward: DirectionTable = key(
        "Settings that differ in the direction from the first host to the second.",
        DirectionTable(),
        examples=[{"loss": "0.1%"}],
    )
    backward: DirectionTable = key(
        "Settings that differ in the direction from the second host to the first.",
        DirectionTable(),
        examples=[{"rate": "1Mbit/s"}],
    )

    def ways(self) -> dict[str, DirectionTable]:
        """The two directions by name, with what both have in common."""
        common = {name: getattr(self, name) for name in DirectionTable.model_fields}
        return {
            name: DirectionTable.model_construct(
                **{
                    key: value if (ours := getattr(own, key)) is None else ours
                    for key, value in common.items()
                }
            )
            for name, own in (("forward", self.forward), ("backward", self.backward))
        }


class MemberTable(WaysTable):
    """One of several paths side by side."""

    dscp: fields.Dscp | None = key(
        "This path is for packets of this DSCP (RFC 2474), and for no others; of one without, which one is "
        "needed, for all whose DSCP no path has.",
        None,
        examples=[8],
    )


class HopTable(WaysTable):
    """What a link, or one hop of it, does to packets in both directions."""

    members: (
        Annotated[list[MemberTable], Field(min_length=defaults.MEMBERS_MIN, max_length=defaults.MEMBERS_MAX)]
        | None
    ) = key(
        "Paths side by side, each with a rate, queue, delay, … of its own; every flow takes one (ECMP), that "
        "of its `dscp` if there is one. One path if absent.",
        None,
        examples=[[{"rate": "50Mbit/s", "delay": "5ms"}, {"rate": "20Mbit/s", "delay": "20ms"}]],
    )


class LinkTable(HopTable):
    """An emulated path between two hosts, or a switch between more; they are made on this machine."""

    between: Annotated[list[fields.Name], Field(min_length=2)] = key(
        "The two hosts. With more, the link is a switch: each has a port of that rate and queue.",
        [],
        examples=[["left", "right"]],
    )
    mtu: fields.Mtu = key("Largest IP packet.", defaults.LAB_MTU_BYTES, written="1500B", examples=["9000B"])
    hops: Annotated[list[HopTable], Field(min_length=1, max_length=defaults.LAB_HOPS_MAX)] | None = key(
        "Hops from the first host to the second, each with a rate, queue, delay, … of its own, and a router "
        "between each two of them; the link is one hop if absent.",
        None,
        examples=[[{"rate": "100Mbit/s", "delay": "2ms"}, {"rate": "10Mbit/s", "delay": "5ms"}]],
    )
    icmp_interval: fields.IcmpInterval | None = key(
        "From one ICMP error (time exceeded, unreachable) of a router or host of this link to its next; 0s: "
        "as many as the kernel sends to all together (net.ipv4.icmp_msgs_per_sec). The kernel's own for each "
        "receiver if absent: six at once, then one a second.",
        None,
        examples=["10ms"],
    )
