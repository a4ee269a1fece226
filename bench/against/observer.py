"""What a contender moves and costs, seen from outside and for all contenders alike.

Bytes are those of the IPv4 packets that reach the sink's namespace (`IpExt.InOctets`), headers included:
about 0.1 % with packets of 64 KiB. CPU time is that of all processes in the two namespaces, with all their
threads (`utime` and `stime` of /proc/PID/stat). Both are read at the same two moments, after the flows have
come up and before they end, so that what a tool does before and after counts for none of them.
"""

import asyncio
import os
import time
from collections.abc import Coroutine
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, TypeVar

from against.contender import RunError
from against.path import BenchPath, processes_in

GB = 1e9
TRAFFIC_BYTES = 8 << 20
"""Once so much has arrived, the flows send."""
TRAFFIC_TIMEOUT_S = 15.0
POLL_S = 0.005
MARGIN_S = 0.3
"""How much longer than warm-up and window a contender is asked to send, so that none ends within them."""

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_Told = TypeVar("_Told")


@dataclass(frozen=True, slots=True)
class Window:
    """When a contender is observed, counted from when its bytes begin to arrive."""

    warm_up_s: float
    length_s: float

    @property
    def sending_s(self) -> float:
        """How long a contender is asked to send."""
        return self.warm_up_s + self.length_s + MARGIN_S


@dataclass(frozen=True, slots=True)
class Observation:
    """What was seen of one run."""

    goodput_bps: float
    cpu_s_per_gb: float
    """Both ends, user and system, all threads."""
    machine_cpu_s_per_gb: float
    """All that kept the machine's CPUs busy, the kernel's own threads and strangers included."""


@dataclass(frozen=True, slots=True)
class _Reading:
    at_s: float
    received_bytes: int
    cpu_s: float
    machine_cpu_s: float


def observed(run: Coroutine[Any, Any, _Told], path: BenchPath, window: Window) -> tuple[Observation, _Told]:
    """Run a contender and observe it; also returns what it says itself.

    Raises:
        RunError: it failed, or could not be observed.
        ExceptionGroup: something else went wrong, too; all of it.
    """

    async def both() -> tuple[Observation, _Told]:
        async with asyncio.TaskGroup() as group:
            observation = group.create_task(_observe(path, window))
            told = group.create_task(run)
        return observation.result(), told.result()

    try:
        return asyncio.run(both())
    except ExceptionGroup as group:
        failures, faults = group.split(RunError)
        if failures is None or faults is not None:
            raise
        raise failures.exceptions[0] from group


async def _observe(path: BenchPath, window: Window) -> Observation:
    """Wait until bytes arrive, let the warm-up pass, and see what happens in the window.

    Raises:
        RunError: no traffic came, or none at the end of the window.
    """
    await _traffic(path)
    await asyncio.sleep(window.warm_up_s)
    begin = _read(path)
    await asyncio.sleep(window.length_s)
    end = _read(path)
    await asyncio.sleep(POLL_S)
    if path.received_bytes() - end.received_bytes < TRAFFIC_BYTES // 100:
        raise RunError("the flows ended before the window did")
    moved_bytes = end.received_bytes - begin.received_bytes
    return Observation(
        goodput_bps=moved_bytes * 8 / (end.at_s - begin.at_s),
        cpu_s_per_gb=(end.cpu_s - begin.cpu_s) / (moved_bytes / GB),
        machine_cpu_s_per_gb=(end.machine_cpu_s - begin.machine_cpu_s) / (moved_bytes / GB),
    )


async def _traffic(path: BenchPath) -> None:
    enough, deadline_s = path.received_bytes() + TRAFFIC_BYTES, time.monotonic() + TRAFFIC_TIMEOUT_S
    while path.received_bytes() < enough:
        if time.monotonic() > deadline_s:
            raise RunError(f"no traffic came within {TRAFFIC_TIMEOUT_S:g} s")
        await asyncio.sleep(POLL_S)


def _read(path: BenchPath) -> _Reading:
    """Counters of bytes and CPU; bytes are read in the middle of going through all processes."""
    processes = [process for name in path.namespaces() for process in processes_in(name)]
    first = sum(_cpu_ticks(process) for process in processes)
    at_s, received_bytes, machine = time.monotonic(), path.received_bytes(), _machine_ticks()
    ticks = fmean((first, sum(_cpu_ticks(process) for process in processes)))
    return _Reading(at_s, received_bytes, ticks / _TICKS_PER_S, machine / _TICKS_PER_S)


def _cpu_ticks(process: int) -> int:
    """User and system time of a process, of its threads past and present and of its children that ended."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return 0
    fields = stat.rpartition(")")[2].split()
    return sum(int(field) for field in fields[11:15])


def _machine_ticks() -> int:
    """Time of all CPUs that was not idle: user, nice, system, irq, softirq; steal was not ours to use."""
    fields = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()[1:]
    user, nice, system, _idle, _iowait, irq, softirq = (int(field) for field in fields[:7])
    return user + nice + system + irq + softirq
