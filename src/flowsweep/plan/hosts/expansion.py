"""What the names of hosts and groups stand for: hosts, and pairs of them."""

from collections.abc import Mapping, Sequence
from typing import Literal

Mesh = Literal["full", "pairs"]
HostPair = tuple[str, str]
"""The host that sends, and the one that receives."""


def members(groups: Mapping[str, Sequence[str]], name: str, pairs: int | None = None) -> tuple[str, ...]:
    """List the hosts that a name stands for: a group's, the first `pairs` of them if given; or that host."""
    return tuple(groups[name][:pairs]) if name in groups else (name,)


def host_pairs(sources: Sequence[str], sinks: Sequence[str]) -> tuple[HostPair, ...]:
    """Pair each source with each sink, the sinks fastest; a host that is both does not send to itself."""
    return tuple((source, sink) for source in sources for sink in sinks if source != sink)


def mesh_pairs(
    groups: Mapping[str, Sequence[str]], src: str, dst: str, mesh: Mesh | None, pairs: int | None = None
) -> tuple[HostPair, ...]:
    """Pair the hosts of a path that take part, in one trial or, of a mesh, in a trial each.

    Each with each; of a mesh of pairs the first with the first, as far as the smaller group goes. A plan with
    such groups of other sizes is refused, but its trials are counted before.
    """
    sources, sinks = members(groups, src, pairs), members(groups, dst, pairs)
    return tuple(zip(sources, sinks, strict=False)) if mesh == "pairs" else host_pairs(sources, sinks)
