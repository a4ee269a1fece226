"""Who takes part: Flowsweep's engine in each mode, and the other tools."""

from dataclasses import dataclass
from typing import Literal, Protocol

from against.path import BenchPath

Kind = Literal["copy", "zerocopy", "discard"]
"""What a contender spares itself: nothing; the source's copy; or (also) the sink's."""
KINDS: tuple[Kind, ...] = ("copy", "zerocopy", "discard")


@dataclass(frozen=True, slots=True)
class Sending:
    """What a contender is asked to do."""

    flows: int
    length_bytes: int
    seconds: float


class RunError(Exception):
    """A run of a contender failed."""


class Contender(Protocol):
    """What can send over a path."""

    @property
    def name(self) -> str:
        """As the tables call it."""

    @property
    def kind(self) -> Kind:
        """Which peers are its like."""

    async def run(self, path: BenchPath, sending: Sending) -> float:
        """Send as asked; returns what its receiver got by its own account, in bit/s.

        Raises:
            RunError: it did not get to that.
        """


def is_peer_of(peer: Kind, ours: Kind) -> bool:
    """Whether a peer counts in the comparison of one of our modes: it may copy more than that, not less."""
    return KINDS.index(peer) <= KINDS.index(ours)
