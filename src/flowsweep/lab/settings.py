"""The kernel settings of a lab's namespaces; docs/guide/lab.md lists them with reasons."""

from collections.abc import Iterable, Mapping, Sequence

from flowsweep import defaults
from flowsweep.lab.command import command
from flowsweep.plan.links.model import Link

TCP_BUFFER_MINIMUM_BYTES = 4096
TCP_RECEIVE_INITIAL_BYTES = 131_072
TCP_SEND_INITIAL_BYTES = 16_384
"""The kernel's own minimum and initial values (tcp(7)); only the maximum is the lab's."""

KEEP_ADDRESSES = {"net/ipv6/conf/default/keep_addr_on_down": "1"}
NO_DUPLICATE_DETECTION = {"net/ipv6/conf/all/accept_dad": "0", "net/ipv6/conf/default/accept_dad": "0"}


def of_host(links: Sequence[Link], *, ipv6: bool) -> dict[str, str]:
    """Settings of a host that has these links, by path below /proc/sys."""
    buffer_max_bytes = max([defaults.LAB_TCP_BUFFER_MIN_BYTES, *map(_buffer_bytes, links)])
    own = {
        "net/ipv4/tcp_no_metrics_save": "1",
        "net/ipv4/tcp_rmem": f"{TCP_BUFFER_MINIMUM_BYTES} {TCP_RECEIVE_INITIAL_BYTES} {buffer_max_bytes}",
        "net/ipv4/tcp_wmem": f"{TCP_BUFFER_MINIMUM_BYTES} {TCP_SEND_INITIAL_BYTES} {buffer_max_bytes}",
    }
    own |= _of_icmp(links, ipv6=ipv6)
    return own | (KEEP_ADDRESSES | NO_DUPLICATE_DETECTION if ipv6 else {})


def of_router(link: Link, *, ipv6: bool) -> dict[str, str]:
    """Settings of a link's router, by path below /proc/sys."""
    forwarding = {"net/ipv4/ip_forward": "1"} | _of_icmp([link], ipv6=ipv6)
    if not ipv6:
        return forwarding
    return forwarding | {"net/ipv6/conf/all/forwarding": "1"} | KEEP_ADDRESSES | NO_DUPLICATE_DETECTION


def apply(namespace: str, values: Mapping[str, str]) -> None:
    """Write settings inside a namespace.

    By the shell and /proc, since `sysctl` is not everywhere.

    Raises:
        LabError: The kernel refused one; the message names its path.
    """
    script = "".join(f"echo '{value}' >/proc/sys/{path}\n" for path, value in values.items())
    command(["ip", "netns", "exec", namespace, "sh", "-e"], text=script)


def _of_icmp(links: Iterable[Link], *, ipv6: bool) -> dict[str, str]:
    """The shortest interval between errors that one of the links asks for (icmp(7), in ms)."""
    asked = [link.icmp_interval_ns for link in links if link.icmp_interval_ns is not None]
    paths = ("net/ipv4/icmp_ratelimit", *(("net/ipv6/icmp/ratelimit",) if ipv6 else ()))
    return {path: str(min(asked) // defaults.MILLISECOND_NS) for path in paths if asked}


def _buffer_bytes(link: Link) -> int:
    """Room for autotuning over a link: a power of two, four times what the path and its queues can hold.

    Twice, because of a receive buffer the kernel offers about half as window, and counts its own overhead in
    a send buffer; and twice again, because autotuning stops at the maximum, and shall not.
    """
    ways = (link.forward, link.backward)
    round_trip_ns = sum(way.delay_ns + way.jitter_ns for way in ways)
    held_bytes = 0
    for way in ways:
        rate_bps = way.rate_bps or defaults.LAB_UNLIMITED_RATE_BPS
        queue_bytes = way.queue_limit_bytes or (way.queue_packets or 0) * link.mtu_bytes
        held_bytes = max(held_bytes, rate_bps * round_trip_ns // (8 * defaults.SECOND_NS) + queue_bytes)
    return int(min(1 << (4 * held_bytes - 1).bit_length(), defaults.LAB_TCP_BUFFER_MAX_BYTES))
