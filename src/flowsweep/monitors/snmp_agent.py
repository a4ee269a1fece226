"""One SNMP agent, asked for the counters of its interfaces with pysnmp."""

import asyncio
import contextlib
import ipaddress
import socket
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

from pysnmp.hlapi.v3arch import asyncio as snmp

from flowsweep.defaults import MONITOR_ANSWER_S
from flowsweep.monitors.messages import AgentAsked
from flowsweep.monitors.quantities import IF_NAME, OF_INTERFACES, QUANTITIES, SYS_UP_TIME, UP_TIME
from flowsweep.monitors.reading import Poll, bounded

_INTERFACES_AT_ONCE = 2
"""So an answer fits into one packet: 19 values of some 25 bytes, and what surrounds them."""
_WALKED_MAX = 4096
"""Interfaces of an agent that are looked through for those that are asked for."""
_ROWS_AT_ONCE = 25
_SHOWN = 8
_RETRIES = 1
_WORDS = {
    "WrongDigest": "refused: wrong authentication password or protocol",
    "UnknownUserName": "refused: it does not know this user",
    "UnsupportedSecurityLevel": "refused: it has no such security level for this user",
    "DecryptionError": "refused: wrong privacy password or protocol",
    "AuthorizationError": "refused: this user may not read",
    "RequestTimedOut": f"no answer, asked {_RETRIES + 1} times, {MONITOR_ANSWER_S:g} s each",
}
"""What pysnmp's kinds of trouble mean to a person; others are told in its own words."""
_AUTH: Mapping[str, Any] = {
    "md5": snmp.usmHMACMD5AuthProtocol,
    "sha1": snmp.usmHMACSHAAuthProtocol,
    "sha224": snmp.usmHMAC128SHA224AuthProtocol,
    "sha256": snmp.usmHMAC192SHA256AuthProtocol,
    "sha384": snmp.usmHMAC256SHA384AuthProtocol,
    "sha512": snmp.usmHMAC384SHA512AuthProtocol,
}
_PRIVACY: Mapping[str, Any] = {
    "des": snmp.usmDESPrivProtocol,
    "aes128": snmp.usmAesCfb128Protocol,
    "aes192": snmp.usmAesCfb192Protocol,
    "aes256": snmp.usmAesCfb256Protocol,
}


class AgentSilentError(Exception):
    """An agent did not answer, refused, or answered what cannot be used; the text says which."""


class SnmpClient:
    """Asks an agent. It remembers the numbers of interfaces, and sees whether they still have their names."""

    def __init__(self, agent: AgentAsked) -> None:
        self._agent = agent
        self._engine = snmp.SnmpEngine()
        self._login = _login(agent)
        self._target: Any = None
        self._indices: dict[str, int] = {}

    async def poll(self, answered: Callable[[], None]) -> AsyncIterator[Poll]:
        """Ask for all counters.

        Args:
            answered: Called at each answer, also at those that only tell the numbers of interfaces.

        Yields:
            A poll for each message, as it is answered.

        Raises:
            AgentSilentError: There is no answer, or none that can be used.
            OSError: The agent's name is not known.
        """
        if self._target is None:
            self._target = await self._reached()
        if not self._indices:
            self._indices = await self._found(answered)
        names = self._agent.interfaces
        for start in range(0, len(names), _INTERFACES_AT_ONCE):
            poll = await self._asked(names[start : start + _INTERFACES_AT_ONCE])
            answered()
            yield poll

    def close(self) -> None:
        """Let go of the socket."""
        # Whatever pysnmp has to say of its end, nothing more is asked, and the process ends next.
        with contextlib.suppress(Exception):
            self._engine.close_dispatcher()

    async def _reached(self) -> Any:  # noqa: ANN401 - pysnmp has no types
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(self._agent.address, self._agent.port, type=socket.SOCK_DGRAM)
        address = found[0][4][0]
        kind = (
            snmp.Udp6TransportTarget
            if isinstance(ipaddress.ip_address(str(address).split("%")[0]), ipaddress.IPv6Address)
            else snmp.UdpTransportTarget
        )
        return await kind.create((address, self._agent.port), timeout=MONITOR_ANSWER_S, retries=_RETRIES)

    async def _found(self, answered: Callable[[], None]) -> dict[str, int]:
        """The numbers of the interfaces, by their names; an agent is asked until all are known."""
        there: dict[str, int] = {}
        wanted = set(self._agent.interfaces)
        at = IF_NAME
        walked = 0
        while walked < _WALKED_MAX:
            context = snmp.ContextData()
            answer = await snmp.bulk_cmd(
                self._engine, self._login, self._target, context, 0, _ROWS_AT_ONCE, _object(at),
                lookupMib=False,
            )  # fmt: skip
            rows = [(str(oid), value) for oid, value in _values(answer)]
            answered()
            own = [(oid, value) for oid, value in rows if oid.startswith(f"{IF_NAME}.")]
            there.update({_text(value): int(oid.rpartition(".")[2]) for oid, value in own})
            if len(own) < len(rows) or not own:
                break
            at = _last_of(own, at)
            walked += len(own)
            if wanted <= there.keys():
                break
        missing = [name for name in self._agent.interfaces if name not in there]
        if missing and walked >= _WALKED_MAX:
            raise AgentSilentError(
                f"has no interface {missing[0]} among its first {walked}: no more are looked through"
            )
        if missing:
            others = f"it has {', '.join(list(there)[:_SHOWN])}" if there else "it has none with an ifName"
            raise AgentSilentError(f"has no interface {missing[0]}; {others}")
        return {name: there[name] for name in self._agent.interfaces}

    async def _asked(self, interfaces: Sequence[str]) -> Poll:
        """Ask for what one message holds."""
        wanted = [SYS_UP_TIME]
        for name in interfaces:
            index = self._indices[name]
            wanted += [f"{IF_NAME}.{index}"]
            wanted += [f"{QUANTITIES[counter].oid}.{index}" for counter in OF_INTERFACES]
        began_us, began = time.time_ns() // 1000, time.monotonic_ns()
        answer = await snmp.get_cmd(
            self._engine, self._login, self._target, snmp.ContextData(), *map(_object, wanted),
            lookupMib=False,
        )  # fmt: skip
        took_us = (time.monotonic_ns() - began) // 1000
        found = {str(oid): value for oid, value in _values(answer)}
        values = [("", UP_TIME, _number(found.get(SYS_UP_TIME), 32, "sysUpTime"))]
        for name in interfaces:
            values += self._of_interface(name, found)
        at_us = began_us + took_us // 2
        return Poll(self._agent.name, at_us, took_us, tuple(values))

    def _of_interface(self, name: str, found: Mapping[str, Any]) -> list[tuple[str, str, int]]:
        index = self._indices[name]
        if _text(found.get(f"{IF_NAME}.{index}")) != name:
            raise AgentSilentError(f"the interface {name} has another number now")
        values = []
        for counter in OF_INTERFACES:
            quantity = QUANTITIES[counter]
            value = found.get(f"{quantity.oid}.{index}")
            if _absent(value):
                if quantity.needed:
                    raise AgentSilentError(f"has no 64-bit {counter} of {name} (ifXTable of RFC 2863)")
                continue
            values.append((name, counter, _number(value, quantity.bits or 32, f"{counter} of {name}")))
        return values


def _last_of(rows: Sequence[tuple[str, Any]], before: str) -> str:
    """The last OID of an answer to GETBULK, in which each is to be above the one before (RFC 3416, 4.2.3)."""
    for oid, _ in rows:
        if _numbers_of(oid) <= _numbers_of(before):
            raise AgentSilentError(f"its OIDs do not increase: {bounded(oid)} came after {bounded(before)}")
        before = oid
    return before


def _numbers_of(oid: str) -> tuple[int, ...]:
    return tuple(map(int, oid.split(".")))


def _login(agent: AgentAsked) -> Any:  # noqa: ANN401 - pysnmp has no types
    if agent.community is not None:
        return snmp.CommunityData(agent.community, mpModel=1)
    return snmp.UsmUserData(
        agent.user,
        agent.auth,
        agent.privacy,
        authProtocol=snmp.usmNoAuthProtocol if agent.auth is None else _AUTH[agent.auth_protocol],
        privProtocol=snmp.usmNoPrivProtocol if agent.privacy is None else _PRIVACY[agent.privacy_protocol],
    )


def _object(oid: str) -> Any:  # noqa: ANN401 - pysnmp has no types
    return snmp.ObjectType(snmp.ObjectIdentity(oid))


def _values(answer: tuple[Any, Any, Any, Any]) -> list[tuple[Any, Any]]:
    """What came, or why nothing did, in pysnmp's words, which are those of the RFCs."""
    trouble, status, _, values = answer
    if trouble:
        said = bounded(str(trouble))
        words = _WORDS.get(type(trouble).__name__)
        raise AgentSilentError(said if words is None else f"{words} ({said})")
    if status:
        raise AgentSilentError(f"the agent answered {bounded(status.prettyPrint())}")
    return [(value[0], value[1]) for value in values]


def _absent(value: Any) -> bool:  # noqa: ANN401 - pysnmp has no types
    return value is None or isinstance(
        value, snmp.NoSuchObject | snmp.NoSuchInstance | snmp.EndOfMibView | snmp.Null
    )


def _number(value: Any, bits: int, called: str) -> int:  # noqa: ANN401 - pysnmp has no types
    kinds = snmp.Counter64 | snmp.Counter32 | snmp.TimeTicks | snmp.Gauge32
    if not isinstance(value, kinds) or not 0 <= int(value) < 1 << bits:
        raise AgentSilentError(f"what it says is {called} is no counter of {bits} bits")
    return int(value)


def _text(value: Any) -> str:  # noqa: ANN401 - pysnmp has no types
    return bytes(value).decode("utf-8", "replace") if isinstance(value, snmp.OctetString) else ""
