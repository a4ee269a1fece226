"""A link whose emulator is gone fails its trial at once, with the reason; and nothing of it stays behind."""

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from lab_support import controller, interfaces, namespaces_of, needs_lab, runs

import campaign_support
from flowsweep.archive import read_archive
from flowsweep.errors import LabError
from flowsweep.lab import build_lab, guard
from flowsweep.plan.links.model import Link, LinkDirection
from waiting import wait_until

pytestmark = needs_lab
FAILS_WITHIN_S = 5
DELAYED = LinkDirection(rate_bps=20_000_000, delay_ns=1_000_000)
STAY = "print(lab.emulators[0].pid, flush=True); sys.stdin.read()"
UNPRIVILEGED = ("setpriv", "--bounding-set=-all,+setfcap", "--inh-caps=-all")


def test_killing_the_emulator_fails_the_trial_and_those_after_it_with_the_reason(tmp_path: Path) -> None:
    before, archive = interfaces(), tmp_path / "archive"
    plan = campaign_support.write_plan(
        tmp_path, link='rate = "20Mbit/s"\ndelay = "5ms"', sweep='duration = "20s"', directions="both"
    )
    command = campaign_support.start("run", plan, "--archive", archive)
    wait_until(lambda: command.poll() is not None or traffic_flows(command.pid))
    (emulator,) = emulators_of(command.pid)
    os.kill(emulator, signal.SIGKILL)
    killed_at = time.time()
    output, _ = command.communicate(timeout=180)
    assert command.returncode == 1, output
    records = list(read_archive(archive).records.values())
    assert [record.failure.kind for record in records if record.failure] == ["emulator_lost"] * 2
    first, second = (record for record in records if record.failure)
    assert first.failure is not None
    assert str(first.failure) == "run on wire: the emulator was ended by SIGKILL"
    assert first.started_at.timestamp() + first.elapsed_ns / 1e9 - killed_at < FAILS_WITHIN_S
    assert second.failure is not None
    assert second.failure.phase == "prepare"
    assert second.elapsed_ns < 1e9
    assert namespaces_of(command.pid) == []
    assert interfaces() == before


def test_the_emulator_ends_with_a_killed_controller() -> None:
    process, emulator = standing()
    process.kill()
    process.communicate(timeout=180)
    wait_until(lambda: not runs(emulator))
    with build_lab([], []):
        assert namespaces_of(process.pid) == []


def test_a_stopped_emulator_of_a_killed_controller_is_ended_by_the_guard() -> None:
    process, emulator = standing()
    os.kill(emulator, signal.SIGSTOP)
    process.kill()
    process.communicate(timeout=180)
    wait_until(lambda: not runs(emulator) and namespaces_of(process.pid) == [], timeout_s=30)


def test_what_a_controller_and_its_guard_left_goes_at_the_next_start() -> None:
    process, emulator = standing()
    for stopped in (emulator, process.pid):
        os.kill(stopped, signal.SIGSTOP)
    os.kill(guard_of(process.pid), signal.SIGKILL)
    process.kill()
    process.communicate(timeout=180)
    assert runs(emulator)
    with build_lab([], []):
        assert not runs(emulator)
        assert namespaces_of(process.pid) == []


def guard_of(controller: int) -> int:
    """The process that would end the lab of a controller."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == controller and guard.__file__.encode() in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
    (process,) = found
    return process


def test_an_emulator_that_hangs_is_told_and_is_ended_with_the_lab() -> None:
    with build_lab([Link(name="l", between=("a", "b"), forward=DELAYED, backward=DELAYED)], []) as lab:
        (emulator,) = lab.emulators
        os.kill(emulator.pid, signal.SIGSTOP)
        wait_until(lambda: emulator.log.lost is not None)
        assert emulator.log.lost == "the emulator said nothing for 4 s"
    assert not runs(emulator.pid)
    assert namespaces_of(os.getpid()) == []


@pytest.mark.together
def test_a_link_that_cannot_be_emulated_is_named_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flowsweep.lab.emulator.seed_of", lambda _seed, _link: -1)
    refused = pytest.raises(LabError, match=r"link l cannot be emulated: .*seed")
    with refused, build_lab([Link(name="l", between=("a", "b"), forward=DELAYED, backward=DELAYED)], []):
        pytest.fail("a negative seed is none")
    assert namespaces_of(os.getpid()) == []


@pytest.mark.together
def test_without_privilege_links_are_emulated_too() -> None:
    body = "print(len(os.listdir('/run/netns')), lab.emulators[0].log.lost, flush=True)"
    process = controller(body, UNPRIVILEGED, way="rate_bps=1_000_000, delay_ns=1_000_000")
    output, errors = process.communicate(timeout=180)
    assert output.split() == ["2", "None"], errors
    assert process.returncode == 0


def standing() -> tuple[subprocess.Popen[str], int]:
    """A controller whose lab stands, and its emulator."""
    process = controller(STAY, way="rate_bps=1_000_000, delay_ns=1_000_000")
    assert process.stdout is not None
    return process, int(process.stdout.readline())


def engines_of(pid: int) -> list[int]:
    """Ids of the engines that a process has started, whatever they do."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    return [int(child) for child in children if b"flowsweep-engine" in arguments_of(int(child))[0]]


def emulators_of(pid: int) -> list[int]:
    return [engine for engine in engines_of(pid) if arguments_of(engine)[1:2] == [b"emulate"]]


def traffic_flows(pid: int) -> bool:
    """Whether a trial has moved a megabyte over the link, as the namespace of one of the agents sees it."""
    for agent in set(engines_of(pid)) - set(emulators_of(pid)):
        try:
            lines = Path(f"/proc/{agent}/net/dev").read_text(encoding="ascii").splitlines()
        except OSError:
            continue  # It has just ended.
        for line in lines:
            name, _, counters = line.partition(":")
            if name.strip() == "link0" and int(counters.split()[0]) > 1_000_000:
                return True
    return False


def arguments_of(pid: int) -> list[bytes]:
    """Those of a process; one empty argument if it has just ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except (FileNotFoundError, ProcessLookupError):
        return [b""]
