"""What run/ needs of a session with an engine: the border at which tests put a fake."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from flowsweep.errors import SessionError
from flowsweep.hosts.access import HostAccess
from flowsweep.hosts.clock import ClockExchange, ClockOffset
from flowsweep.hosts.inbox import Allowance, TrialEvent
from flowsweep.hosts.messages import HostFacts, Prepare, Start, Stop


class Channel(Protocol):
    """One trial's part of a session, as `hosts.session.TrialChannel`."""

    @property
    def bytes_received(self) -> int:
        """What came of the session so far."""

    @property
    def waiting(self) -> int:
        """How many events have come and were not received yet."""

    async def send(self, request: Prepare | Start | Stop) -> None:
        """Hand a request to the engine; raises SessionError."""

    async def receive(self) -> TrialEvent:
        """Wait for what the engine says next of this trial; raises SessionError."""

    def close(self) -> None:
        """Whatever still comes of this trial is dropped."""


class EngineSession(Protocol):
    """A session with one engine, as `hosts.session.Session`."""

    host: str
    lost: SessionError | None
    bytes_received: int
    """All that the engine has said."""

    async def clock(self) -> ClockExchange:
        """Ask once what the host's clock shows; raises SessionError."""

    async def describe(self, peers: Sequence[str] = ()) -> HostFacts:
        """Ask what the engine sees of its host, and of the routes to its peers; raises SessionError."""

    def channel(self, trial: str, allowance: Allowance) -> Channel:
        """Follow one trial, by its name in the session, of which no more may be said than is allowed."""

    async def close(self, patience_s: float | None = None) -> None:
        """End the engine, by force once it has taken this long; absent: as long as engines may take."""


@dataclass(frozen=True, slots=True)
class HostSession:
    """How a host is reached, the session with its engine, and what is known of its clock."""

    access: HostAccess
    engine: EngineSession
    clock: ClockOffset
