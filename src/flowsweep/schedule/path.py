"""What the emulated links of a plan carry between the hosts of a trial."""

from collections.abc import Iterable, Sequence

from flowsweep.plan.expansion import HostPair
from flowsweep.plan.model import Link


def path_rate_bps(links: Iterable[Link], pairs: Sequence[HostPair]) -> int | None:
    """Add up what all links that the pairs use carry (bit/s of IP packets), each in its direction.

    What cross traffic takes on average is not theirs.

    Of a switch it is that of the ports in use, on the side that has fewer.

    Returns:
        None where a link has no limit, or a pair of hosts no link of the plan.
    """
    rates: list[int] = []
    joined = 0
    for link in links:
        ways = {pair: way for pair in pairs if (way := link.direction(*pair)) is not None}
        if not ways:
            continue
        joined += len(ways)
        rate_bps = next(iter(ways.values())).left_bps
        if rate_bps is None:
            return None
        sources, sinks = ({pair[end] for pair in ways} for end in (0, 1))
        rates.append(rate_bps * min(len(sources), len(sinks)))
    return sum(rates) if rates and joined == len(pairs) else None


def path_mtu_bytes(links: Iterable[Link], pairs: Sequence[HostPair]) -> int | None:
    """Find the largest IP packet that all links between the pairs take; None without links."""
    used = (link.mtu_bytes for link in links if any(link.direction(*pair) for pair in pairs))
    return min(used, default=None)
