"""What a plan stands for: the hosts of a name, pairs of hosts, the trials of a search."""

from collections.abc import Mapping, Sequence
from typing import Literal


def halvings(low: int, high: int, resolution: int) -> int:
    """Return how many trials find the last of evenly spaced rates that is carried, or that none is.

    With 2**n - 1 rates there are 2**n answers, so that it takes n trials, neither more nor fewer: as few as
    bring the rates no further apart than the resolution.

    Args:
        low: The lowest rate.
        high: The highest, above it.
        resolution: At most the difference of the two.
    """
    steps = -(-(high - low) // resolution)
    return (steps + 1).bit_length()


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
