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


def mesh_pairs(groups: Mapping[str, Sequence[str]], src: str, dst: str, mesh: Mesh) -> tuple[HostPair, ...]:
    """Pair hosts that are measured one pair after the other: each with each, or the first with the first."""
    sources, sinks = members(groups, src), members(groups, dst)
    return host_pairs(sources, sinks) if mesh == "full" else tuple(zip(sources, sinks, strict=True))
