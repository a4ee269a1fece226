"""Campaigns with an engine that misbehaves, and how they end: in this process, or as a command."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis_support import make_trial
from flowsweep.defaults import SECOND_NS
from flowsweep.errors import FlowsweepError
from flowsweep.hosts.access import DataAddress, HostAccess
from flowsweep.run.conductor import Conditions, run_campaign
from flowsweep.run.deadlines import Deadlines
from flowsweep.run.outcome import TrialRecord
from flowsweep.schedule import Slot, Trial
from misbehaviours import Misbehaviour, honest_words, write_words
from run_support import ListRecorder

SCRIPT = Path(__file__).with_name("scripted_engine.py")
DEADLINES = Deadlines(request_s=6, slack_s=0.5, stop_s=1)
SIDE_BY_SIDE = 16
TICK_S = 0.05
HONEST = Misbehaviour("nowhere", "say")

_WATCHED = """
import sys
from flowsweep.cli import main
try:
    main()
finally:
    status = open("/proc/self/status").read()
    open(sys.argv[-1] + ".peak", "w").write(status.split("VmHWM:")[1].split()[0])
"""
"""Runs a command whose last argument is its archive, and tells beside that what memory it took, in KiB."""


@dataclass(frozen=True)
class Ending:
    """What a campaign of one trial came to."""

    record: TrialRecord | None
    """Absent if no trial began."""
    error: str | None
    """Of a campaign that could not begin."""
    campaign_s: float
    """From the start of its engines until all sessions were closed."""
    late: Sequence[tuple[float, float]]
    """When the event loop was late, in seconds from that start, and by how much: others compute in it."""

    @property
    def trial_s(self) -> float | None:
        """The trial alone, if one began."""
        return None if self.record is None else self.record.elapsed_ns / SECOND_NS

    def late_after(self, deadline_s: float) -> float:
        """How late the event loop was, all in all, once a deadline from the start was over; in seconds."""
        return sum(late_s for at_s, late_s in self.late if at_s > deadline_s)

    @property
    def reason(self) -> str:
        """Why it is not whole."""
        return str(self.error if self.record is None else self.record.failure)


def trial() -> Trial:
    """A short trial from the honest engine `a` to `b`."""
    times = {"duration_ns": 200_000_000, "omit_ns": 0, "drain_timeout_ns": 100_000_000}
    return make_trial(src="a", dst="b", interval_ns=100_000_000, **times)


def launcher(folder: Path, name: str, misbehaviour: Misbehaviour) -> tuple[str, ...]:
    """A launcher that starts a scripted engine, whatever it is asked to start."""
    place = folder / name
    place.mkdir(exist_ok=True)
    (place / "said").write_bytes(misbehaviour.said)
    write_words(place, honest_words())
    script = (sys.executable, "-I", "-S", str(SCRIPT))
    return (*script, str(place), misbehaviour.point, misbehaviour.action, "said")


async def endings(folder: Path, misbehaviours: Mapping[str, Misbehaviour]) -> dict[str, Ending]:
    """Run a campaign for each of them, side by side, as far as the machine can do that."""
    places = asyncio.Semaphore(SIDE_BY_SIDE)
    late: list[tuple[float, float]] = []

    async def one(hostile: tuple[str, ...]) -> Ending:
        async with places:
            return await _ending(honest, hostile, late)

    honest = launcher(folder, "honest", HONEST)
    launchers = {
        name: launcher(folder, f"engine-{number}", misbehaviour)
        for number, (name, misbehaviour) in enumerate(misbehaviours.items())
    }
    watching = asyncio.create_task(_watch(late))
    try:
        found = await asyncio.gather(*(one(hostile) for hostile in launchers.values()))
    finally:
        watching.cancel()
    return dict(zip(launchers, found, strict=True))


async def _watch(late: list[tuple[float, float]]) -> None:
    """Note when the event loop comes late to what is due, and by how much, in seconds; until cancelled."""
    while True:
        due = time.monotonic() + TICK_S
        await asyncio.sleep(TICK_S)
        now = time.monotonic()
        late.append((now, now - due))


async def _ending(
    honest: tuple[str, ...], hostile: tuple[str, ...], late: list[tuple[float, float]]
) -> Ending:
    addresses = (DataAddress("127.0.0.1", 4),)
    # `engine`: nothing has to be copied; not `shares_files`: the clock is asked for.
    accesses = {
        "a": HostAccess("a", honest, "-", {"b": addresses}, shares_files=False),
        "b": HostAccess("b", hostile, "-", {"a": addresses}, shares_files=False),
    }
    recorder = ListRecorder()
    begun = time.monotonic()
    error = None
    try:
        conditions = Conditions(deadlines=DEADLINES)
        await run_campaign([Slot(trials=(trial(),))], accesses, recorder, conditions=conditions)
    except FlowsweepError as flowsweep_error:
        error = str(flowsweep_error)
    record = recorder.outcomes[0].record if recorder.outcomes else None
    taken_s = time.monotonic() - begun
    return Ending(record, error, taken_s, [(at - begun, late_s) for at, late_s in late if at > begun])


def command(folder: Path, name: str, misbehaviours: Sequence[Misbehaviour]) -> subprocess.Popen[str]:
    """Start `flowsweep run`, in a folder of its own: a trial from `a` to each that misbehaves, in turn."""
    place = folder / name
    place.mkdir()
    launchers = {"a": launcher(place, "honest", HONEST)}
    launchers |= {f"b{i}": launcher(place, f"hostile-{i}", one) for i, one in enumerate(misbehaviours)}
    hosts = [
        f'[hosts.{host}]\naddress = "127.0.0.1"\nengine = "-"\nlaunch = {list(words)!r}\n'
        for host, words in launchers.items()
    ]
    paths = ", ".join(f'{{ from = "a", to = "{host}" }}' for host in launchers if host != "a")
    sweep = f'test = "tcp"\npaths = [{paths}]\nduration = "2s"\ninterval = "500ms"\ndrain = "1s"'
    plan = "\n".join(["[campaign]\nseed = 1", *hosts, '[[sweep]]\nname = "sweep"', sweep])
    (place / "plan.toml").write_text(plan)
    words = ["run", str(place / "plan.toml"), "--archive", str(place / "archive")]
    return subprocess.Popen(
        [sys.executable, "-c", _WATCHED, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"COLUMNS": "200"},
    )


def peak_mb(folder: Path, name: str) -> float:
    """The most memory that a command took that came to its end."""
    return int((folder / name / "archive.peak").read_text()) / 1024


def reached(folder: Path, name: str) -> bool:
    """Whether all engines of a command misbehave already that can do so at the same time."""
    return all(any(place.glob("reached-*")) for place in (folder / name).glob("hostile-*"))


def seconds_to_end(process: subprocess.Popen[str], number: signal.Signals, limit_s: float = 30) -> float:
    """Send a signal, and say how long the process takes to end."""
    begun = time.monotonic()
    process.send_signal(number)
    process.wait(limit_s)
    return time.monotonic() - begun


def wait_for_all(conditions: Sequence[Callable[[], bool]], *, timeout_s: float = 60) -> None:
    """Wait until all of some conditions hold."""
    deadline = time.monotonic() + timeout_s
    while not all(condition() for condition in conditions):
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)
