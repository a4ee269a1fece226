"""What stands in for the session with a host where no engine is."""

from collections.abc import Sequence
from typing import NoReturn

from flowsweep.errors import SessionError
from flowsweep.hosts.clock import ClockExchange
from flowsweep.hosts.inbox import Allowance, TrialEvent
from flowsweep.hosts.messages import HostFacts, Prepare, Start, Stop


class NoEngine:
    """Nobody to talk to: whatever is asked of it fails, and nothing has to be closed."""

    lost: SessionError | None = None
    bytes_received = 0

    def __init__(self, host: str) -> None:
        self.host = host

    async def clock(self) -> ClockExchange:
        """Nobody tells the time."""
        self._refuse()

    async def describe(self, peers: Sequence[str] = ()) -> HostFacts:
        """Nobody looks at the host."""
        self._refuse()

    def channel(self, trial: str, allowance: Allowance) -> "NoChannel":
        """A channel on which nothing is ever said."""
        return NoChannel(self.host)

    async def close(self, patience_s: float | None = None) -> None:
        """There is nothing to end."""

    def _refuse(self) -> NoReturn:
        raise SessionError(self.host, "no engine is there")


class NoChannel:
    """One trial's part of it."""

    bytes_received = 0
    waiting = 0

    def __init__(self, host: str) -> None:
        self._host = host

    async def send(self, request: Prepare | Start | Stop) -> None:
        """Nobody hears it."""
        raise SessionError(self._host, "no engine is there")

    async def receive(self) -> TrialEvent:
        """Nobody says anything."""
        raise SessionError(self._host, "no engine is there")

    def close(self) -> None:
        """Nothing comes."""
