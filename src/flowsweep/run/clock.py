"""The controller's clocks, as far as sweeps that run when they are due need them; virtual in tests."""

import asyncio
import time
from dataclasses import dataclass
from typing import Protocol

from flowsweep.defaults import SECOND_NS

_BOOT = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""Goes on while the machine is suspended, where the system has such a clock."""


@dataclass(frozen=True, slots=True)
class Reading:
    """All clocks at one moment."""

    unix_ns: int
    """Wall clock: people and NTP set it."""
    boot_ns: int
    """Since the machine started, time in suspend included."""
    running_ns: int
    """The same without it."""


class Clock(Protocol):
    """What tells the time, and waits."""

    def read(self) -> Reading:
        """Read all clocks."""

    async def sleep(self, duration_ns: int) -> None:
        """Wait."""


class SystemClock:
    """The machine's."""

    def read(self) -> Reading:
        """Read all clocks."""
        return Reading(time.time_ns(), time.clock_gettime_ns(_BOOT), time.monotonic_ns())

    async def sleep(self, duration_ns: int) -> None:
        """Wait."""
        await asyncio.sleep(duration_ns / SECOND_NS)
