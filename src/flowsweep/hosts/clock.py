"""How far a host's clock is from the controller's, asked over the control channel.

Cristian, "Probabilistic clock synchronization", 1989: the host read its clock somewhere between question and
answer, so of several exchanges the one with the shortest round trip says most. Its middle is the estimate;
half of it bounds the error, however unlike the two ways are. NTP (RFC 5905) does the same, and lets the bound
grow with time, as is done here.
"""

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Protocol

from flowsweep.defaults import CLOCK_EXCHANGES, CLOCK_TURN_S, PAD_PER_DURATION, SESSION_REQUEST_TIMEOUT_S
from flowsweep.errors import SessionError


@dataclass(frozen=True, slots=True)
class ClockExchange:
    """One question for a host's clock, and its answer."""

    asked_unix_ns: int
    """When the question was written, by the controller's clock."""
    answered_unix_ns: int
    """What the host's clock showed."""
    round_trip_ns: int
    """From question to answer, by a clock that nobody sets."""


@dataclass(frozen=True, slots=True)
class ClockOffset:
    """An estimate of a host's clock minus the controller's."""

    offset_ns: int
    bound_ns: int
    """The true offset is no further from `offset_ns` than this."""
    measured_ns: int
    """When, on the controller's monotonic clock."""

    def aged(self, now_ns: int) -> "ClockOffset":
        """What is known of the offset later: clocks may differ in speed by `PAD_PER_DURATION`."""
        drift_ns = round((now_ns - self.measured_ns) * PAD_PER_DURATION)
        return replace(self, bound_ns=self.bound_ns + drift_ns, measured_ns=now_ns)


SAME_CLOCK = ClockOffset(offset_ns=0, bound_ns=0, measured_ns=0)
"""Of a host that reads the controller's own clock; it does not age."""


class HostClock(Protocol):
    """Something that can ask a host for its clock, as `hosts.session.Session`."""

    host: str

    async def clock(self) -> ClockExchange:
        """Ask once; raises SessionError."""


def offset_of(exchanges: Sequence[ClockExchange], measured_ns: int) -> ClockOffset:
    """Estimate an offset from at least one exchange."""
    shortest = min(exchanges, key=lambda exchange: exchange.round_trip_ns)
    half_ns = -(-shortest.round_trip_ns // 2)
    return ClockOffset(shortest.answered_unix_ns - shortest.asked_unix_ns - half_ns, half_ns, measured_ns)


class Clocks:
    """Asks the clocks of several hosts, so that near ones do not wait for each other's answers to be read.

    A question is asked when the one before is answered, or has been on its way for `CLOCK_TURN_S`.
    """

    def __init__(self) -> None:
        self._turn = asyncio.Lock()

    async def measure_offset(self, host: HostClock) -> ClockOffset:
        """Ask a host for its clock a few times, one question after the other.

        Raises:
            SessionError: The session is lost, or no answer came in time.
        """
        exchanges: list[ClockExchange] = []
        with suppress(TimeoutError):
            async with asyncio.timeout(SESSION_REQUEST_TIMEOUT_S):
                while len(exchanges) < CLOCK_EXCHANGES:
                    exchanges.append(await self._ask(host))
        if not exchanges:
            reason = f"its clock was not told within {SESSION_REQUEST_TIMEOUT_S:g} s"
            raise SessionError(host.host, reason)
        return offset_of(exchanges, time.monotonic_ns())

    async def _ask(self, host: HostClock) -> ClockExchange:
        await self._turn.acquire()
        asking = asyncio.ensure_future(host.clock())
        try:
            await asyncio.wait({asking}, timeout=CLOCK_TURN_S)
        except asyncio.CancelledError:
            asking.cancel()
            raise
        finally:
            self._turn.release()
        return await asking
