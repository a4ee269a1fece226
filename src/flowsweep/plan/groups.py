"""Groups of hosts: from the two names of a path to the pairs of hosts that exchange traffic."""

from collections.abc import Mapping, Sequence

HostPair = tuple[str, str]
"""The host that sends, and the one that receives."""


def members(groups: Mapping[str, Sequence[str]], name: str, pairs: int | None = None) -> tuple[str, ...]:
    """List the hosts that a name stands for: a group's, the first `pairs` of them if given; or that host."""
    return tuple(groups[name][:pairs]) if name in groups else (name,)


def host_pairs(sources: Sequence[str], sinks: Sequence[str]) -> tuple[HostPair, ...]:
    """Pair each source with each sink, the sinks fastest; a host that is both does not send to itself."""
    return tuple((source, sink) for source in sources for sink in sinks if source != sink)
