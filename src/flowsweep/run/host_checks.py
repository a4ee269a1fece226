"""A look at every host of a plan before its trials: sessions, clocks, and ends that meet without traffic."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from flowsweep.defaults import CLOCK_FAR_OFF_NS, PAIRS_CONNECTING_MAX
from flowsweep.errors import LaunchError, SessionError
from flowsweep.hosts.access import HostAccess
from flowsweep.hosts.iperf3 import login_of
from flowsweep.hosts.messages import HostFacts
from flowsweep.hosts.namespaces import where_written
from flowsweep.hosts.opening import open_session
from flowsweep.plan.model import Iperf3Peer, ServerPeer
from flowsweep.run.deadlines import Deadlines
from flowsweep.run.engines import HostSession
from flowsweep.run.outcome import Failure
from flowsweep.run.pair import Pair
from flowsweep.run.preflight import (
    HostCheck,
    Use,
    checks_of_facts,
    over_version,
    uses_of,
    with_this_engine,
)
from flowsweep.run.sessions import Connector, Patience, Sessions
from flowsweep.run.traffic import Traffic
from flowsweep.run.trial_end import TrialError
from flowsweep.schedule import Slot
from flowsweep.schedule.parameters import Parameters
from flowsweep.wording import direction, format_duration

_ANSWERS = "an engine that answers"
_NOT_REACHED = frozenset(("accept_timeout", "connect", "connect_timeout", "no_free_port"))
_CONGESTION_REFUSED = frozenset(("congestion_forbidden", "congestion_unavailable"))
"""Kinds of failures, as engines have them, of which one knows what to do."""
_ALLOWED = "net.ipv4.tcp_allowed_congestion_control"
_NO_PATIENCE = Patience(first_pause_s=1.0, for_s=0.0)
"""A host that cannot be reached now is what is to be found out."""


async def look_at_hosts(
    slots: Sequence[Slot], accesses: Mapping[str, HostAccess], connector: Connector = open_session
) -> list[HostCheck]:
    """Reach every host of a plan, and find out whether its trials can run there. No traffic is sent.

    Engines are started as for a campaign. For each pair of hosts both ends get ready and meet as for a trial,
    once for each test and IP version, and once for each of its congestion controls; then they are stopped.

    Args:
        slots: What the plan would run.
        accesses: All its hosts.
        connector: How a session is opened.

    Returns:
        One row for each host and thing that was looked at, by host in the plan's order.
    """
    look = _Look(accesses, uses_of(trial for slot in slots for trial in slot.planned))

    async def keep_facts(facts: Mapping[str, HostFacts]) -> None:
        look.facts.update(facts)

    sessions = Sessions(accesses, connector, lambda _: None, _NO_PATIENCE, keep_facts)
    try:
        reached = await asyncio.gather(*(look.reach(host, sessions) for host in accesses))
        seen = checks_of_facts(look.uses, accesses, look.facts)
        met = await look.have_pairs_meet()
    finally:
        await sessions.close_all()
    hosts = list(accesses)
    found = [*(check for checks in reached for check in checks), *seen, *met]
    return sorted(found, key=lambda check: hosts.index(check.host))


@dataclass(frozen=True, slots=True)
class _Look:
    accesses: Mapping[str, HostAccess]
    uses: Sequence[Use]
    sessions: dict[str, HostSession] = field(default_factory=dict)
    facts: dict[str, HostFacts] = field(default_factory=dict)
    listening: defaultdict[str, asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))
    """A host may have one port only."""
    connecting: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(PAIRS_CONNECTING_MAX))
    numbers: "count[int]" = field(default_factory=lambda: count(1))

    async def reach(self, host: str, sessions: Sessions) -> list[HostCheck]:
        """Open a session with a host, if it has an engine, and tell what its clock shows."""
        access = self.accesses[host]
        if access.server is not None:
            return [_server(host, access.server)]
        begun = asyncio.get_running_loop().time()
        try:
            session = self.sessions[host] = await sessions.session_with(host)
        except (LaunchError, SessionError) as error:
            return [HostCheck(host, "reached", "problem", error.reason, _ANSWERS, _to_do(error, access))]
        took_ns = (asyncio.get_running_loop().time() - begun) * 1e9
        found = f"the engine answered after {format_duration(took_ns)}"
        return [HostCheck(host, "reached", "ok", found, _ANSWERS), _clock(session)]

    async def have_pairs_meet(self) -> list[HostCheck]:
        """Find out whether the ends of every pair reach each other, and what kernels refuse them."""
        plain: dict[_Way, Use] = {}
        congestions: dict[tuple[str, str, str], Use] = {}
        for use in self.uses:
            if use.src in self.sessions and use.dst in self.sessions:
                plain.setdefault(_way(use), use)
                if use.parameters.congestion_asked is not None:
                    asked = (use.src, use.parameters.test, use.parameters.congestion_asked)
                    congestions.setdefault(asked, use)
        met = await asyncio.gather(*(self._reached(use) for use in plain.values()))
        apart = {way for way, check in zip(plain, met, strict=True) if check.status == "problem"}
        granted = await asyncio.gather(
            *(
                self._congestion(use, name, met=_way(use) not in apart)
                for (_, _, name), use in congestions.items()
            )
        )
        return [*met, *granted]

    async def _reached(self, use: Use) -> HostCheck:
        listens = self.accesses[use.dst].listens
        listener, connector = (use.dst, use.src) if listens else (use.src, use.dst)
        protocol = use.parameters.protocol
        untried = use.parameters.untried
        what = f"{untried or protocol} from {connector}{over_version(use.parameters.family)}"
        expected = f"{direction(use.src, use.dst)} meet at a port of {listener}"
        failure = await self._meet(use, use.parameters.plain())
        if failure is None and untried is not None:
            found = f"they met by {protocol}; {untried} was not tried"
            return HostCheck(listener, what, "not known", found, f"an answer to {untried}")
        if failure is None:
            return HostCheck(listener, what, "ok", "they met", expected)
        advice = ""
        if failure.kind in _NOT_REACHED:
            advice = _open_ports(self.accesses[listener], connector, protocol)
        return HostCheck(listener, what, "problem", _failure_text(failure), expected, advice)

    async def _congestion(self, use: Use, name: str, *, met: bool) -> HostCheck:
        what, expected = "congestion control", f"{name} may be used by {use.parameters.test}"
        if not met:
            found = f"{direction(use.src, use.dst)} do not meet"
            return HostCheck(use.src, what, "not known", found, expected)
        asked = use.parameters.plain().model_copy(update={"congestion": name})
        failure = await self._meet(use, asked)
        if failure is None:
            return HostCheck(use.src, what, "ok", f"{name} was granted", expected)
        host = failure.host if failure.host in self.facts else use.src
        advice = _allow(name, host, self.facts[host]) if failure.kind in _CONGESTION_REFUSED else ""
        return HostCheck(host, what, "problem", _failure_text(failure), expected, advice)

    async def _meet(self, use: Use, parameters: Parameters) -> Failure | None:
        """Have both ends meet as for a trial, and stop them; says what went wrong."""
        name = f"preflight-{next(self.numbers)}"
        traffic = Traffic(name, use.src, use.dst, parameters, pad_ns=0, first_flow=0)
        listener = use.dst if self.accesses[use.dst].listens else use.src
        async with self.listening[listener], self.connecting:
            pair = Pair(traffic, self.sessions[use.src], self.sessions[use.dst], Deadlines())
            try:
                await pair.meet()
            except TrialError as error:
                return error.failure
            finally:
                await asyncio.gather(*(end.stop() for end in pair.ends))
                for end in pair.ends:
                    end.close()
        return None


_Way = tuple[str, str, str, int | None, str | None]


def _way(use: Use) -> _Way:
    """All that whether two ends meet may depend on."""
    asked = use.parameters
    return use.src, use.dst, asked.test, asked.family, asked.untried


def _failure_text(failure: Failure) -> str:
    return f"{failure.message} (on {failure.host})"


def _clock(session: HostSession) -> HostCheck:
    host, clock = session.access.name, session.clock
    if session.access.shares_clock:
        return HostCheck(host, "clock", "ok", "this machine's own", "any: offsets are measured")
    offset, bound = format_duration(clock.offset_ns), format_duration(clock.bound_ns)
    found = f"{offset} ± {bound} from this machine's"
    if abs(clock.offset_ns) - clock.bound_ns <= CLOCK_FAR_OFF_NS:
        return HostCheck(host, "clock", "ok", found, "any: offsets are measured")
    expected = f"at most {format_duration(CLOCK_FAR_OFF_NS)} off"
    advice = "have both clocks set by NTP: trials run, but what else is dated there will not agree"
    return HostCheck(host, "clock", "warning", found, expected, advice)


def _server(host: str, server: ServerPeer) -> HostCheck:
    expected = f"{server.words} that takes a test"
    try:
        if isinstance(server, Iperf3Peer):
            login_of(host, server)
    except LaunchError as error:
        return HostCheck(host, "reached", "problem", error.reason, expected)
    return HostCheck(host, "reached", "not known", "only a test would tell, and none is begun", expected)


def _to_do(error: LaunchError | SessionError, access: HostAccess) -> str:
    """What the error advises; a launcher that got there is not to be tried."""
    own = "" if access.engine is None else with_this_engine(access)
    return "; ".join(filter(None, (error.advice, own)))


def _open_ports(access: HostAccess, connector: str, protocol: str) -> str:
    if access.ports is not None:
        first, last = access.ports
        return f"see that ports {first} to {last} ({protocol}) are free there and open to {connector}"
    return (
        f"see that {connector} reaches its address, and that a firewall lets {protocol} in: `ports` of "
        f"[hosts.{access.name}] says which ports are used"
    )


def _allow(name: str, host: str, facts: HostFacts) -> str:
    if name not in facts.congestion_available:
        return f"`modprobe tcp_{name}` as root there"
    where = where_written(_ALLOWED, host, facts.sysctls, otherwise="")
    listed = f"add {name} to what the sysctl {_ALLOWED} lists {where}".rstrip()
    return f"run the engine as root there, or {listed}"
