"""What the emulated links of a plan carry between the hosts of a trial."""

from collections.abc import Callable, Iterable, Sequence

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
    return _added_up(links, pairs, paths, lambda way: way.left_bps)


def carried_bps(links: Sequence[Link], pairs: Sequence[HostPair], paths: int | None) -> int | None:
    """Add up what all links that the pairs use let through at most, each in its direction.

    Args and returns: As of `path_rate_bps`.
    """
    return _added_up(links, pairs, paths, lambda way: way.carried_bps)


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


def _added_up(
    links: Sequence[Link],
    pairs: Sequence[HostPair],
    paths: int | None,
    rate_of: Callable[[LinkDirection], int | None],
) -> int | None:
    """Each way of a link counts once, of a switch once for each of its ports that it needs."""
    by_name = {link.name: link for link in links}
    used: dict[tuple[str, bool], list[HostPair]] = {}
    rates: dict[tuple[str, bool], int] = {}
    for pair in pairs:
        own = links_of(pair, links, paths)
        if not own:
            return None
        for name, way in own:
            link, rate_bps = by_name[name], rate_of(way)
            if rate_bps is None:
                return None
            back = not link.is_switch and pair[0] != link.between[0]
            used.setdefault((name, back), []).append(pair)
            rates[name, back] = rate_bps
    ports = ((key, [{pair[end] for pair in own} for end in (0, 1)]) for key, own in used.items())
    return sum(rates[key] * min(map(len, ends)) for key, ends in ports) if used else None
