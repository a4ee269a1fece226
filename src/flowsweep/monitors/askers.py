"""What asks: a process for SNMP agents, a shell on each host. All of it may fail, and is begun again."""

import asyncio
import sys
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Protocol

from flowsweep.defaults import MONITOR_LAST_WORDS_S, MONITOR_LINE_MAX, MONITOR_POLL_MAX_S, SECOND_NS
from flowsweep.errors import LaunchError
from flowsweep.hosts.access import HostAccess
from flowsweep.hosts.process import PipedProcess
from flowsweep.hosts.ssh import launched
from flowsweep.monitors import host_text
from flowsweep.monitors.messages import AgentAsked, Asked, poll_of
from flowsweep.monitors.reading import Poll, bounded

_MODULE = "flowsweep.monitors.snmp_poller"
_PATIENCE_S = 0.5
FAILURES = (LaunchError, OSError, ValueError, TimeoutError)
"""What an asker may raise."""


class Asker(Protocol):
    """Asks until it fails; started again then."""

    monitors: tuple[str, ...]
    """For which it asks."""
    every_s: float
    """How often, at most."""

    def polls(self, ending: asyncio.Event) -> AsyncGenerator[Poll]:
        """What it is told, until `ending` is set and all that was asked last has come.

        Raises:
            LaunchError, OSError, ValueError, TimeoutError: It failed; the text says how.
        """


class AgentsAsker:
    """SNMP agents that are asked from the same place, by one process.

    Args:
        agents: With their secrets.
        access: Host from which they are asked; None: from here.
    """

    def __init__(self, agents: Sequence[AgentAsked], access: HostAccess | None) -> None:
        self.monitors = tuple(agent.name for agent in agents)
        self.every_s = min(agent.every_ns for agent in agents) / SECOND_NS
        self._asked = Asked(agents=tuple(agents)).model_dump_json().encode() + b"\n"
        command = (sys.executable, "-P", "-m", _MODULE)
        self._command = command if access is None else launched(access.launch, command)
        self._silence_s = self.every_s + 2 * MONITOR_POLL_MAX_S

    async def polls(self, ending: asyncio.Event) -> AsyncGenerator[Poll]:
        """See `Asker.polls`."""
        process = await PipedProcess.start(self.monitors[0], self._command)
        last = asyncio.create_task(_closed_at(ending, process))
        try:
            process.stdin.write(self._asked)
            while line := await self._line(process):
                if not line.strip():  # it was answered, and goes on
                    continue
                poll = poll_of(line)
                if poll.monitor not in self.monitors:
                    raise ValueError(f"it told of {bounded(poll.monitor)}, of which nobody asked")
                yield poll
            if not ending.is_set():
                raise ValueError(f"what asks it ended{_complaint(process)}")
        finally:
            last.cancel()
            await process.end(_PATIENCE_S)

    async def _line(self, process: PipedProcess) -> bytes:
        try:
            async with asyncio.timeout(self._silence_s):
                return await process.stdout.readline()
        except TimeoutError:
            reason = f"what asks it said nothing for {self._silence_s:g} s{_complaint(process)}"
            raise TimeoutError(reason) from None


class HostAsker:
    """A host's kernel, asked through the host's launcher."""

    def __init__(
        self, name: str, access: HostAccess, every_ns: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.monitors: tuple[str, ...] = (name,)
        self.every_s = every_ns / SECOND_NS
        self._access = access
        self._clock = clock

    async def polls(self, ending: asyncio.Event) -> AsyncGenerator[Poll]:
        """See `Asker.polls`."""
        command = launched(self._access.launch, ("sh", "-c", host_text.SCRIPT))
        process = await PipedProcess.start(self._access.name, command)
        try:
            due_s = self._clock()
            while True:
                last = ending.is_set()
                yield await self._asked(process, MONITOR_LAST_WORDS_S if last else MONITOR_POLL_MAX_S)
                if last:
                    return
                due_s += self.every_s * max(1, -(-(self._clock() - due_s) // self.every_s))
                await _until(ending, due_s - self._clock())
        finally:
            await process.end(_PATIENCE_S)

    async def _asked(self, process: PipedProcess, deadline_s: float) -> Poll:
        began_us, began = time.time_ns() // 1000, time.monotonic_ns()
        process.stdin.write(b"\n")
        try:
            async with asyncio.timeout(deadline_s):
                lines = await _answer(process)
        except TimeoutError:
            raise TimeoutError(f"no answer within {deadline_s:g} s{_complaint(process)}") from None
        took_us = (time.monotonic_ns() - began) // 1000
        return Poll(self.monitors[0], began_us + took_us // 2, took_us, host_text.values_of(lines))


async def _answer(process: PipedProcess) -> list[str]:
    """The lines of an answer; what a login prints before the first one is passed over."""
    lines: list[str] = []
    size = 0
    begun = False
    while True:
        line = await process.stdout.readline()
        size += len(line)
        if not line:
            raise ValueError(f"the shell there ended{_complaint(process)}")
        if size > MONITOR_LINE_MAX or len(lines) > host_text.LINES_MAX:
            raise ValueError(f"more than {MONITOR_LINE_MAX} bytes or {host_text.LINES_MAX} lines came")
        text = line.decode("ascii", "replace").rstrip("\r\n")
        if text == host_text.BEGIN:
            lines, begun = [], True
        elif begun and text == host_text.END:
            return lines
        elif begun:
            lines.append(text)


async def _closed_at(ending: asyncio.Event, process: PipedProcess) -> None:
    """A process that asks agents asks once more when its standard input ends, then ends."""
    await ending.wait()
    process.stdin.close()


async def _until(ending: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(max(0.0, seconds)):
            await ending.wait()
    except TimeoutError:
        return


def _complaint(process: PipedProcess) -> str:
    said = bounded(process.complaint.splitlines()[-1]) if process.complaint else ""
    return f": {said}" if said else ""
