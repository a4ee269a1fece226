"""What the emulated links of a plan carry between the hosts of a trial."""

from collections.abc import Iterable, Sequence

from flowsweep.plan.hosts.expansion import HostPair
from flowsweep.plan.links.model import Link, LinkDirection


def path_rate_bps(links: Sequence[Link], pairs: Sequence[HostPair], paths: int | None = 1) -> int | None:
    """Add up what all links that the pairs use carry (bit/s of IP packets), each in its direction.

    What cross traffic takes on average is not theirs.

    Of a switch it is that of the ports in use, on the side that has fewer.

    Args:
        links: Of the plan, in its order.
        pairs: Of hosts.
        paths: Of links between the same two hosts, how many of the first ones a pair uses; None: all.

    Returns:
        None where a link has no limit, or a pair of hosts no link of the plan.
    """
    used: dict[str, list[tuple[HostPair, LinkDirection]]] = {}
    for pair in pairs:
        own = links_of(pair, links, paths)
        if not own:
            return None
        for name, way in own:
            used.setdefault(name, []).append((pair, way))
    rates = []
    for taken in used.values():
        rate_bps = taken[0][1].left_bps
        if rate_bps is None:
            return None
        sources, sinks = ({pair[end] for pair, _ in taken} for end in (0, 1))
        rates.append(rate_bps * min(len(sources), len(sinks)))
    return sum(rates) if rates else None


def path_mtu_bytes(links: Sequence[Link], pairs: Sequence[HostPair], paths: int | None = 1) -> int | None:
    """Find the largest IP packet that all links that the pairs use take; None without links."""
    used = {name for pair in pairs for name, _ in links_of(pair, links, paths)}
    return min((link.mtu_bytes for link in links if link.name in used), default=None)


def links_of(pair: HostPair, links: Iterable[Link], paths: int | None) -> list[tuple[str, LinkDirection]]:
    """Name the links that a pair of hosts uses, each with its direction.

    Args:
        pair: Of hosts.
        links: Of the plan, in its order.
        paths: Of links between the two, how many of the first ones it uses; None: all.
    """
    joining = ((link.name, link.direction(*pair)) for link in links)
    return [(name, way) for name, way in joining if way is not None][:paths]
