"""What a service costs that measures a full mesh each hour: memory, CPU time, how soon it says what it does.

Usage: PYTHONPATH=tests/support python bench/service_load.py [HOURS] [HOSTS] [FOLDER]

Runs the campaign of a plan with HOSTS hosts (64: 4032 paths) with engines without traffic, in virtual time,
as `flowsweep service` runs it: the same archive, packing and housekeeping between hours. Then asks
`flowsweep status`. Prints the figures as JSON. The archive is kept in FOLDER, if one is named, and gone on
with if it is there. CPU seconds are the controller's own, with the system's share; engines without traffic
are within them, so that the figure is an upper bound. Ends with 1 where a limit was missed: they are of 64
hosts, and what fewer need is below; of more hosts nothing is wanted.
"""

import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from analysis_support import make_outcome
from fake_engine import FakeNetwork
from flowsweep.archive import ArchiveWriter
from flowsweep.campaigns.folders import open_or_begin
from flowsweep.campaigns.housekeeping import Housekeeping, return_freed_memory
from flowsweep.campaigns.timed import recorded, timetable
from flowsweep.hosts.access import DataAddress, HostAccess
from flowsweep.plan import Plan, parse_plan
from flowsweep.run.clock import Reading
from flowsweep.run.conductor import Conditions, run_campaign
from flowsweep.run.deadlines import Deadlines
from flowsweep.run.outcome import TrialOutcome
from flowsweep.run.sessions import Patience
from flowsweep.schedule import schedule
from flowsweep.schedule.packing import sharing_of

HOUR_NS = 3600 * 10**9
MOST_MB = 300
"""Resident, at its largest."""
MOST_SHARE = 0.05
"""Of a core, in each hour."""
MOST_STATUS_S = 1.0
"""The least of a few, each with its own process: other work on the machine only adds to it."""
STATUS_TIMES = 5
LIMITED_HOSTS = 64
_REAL_S = 0.25
"""That a wait takes in truth: a timetable also waits while trials run, and would do nothing else."""


def main() -> int:
    """Print the figures; 1 if a limit was missed."""
    hours = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    hosts = int(sys.argv[2]) if len(sys.argv) > 2 else 64
    plan = mesh(hosts)
    kept = nullcontext(sys.argv[3]) if len(sys.argv) > 3 else None
    return_freed_memory()
    with kept or tempfile.TemporaryDirectory(prefix="service-load-", dir="/var/tmp") as place:
        base = Path(place)
        found = asyncio.run(measured(plan, base, hours))
        folder = next(base.iterdir())
        found["status_s"] = round(min(_status_s(folder) for _ in range(STATUS_TIMES)), 2)
        found["archive_mib"] = round(sum(f.stat().st_size for f in folder.rglob("*")) / 2**20, 1)
    found["missed"] = missed(found) if hosts <= LIMITED_HOSTS else []
    print(json.dumps(found, indent=1))
    return int(bool(found["missed"]))


def missed(found: Mapping[str, Any]) -> list[str]:
    """Limits that these figures exceed; all of them where nothing was measured."""
    limits = {
        f"{MOST_MB} MB of memory": [mib * 2**20 <= MOST_MB * 10**6 for mib in found["peak_mib"]],
        f"{MOST_SHARE:.0%} of a core": [share <= MOST_SHARE for share in found["share_of_a_core"]],
        f"{MOST_STATUS_S:g} s for status": [found["status_s"] <= MOST_STATUS_S],
    }
    return [name for name, kept in limits.items() if not kept or not all(kept)]


def mesh(hosts: int) -> Plan:
    """Each pair of hosts both ways, each hour."""
    names = [f"h{number:02}" for number in range(hosts)]
    pairs = [(one, other) for index, one in enumerate(names) for other in names[index + 1 :]]
    listed = ", ".join(f'{{ from = "{src}", to = "{dst}" }}' for src, dst in pairs)
    named = "".join(
        f'[hosts.{name}]\naddress = "192.0.2.{number + 1}"\n' for number, name in enumerate(names)
    )
    return parse_plan(
        f"""
[campaign]
name = "load"
every = "1h"
concurrent = 1000
{named}
[[sweep]]
paths = [{listed}]
directions = "both"
duration = "10s"
interval = "1s"
""",
        "load.toml",
    )


class Network(FakeNetwork):  # type: ignore[misc]  # of the tests, which have no types
    """Engines that forget what was asked of them: a week of it would be held in memory."""

    async def connect(self, access: HostAccess) -> Any:  # noqa: ANN401 - of the test's engine
        """Reach a host."""
        session = await super().connect(access)
        made = session.channel

        def channel(trial: str, allowance: Any = None) -> Any:  # noqa: ANN401 - of the test's engine
            del session._channels[:-8]  # noqa: SLF001 - what it would keep for ever
            for kept in (self.starts, self.told_s, self.ends):
                while len(kept) > 512:
                    del kept[next(iter(kept))]
            self.log.clear()
            return made(trial, allowance)

        session.channel = channel
        return session


class EnoughError(Exception):
    """So many hours were asked for."""


class Realistic:
    """Records with the outcomes the samples of a trial of 10 s, which such engines do not make."""

    def __init__(self, writer: ArchiveWriter, trial: Any) -> None:  # noqa: ANN401 - a trial
        self._writer = writer
        usual = make_outcome(trial)
        self._tables = {"samples": usual.samples, "flows": usual.flows}
        none = {"cpu": usual.cpu, "counters": usual.counters, "of_tests": {}}
        self._tables |= none

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - all else is the writer's
        return getattr(self._writer, name)

    def finished(self, outcome: TrialOutcome) -> None:
        """Keep it."""
        self._writer.finished(replace(outcome, **self._tables))


class Clock:
    """Time passes where somebody sleeps; an hour's trials take forty minutes."""

    now_ns = time.time_ns()

    def read(self) -> Reading:
        """The same of all clocks."""
        return Reading(self.now_ns, self.now_ns, self.now_ns)

    async def sleep(self, duration_ns: int) -> None:
        """Wait: of the time until something is due, most at once; trials beside it have their turn."""
        await asyncio.sleep(_REAL_S)
        self.now_ns += duration_ns


class Hourly(Housekeeping):
    """Counts when the trials of an hour are over, and what merging then takes; ends after so many hours."""

    def __init__(self, writer: ArchiveWriter, clock: Clock, paths: int, hours: int) -> None:
        # By the machine's clock, as what writes down when a part was begun: parts end when they are full.
        super().__init__(writer, 1 << 20, print)
        self.counted: list[dict[str, float]] = []
        self._of = writer
        self._clock, self._paths, self._hours = clock, paths, hours
        self._before = writer.finished_count // paths

    def idle(self, left_ns: int) -> None:
        """Merge, count, and let time pass."""
        before_s, before_mib = _cpu_s(), _rss_mib()
        super().idle(left_ns)
        if self._before + len(self.counted) < self._of.finished_count // self._paths:
            found = {"cpu_s": before_s, "merging_s": _cpu_s() - before_s, "before_merging_mib": before_mib}
            self.counted.append(found | {"rss_mib": _rss_mib(), "peak_mib": _peak_mib()})
            print(self.counted[-1], file=sys.stderr)
            if self._before + len(self.counted) >= self._hours:
                raise EnoughError
        self._clock.now_ns += max(0, left_ns - 10**9)


async def measured(plan: Plan, base: Path, hours: int) -> dict[str, Any]:
    """Run some hours of the campaign."""
    names = [host.name for host in plan.hosts]
    addresses = {name: (DataAddress("127.0.0.1", 4),) for name in names}
    accesses = {name: HostAccess(name, (), None, addresses) for name in names}
    paths = len(names) * (len(names) - 1)
    clock = Clock()
    begun_s = _cpu_s()
    with open_or_begin(base, plan) as writer:
        writer.keep_totals()
        if done := writer.finished_count // paths:
            clock.now_ns = round(writer.campaign.created_at.timestamp() * 1e9) + done * HOUR_NS
        resume = recorded(writer)
        hourly = Hourly(writer, clock, paths, hours)
        slots = schedule(plan, writer.seed)
        conditions = Conditions(
            Network().connect, Patience(0.01, 0.01), Deadlines(5, 5, 5), sharing=sharing_of(plan)
        )
        with suppress(EnoughError):
            await run_campaign(
                slots,
                accesses,
                Realistic(writer, slots[0].trials[0]),
                resume=resume,
                conditions=conditions,
                timetable=replace(timetable(plan, writer, resume, hourly), clock=clock),
            )
        part = writer.part
    steps = [begun_s, *(one["cpu_s"] for one in hourly.counted)]
    per_hour = [round(after - before, 1) for before, after in pairwise(steps)]
    return {
        "hosts": len(names),
        "paths": paths,
        "hours": len(hourly.counted),
        "parts": part,
        "cpu_s_per_hour": per_hour,
        "share_of_a_core": [round(one / 3600, 4) for one in per_hour],
        "rss_mib": [round(one["rss_mib"]) for one in hourly.counted],
        "peak_mib": [round(one["peak_mib"]) for one in hourly.counted],
        "load_average_1min": round(os.getloadavg()[0], 1),
    }


def _status_s(folder: Path) -> float:
    begun = time.monotonic()
    subprocess.run(
        [sys.executable, "-m", "flowsweep", "status", str(folder)],
        check=True, timeout=600, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    return time.monotonic() - begun


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _rss_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    raise SystemExit(main())
