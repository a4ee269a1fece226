"""The emulated links beside the trials; implements `flowsweep.run.observer.PathObserver`."""

import asyncio
import time
from collections.abc import Collection, Sequence

from flowsweep.lab.counter_log import Counters
from flowsweep.lab.emulator import Emulator


class LabObserver:
    """All emulated links of a lab."""

    def __init__(self, emulators: Sequence[Emulator]) -> None:
        self._emulators = emulators

    def watch(self, pairs: Collection[tuple[str, str]]) -> "LinkWatch":
        """Follow the links that join these pairs of hosts, from now on."""
        joined = {frozenset(pair) for pair in pairs}
        return LinkWatch([each for each in self._emulators if frozenset(each.layout.joins) in joined])


class LinkWatch:
    """One trial's links, from its beginning until `end`."""

    def __init__(self, emulators: Sequence[Emulator]) -> None:
        self._emulators = emulators
        self._loop = asyncio.get_running_loop()
        self._broken = asyncio.Event()
        self._begin_unix_ns = time.time_ns()
        for emulator in emulators:
            emulator.log.follow(self._tell)

    async def broken(self) -> tuple[str, str]:
        """Wait until a link breaks, for ever if none does; its name and the reason."""
        while True:
            await self._broken.wait()
            for emulator in self._emulators:
                if emulator.log.lost is not None:
                    return emulator.layout.link.name, emulator.log.lost
            self._broken.clear()

    async def take(self) -> list[dict[str, object]]:
        """What was counted up to now: a row for each moment, link and direction.

        The first rows are from before the beginning, so that differences are the trial's own.
        """
        return await asyncio.to_thread(self._rows, time.time_ns())

    def end(self) -> None:
        """Nothing is kept for this watch any more."""
        for emulator in self._emulators:
            emulator.log.unfollow(self._tell)

    def _rows(self, end_unix_ns: int) -> list[dict[str, object]]:
        return [
            row
            for emulator in self._emulators
            for counters in emulator.log.between(self._begin_unix_ns, end_unix_ns)
            for row in _rows_of(emulator, counters)
        ]

    def _tell(self) -> None:
        """Called in the thread that reads what an emulator says."""
        self._loop.call_soon_threadsafe(self._broken.set)


def _rows_of(emulator: Emulator, counters: Counters) -> list[dict[str, object]]:
    link = emulator.layout.link
    first, second = link.between
    ends = ((first, second), (second, first))
    several = len(counters.paths) > 1
    return [
        {
            # No name of a plan has a slash.
            "link": f"{link.name}/{number}" if several else link.name,
            "at_unix_ns": counters.at_unix_ns,
            "src": src,
            "dst": dst,
            **counted,
        }
        for number, directions in enumerate(counters.paths, start=1)
        for (src, dst), counted in zip(ends, directions, strict=True)
    ]
