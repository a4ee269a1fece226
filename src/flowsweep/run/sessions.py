"""The sessions of a campaign: opened all at once, kept over all trials, regained when lost."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from flowsweep.defaults import ENGINE_CUT_OFF_TIMEOUT_S, RECONNECT_FIRST_PAUSE_S, RECONNECT_FOR_S
from flowsweep.errors import LaunchError, SessionError
from flowsweep.hosts.access import HostAccess
from flowsweep.hosts.clock import SAME_CLOCK, ClockOffset, Clocks
from flowsweep.hosts.iperf3 import login_of
from flowsweep.hosts.messages import HostFacts
from flowsweep.hosts.of_plan import LOOPBACK, shares_loopback
from flowsweep.plan.model import Iperf3Peer
from flowsweep.run.engines import EngineSession, HostSession
from flowsweep.run.events import EventListener, SessionLost, SessionRegained
from flowsweep.run.no_engine import NoEngine

Connector = Callable[[HostAccess], Awaitable[EngineSession]]
FactsKeeper = Callable[[Mapping[str, HostFacts]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Patience:
    """How a lost session is regained: pauses double from the first one, in seconds."""

    first_pause_s: float = RECONNECT_FIRST_PAUSE_S
    for_s: float = RECONNECT_FOR_S


class Sessions:
    """One session for each host of a campaign."""

    def __init__(
        self,
        accesses: Mapping[str, HostAccess],
        connector: Connector,
        events: EventListener,
        patience: Patience,
        keep_facts: FactsKeeper,
    ) -> None:
        self._accesses = accesses
        self._connector = connector
        self._events = events
        self._patience = patience
        self._keep_facts = keep_facts
        self._sessions: dict[str, EngineSession] = {}
        self._clocks = Clocks()
        self._offsets: dict[str, ClockOffset] = {}
        self._given_up: set[str] = set()
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        """Trials that run at the same time regain a lost session once."""

    async def open_all(
        self, *, enough: Callable[[Collection[str]], bool]
    ) -> Sequence[LaunchError | SessionError]:
        """Start every host's engine, and keep what it sees of its host.

        Args:
            enough: Says, where some engines cannot be had, whether it goes on for now with those of these
                hosts; hosts that are servers are among them.

        Returns:
            Why others cannot be had; each of their trials tries once, since others may be due meanwhile. No
            engine is started where a login to a server is not known.

        Raises:
            LaunchError, SessionError: it does not go on; those that could be had are closed again.
        """
        away = self._unknown_logins()
        names = [] if away else [name for name, access in self._accesses.items() if access.server is None]
        answers = await asyncio.gather(*(self._open(name) for name in names), return_exceptions=True)
        facts, silent = {}, set()
        for name, answer in zip(names, answers, strict=True):
            if isinstance(answer, LaunchError | SessionError):
                away.append(answer)
                silent.add(name)
            elif isinstance(answer, BaseException):
                await self.close_all()
                raise answer
            else:
                facts[name] = answer
        servers = {name for name, access in self._accesses.items() if access.server is not None}
        if away and not enough(servers | facts.keys()):
            await self.close_all()
            raise away[0]
        self._given_up |= silent
        await self._keep_facts(facts)
        return away

    def _unknown_logins(self) -> list[LaunchError | SessionError]:
        found: list[LaunchError | SessionError] = []
        for host, access in self._accesses.items():
            if isinstance(access.server, Iperf3Peer):
                try:
                    login_of(host, access.server)
                except LaunchError as error:
                    found.append(error)
        return found

    async def session_with(self, host: str, *, ask_clock: bool = False) -> HostSession:
        """The session with a host, which works as far as one can know without asking.

        Args:
            host: its name.
            ask_clock: whether its clock is asked for again, if it is not this machine's; else what was known
                when the session opened has aged.

        Raises:
            LaunchError, SessionError: it is lost, and could not be regained. Once a host was waited for in
                vain, later calls try only once.
        """
        if self._accesses[host].server is not None:
            return HostSession(self._accesses[host], NoEngine(host), SAME_CLOCK)
        async with self._turns[host]:
            await self._have(host, ask_clock=ask_clock)
            return HostSession(self._accesses[host], self._sessions[host], self._clock(host))

    async def _have(self, host: str, *, ask_clock: bool) -> None:
        """Have a session with a host that works as far as one can know."""
        session = self._sessions.get(host)
        if session is None or session.lost is not None:
            if session is not None and session.lost is not None:
                self._events(SessionLost(host, session.lost.reason))
                await session.close()
                del self._sessions[host]
            await self._regain(host)
        elif ask_clock and not await self._answers_for_its_clock(host, session):
            await self._have(host, ask_clock=False)

    async def close_all(self) -> None:
        """End every engine."""
        sessions = list(self._sessions.values())
        self._sessions.clear()
        await asyncio.gather(*(session.close() for session in sessions))

    async def _open(self, host: str) -> HostFacts:
        session = await self._connector(self._accesses[host])
        try:
            facts = await session.describe(self._peers_of(host))
            await self._ask_clock(host, session)
        except (SessionError, asyncio.CancelledError):
            await session.close()
            raise
        self._sessions[host] = session
        return facts

    async def _ask_clock(self, host: str, session: EngineSession) -> None:
        if not self._accesses[host].shares_clock:
            self._offsets[host] = await self._clocks.measure_offset(session)

    async def _answers_for_its_clock(self, host: str, session: EngineSession) -> bool:
        """Ask for a host's clock; whether the session was still there for it. A silent one is closed."""
        received = session.bytes_received
        try:
            await self._ask_clock(host, session)
        except SessionError:
            if session.lost is None:
                if session.bytes_received > received:
                    raise  # Something else is on its way, such as a large table of a trial beside this one.
                # Nothing comes any more, as where a NAT has forgotten the connection.
                await session.close(ENGINE_CUT_OFF_TIMEOUT_S)
            return False
        return True

    def _clock(self, host: str) -> ClockOffset:
        if self._accesses[host].shares_clock:
            return SAME_CLOCK
        return self._offsets[host].aged(time.monotonic_ns())

    def _peers_of(self, host: str) -> list[str]:
        """Where this host reaches the others: the routes to these addresses are among its facts.

        This machine's loopback is no way to it from elsewhere, where these addresses are another machine's.
        """
        addresses = (access.addresses.get(host, ()) for access in self._accesses.values())
        elsewhere = () if shares_loopback(self._accesses[host].launch) else LOOPBACK
        known = dict.fromkeys(known for peer in addresses for known in peer if known not in elsewhere)
        return [one.address for one in known]

    async def _regain(self, host: str) -> None:
        clock = asyncio.get_running_loop().time
        until = clock() + (0 if host in self._given_up else self._patience.for_s)
        pause_s = self._patience.first_pause_s
        while True:
            try:
                facts = await self._open(host)
            except (LaunchError, SessionError):
                if clock() + pause_s > until:
                    self._given_up.add(host)
                    raise
            else:
                self._given_up.discard(host)
                # The host may have started again since, with another kernel or other settings.
                await self._keep_facts({host: facts})
                self._events(SessionRegained(host))
                return
            await asyncio.sleep(pause_s)
            pause_s *= 2
