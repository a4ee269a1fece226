"""Has all monitors of a plan asked while a block runs, and what they tell kept. No trial waits for it."""

import asyncio
import importlib.util
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from typing import TYPE_CHECKING

from flowsweep.defaults import (
    MONITOR_LAST_WORDS_S,
    MONITOR_PART_ROWS,
    MONITOR_PART_S,
    MONITOR_RESTART_S,
)
from flowsweep.errors import ArchiveError, ArchiveFullError, LaunchError, MonitorError
from flowsweep.hosts.access import HostAccess
from flowsweep.monitors.askers import FAILURES, AgentsAsker, Asker, HostAsker
from flowsweep.monitors.reading import Poll, bounded
from flowsweep.monitors.secrets import agent_asked
from flowsweep.plan.monitors.model import Monitor

if TYPE_CHECKING:
    from flowsweep.monitors.messages import AgentAsked

Keep = Callable[[Sequence[Poll]], None]
"""Puts polls on disk; called in a thread, one call at a time."""
Told = Callable[[str, str | None], None]
"""Hears when a monitor falls silent, with the reason, and when it answers again, with None."""
_NEEDED = ("pysnmp", "cryptography")
_END_S = 5.0
_WAITING_ROWS_MAX = 5 * MONITOR_PART_ROWS
"""What waits for a disk that takes nothing; what came first is let go of then."""


@asynccontextmanager
async def monitored(
    monitors: Sequence[Monitor], accesses: Mapping[str, HostAccess], keep: Keep, told: Told
) -> AsyncIterator[None]:
    """Ask all monitors, each as often as it says, for as long as the block runs.

    Args:
        monitors: Of the plan.
        accesses: Its hosts.
        keep: Where polls go. That it fails is told, once; what it did not take is tried again, unless the
            archive has as much of monitors as it may.
        told: Hears of silence.

    Raises:
        MonitorError: A secret, a library or a place to ask from is missing; nothing was started.
    """
    askers = askers_of(monitors, accesses)
    if not askers:
        yield
        return
    kept = _Kept(keep, told)
    ending = asyncio.Event()
    tasks = [asyncio.create_task(_ask(asker, kept, ending)) for asker in askers]
    tasks.append(asyncio.create_task(kept.keep_on()))
    try:
        yield
    finally:
        ending.set()
        # What they say last is worth a moment, whoever does not answer none.
        await asyncio.wait(tasks[:-1], timeout=2 * MONITOR_LAST_WORDS_S)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks, timeout=_END_S)
        await kept.flush()


def askers_of(monitors: Sequence[Monitor], accesses: Mapping[str, HostAccess]) -> list[Asker]:
    """Make what asks: a process for the agents that are asked from one place, a shell for each host.

    Raises:
        MonitorError: As `monitored`.
    """
    by_place: dict[str | None, list[AgentAsked]] = {}
    askers: list[Asker] = []
    for monitor in monitors:
        if monitor.agent is not None:
            _check_place(monitor, accesses)
            by_place.setdefault(monitor.agent.src, []).append(agent_asked(monitor, monitor.agent))
        elif monitor.host is not None:
            askers.append(HostAsker(monitor.name, accesses[monitor.host], monitor.every_ns))
    for place, agents in by_place.items():
        askers.append(AgentsAsker(agents, None if place is None else accesses[place]))
    return askers


def _check_place(monitor: Monitor, accesses: Mapping[str, HostAccess]) -> None:
    at = f"monitors.{monitor.name}"
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise MonitorError(
            f"{at}: SNMP needs {' and '.join(missing)}, not installed here: "
            "pip install 'cryptography>=44' 'pysnmp>=7.1.21'"
        )
    place = None if monitor.agent is None else monitor.agent.src
    if place is not None and not accesses[place].shares_files:
        raise MonitorError(
            f"{at}.from: {place} is another machine, where nothing is installed that could ask; "
            "expected a host on the controller's machine, as in a namespace, or none: let the controller ask"
        )


async def _ask(asker: Asker, kept: "_Kept", ending: asyncio.Event) -> None:
    """Ask, and begin again whenever that fails, with growing pauses."""
    pause_s, longest_s = MONITOR_RESTART_S
    while not ending.is_set():
        try:
            async with aclosing(asker.polls(ending)) as polls:
                async for poll in polls:
                    kept.take(poll)
                    pause_s = MONITOR_RESTART_S[0]
        except FAILURES as error:
            reason = error.reason if isinstance(error, LaunchError) else str(error)
            now_us = time.time_ns() // 1000
            for name in asker.monitors:
                kept.take(Poll(name, now_us, 0, silent=bounded(reason) or type(error).__name__))
        if not ending.is_set():
            await asyncio.sleep(max(pause_s, min(asker.every_s, longest_s)))
            pause_s = min(2 * pause_s, longest_s)


class _Kept:
    """Polls that wait for the disk."""

    def __init__(self, keep: Keep, told: Told) -> None:
        self._keep = keep
        self._told = told
        self._waiting: deque[Poll] = deque()
        self._rows = 0
        self._full = asyncio.Event()
        self._failing = False
        """Whether the disk did not take what was written last."""
        self._over = False
        """Whether as much is kept as may be."""
        self._silent: set[str] = set()
        self._turns = asyncio.Lock()

    def take(self, poll: Poll) -> None:
        """Take a poll in; it is on disk within `MONITOR_PART_S`, or once the disk takes it."""
        if poll.silent is not None and poll.monitor not in self._silent:
            self._silent.add(poll.monitor)
            self._told(poll.monitor, poll.silent)
        elif poll.silent is None and poll.monitor in self._silent:
            self._silent.discard(poll.monitor)
            self._told(poll.monitor, None)
        if self._over:
            return
        self._waiting.append(poll)
        self._rows += _rows_of(poll)
        self._let_go()
        if self._rows >= MONITOR_PART_ROWS and not self._failing:
            self._full.set()

    async def keep_on(self) -> None:
        """Put what waits on disk, again and again."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(MONITOR_PART_S):
                    await self._full.wait()
            await self.flush()

    async def flush(self) -> None:
        """Put what waits on disk; a cancellation does not leave it half done."""
        async with self._turns:
            polls, self._waiting, self._rows = list(self._waiting), deque(), 0
            self._full.clear()
            if not polls or self._over:
                return
            writing = asyncio.create_task(asyncio.to_thread(self._keep, polls))
            try:
                await asyncio.shield(writing)
            except asyncio.CancelledError:
                await asyncio.wait({writing})
                raise
            except ArchiveFullError as error:
                self._over = True
                self._told("", str(error))
            except ArchiveError as error:
                self._take_back(polls, str(error))
            else:
                if self._failing:
                    self._failing = False
                    self._told("", None)

    def _take_back(self, polls: Sequence[Poll], reason: str) -> None:
        """Keep what the disk did not take for the next time, as much of it as there is room for."""
        if not self._failing:
            self._failing = True
            self._told("", reason)
        self._waiting.extendleft(reversed(polls))
        self._rows += sum(map(_rows_of, polls))
        self._let_go()

    def _let_go(self) -> None:
        """Let go of what has waited longest, where more waits than may."""
        while self._rows > _WAITING_ROWS_MAX:
            self._rows -= _rows_of(self._waiting.popleft())


def _rows_of(poll: Poll) -> int:
    return max(1, len(poll.values))
