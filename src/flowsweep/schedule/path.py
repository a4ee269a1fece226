"""What the emulated links of a plan carry between the hosts of a trial."""

from collections.abc import Callable, Iterable, Sequence

from flowsweep.defaults import BITS_PER_BYTE, SECOND_NS
from flowsweep.plan.hosts.expansion import HostPair
from flowsweep.plan.links.model import Link, LinkDirection
from flowsweep.schedule.trial import Trial
from flowsweep.tests import facts_of

_BURST_MAX = 0.005
"""Of the time that counts: a burst that passes in less at the policer's rate is left out."""
_USED_UP = 10
"""So many times what a bucket takes to fill must be omitted for it to be empty: traffic above the rate by a
tenth has emptied it by then."""


def path_rate_bps(
    links: Sequence[Link],
    pairs: Sequence[HostPair],
    paths: int | None = 1,
    *,
    omitted_ns: int = 0,
    counted_ns: int | None = None,
) -> int | None:
    """Add up what all links that the pairs use carry (bit/s of IP packets), each in its direction.

    What cross traffic takes on average is not theirs.

    Of a switch it is that of the ports in use, on the side that has fewer.

    Args:
        links: Of the plan, in its order.
        pairs: Of hosts.
        paths: Of links between the same two hosts, how many of the first ones a pair uses; None: all.
        omitted_ns: How long traffic is sent before what counts begins.
        counted_ns: How long it counts at least; None: as long as may be.

    Returns:
        None where a link has no limit, or a pair of hosts no link of the plan; and where the burst of a
        policer may be much of what passes in the time that counts.
    """

    def left_bps(link: Link, pair: HostPair, way: LinkDirection) -> int | None:
        uncertain = link.varies(*pair) or _bursts(way, omitted_ns, counted_ns)
        return None if uncertain else way.left_bps

    return _added_up(links, pairs, paths, left_bps)


def carried_bps(links: Sequence[Link], pairs: Sequence[HostPair], paths: int | None) -> int | None:
    """Add up what all links that the pairs use let through at most, each in its direction.

    Args and returns: As of `path_rate_bps`.
    """
    return _added_up(links, pairs, paths, lambda _link, _pair, way: way.carried_bps)


def _bursts(way: LinkDirection, omitted_ns: int, counted_ns: int | None) -> bool:
    """Whether more than a policer's rate may pass on average, since its bucket was full when time began."""
    policer = way.policer
    if counted_ns is None or policer is None or policer.rate_bps != way.left_bps:
        return False
    fills_ns = policer.burst_bytes * BITS_PER_BYTE * SECOND_NS / policer.rate_bps
    return fills_ns > _BURST_MAX * counted_ns and omitted_ns < _USED_UP * fills_ns


def trial_rate_bps(links: Sequence[Link], trial: Trial) -> int | None:
    """`path_rate_bps` of a trial, in the time that counts of it. How long a job takes is not known before."""
    parameters, facts = trial.parameters, facts_of(trial.test)
    omitted_ns = 0 if facts.job else getattr(parameters, "omit_ns", 0)
    counted_ns = 0 if facts.job else max(0, parameters.shortest_ns - omitted_ns)
    return path_rate_bps(
        links,
        trial.pairs,
        parameters.paths,
        omitted_ns=omitted_ns,
        counted_ns=counted_ns if facts.bulk else None,
    )


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
    rate_of: Callable[[Link, HostPair, LinkDirection], int | None],
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
            link = by_name[name]
            rate_bps = rate_of(link, pair, way)
            if rate_bps is None:
                return None
            back = not link.is_switch and pair[0] != link.between[0]
            used.setdefault((name, back), []).append(pair)
            rates[name, back] = rate_bps
    ports = ((key, [{pair[end] for pair in own} for end in (0, 1)]) for key, own in used.items())
    return sum(rates[key] * min(map(len, ends)) for key, ends in ports) if used else None
