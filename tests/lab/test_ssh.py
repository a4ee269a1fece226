"""Hosts behind a real OpenSSH server, which greets with a banner and a login message."""

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import pytest

from analysis_support import make_trial
from flowsweep.errors import SessionError
from flowsweep.hosts.access import DataAddress, HostAccess
from flowsweep.hosts.engine import engine_hash, engine_path
from flowsweep.hosts.messages import Listen, Prepare
from flowsweep.hosts.opening import open_session
from flowsweep.hosts.session import Session
from flowsweep.run.conductor import Conditions, run_campaign
from flowsweep.run.events import CampaignEvent, SessionLost, SessionRegained
from flowsweep.run.outcome import TrialOutcome
from flowsweep.run.tests.registry import settings_of
from flowsweep.schedule import Slot
from ssh_support import LOGIN_MESSAGE, SSHD, serving
from waiting import wait_until

pytestmark = [
    pytest.mark.lab,
    pytest.mark.together,
    pytest.mark.skipif(SSHD is None, reason="no sshd: `apt-get install openssh-server` brings it"),
]


@dataclass(frozen=True)
class SshHost:
    """A server on this machine's loopback."""

    config: Path
    """Of the client; the server's name in it is `far`."""
    home: Path
    """What is home there."""

    @property
    def access(self) -> HostAccess:
        launch = ("ssh", "-F", str(self.config), "far")
        addresses = {"near": (DataAddress("127.0.0.1", 4),)}
        return HostAccess("far", launch, None, addresses, shares_files=False)

    @property
    def copies(self) -> list[Path]:
        return sorted(self.home.glob(".cache/flowsweep/*"))


@pytest.fixture(scope="module")
def far(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshHost]:
    folder = tmp_path_factory.mktemp("ssh")
    with serving(folder) as config:
        yield SshHost(config, folder / "home")


def test_the_engine_is_copied_once_past_banner_and_login_message(far: SshHost) -> None:
    async def visit() -> str:
        session = await open_session(far.access)
        facts = await session.describe()
        await session.close()
        return facts.hostname

    assert asyncio.run(visit()) == socket.gethostname()
    (copy,) = far.copies
    assert copy.name == f"engine-{engine_hash(engine_path())}"
    assert copy.read_bytes() == engine_path().read_bytes()
    first = copy.stat()
    assert asyncio.run(visit()) == socket.gethostname()
    (copy,) = far.copies
    assert (copy.stat().st_ino, copy.stat().st_mtime_ns) == (first.st_ino, first.st_mtime_ns)


def test_an_error_names_what_the_login_said(far: SshHost) -> None:
    with pytest.raises(SessionError) as caught:
        asyncio.run(open_session(replace(far.access, engine="/no/such/engine")))
    assert "host far" in str(caught.value)
    assert "exit status 127" in str(caught.value)
    assert LOGIN_MESSAGE in str(caught.value)


def test_trials_run_through_ssh_and_a_connection_lost_between_them_is_regained(far: SshHost) -> None:
    sessions: list[Session] = []
    events: list[CampaignEvent] = []

    async def remembered(access: HostAccess) -> Session:
        session = await open_session(access)
        if access.name == "far":
            sessions.append(session)
        return session

    recorder = CuttingRecorder(sessions)
    near = HostAccess("near", (), None, {"far": (DataAddress("127.0.0.1", 4),)})
    brief = {"duration_ns": 500_000_000, "omit_ns": 0, "interval_ns": 100_000_000, "flows": 2}
    slots = [
        Slot(trials=(make_trial(src="near", dst="far", **brief),)),
        Slot(trials=(make_trial(src="far", dst="near", **brief),)),
    ]
    asyncio.run(
        run_campaign(
            slots,
            {"near": near, "far": far.access},
            recorder,
            events=events.append,
            conditions=Conditions(remembered),
        )
    )
    failures = [outcome.record.failure for outcome in recorder.outcomes]
    assert failures == [None, None]
    assert all(min(outcome.flows["bytes"].to_pylist()) > 0 for outcome in recorder.outcomes)
    troubles = [type(event) for event in events if isinstance(event, SessionLost | SessionRegained)]
    assert troubles == [SessionLost, SessionRegained]
    assert recorder.facts == [{"near", "far"}, {"far"}]


@pytest.mark.parametrize("direction", [(), ("--reverse",)])
def test_the_five_second_question_through_ssh(far: SshHost, direction: tuple[str, ...]) -> None:
    host = f"ssh:-F {far.config} far"
    command = [sys.executable, "-m", "flowsweep", "tcp", host, "--json", "--duration", "1s", *direction]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 0, result.stderr
    row = json.loads(result.stdout)
    assert row["status"] == "ok"
    assert (row["src"], row["dst"]) == (("there", "here") if direction else ("here", "there"))
    assert row["goodput_bps"] > 0


def test_a_host_behind_ssh_is_looked_at_with_its_clock(far: SshHost, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    launch = json.dumps(["ssh", "-F", str(far.config), "far"])
    hosts = f'[hosts.near]\nlistens = false\n[hosts.far]\nlaunch = {launch}\naddress = "127.0.0.1"\n'
    sweep = '[[sweep]]\npaths = [{ from = "near", to = "far" }]\ndirections = "both"\nduration = "4s"\n'
    plan.write_text(hosts + sweep, encoding="utf-8")
    command = [sys.executable, "-m", "flowsweep", "check", "--hosts", str(plan)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    (clock,) = [line for line in result.stdout.splitlines() if line.startswith("ok         far  clock: ")]
    # It is the same clock, asked over the control channel.
    assert " ± " in clock
    assert "ok         far  TCP from near: found they met" in result.stdout


def test_an_engine_behind_a_connection_that_carries_nothing_ends_with_its_traffic(far: SshHost) -> None:
    """The client is stopped, not ended: the far side has a connection on which nothing is ever said."""

    async def cut_off() -> float:
        session = await open_session(far.access)
        test = settings_of(make_trial().parameters, "sink", 0)
        token = "0" * 32
        channel = session.channel("t")
        await channel.send(
            Prepare(trial="t", role="sink", token=token, answer=token, rendezvous=Listen(), test=test)
        )
        await channel.receive()
        client = session._process.process.pid
        os.kill(client, signal.SIGSTOP)
        begun = time.monotonic()
        try:
            await asyncio.to_thread(wait_until, lambda: not _engines(far), timeout_s=60)
            return time.monotonic() - begun
        finally:
            os.kill(client, signal.SIGCONT)
            await session.close()

    assert 25 < asyncio.run(cut_off()) < 40


def _engines(far: SshHost) -> list[int]:
    """Process ids of the engines that run from copies on the far host."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (process / "exe").readlink() in far.copies:
                found.append(int(process.name))
    return found


class CuttingRecorder:
    """Ends the ssh client after the first trial, and waits until that was noticed."""

    def __init__(self, sessions: list[Session]) -> None:
        self.outcomes: list[TrialOutcome] = []
        self.facts: list[set[str]] = []
        self._sessions = sessions

    def hosts(self, facts: dict[str, dict[str, object]]) -> None:
        self.facts.append(set(facts))

    def started(self, trial_id: str, attempt: int, at: datetime) -> None:
        pass

    def finished(self, outcome: TrialOutcome) -> None:
        self.outcomes.append(outcome)
        if len(self.outcomes) == 1:
            (session,) = self._sessions
            session._process.process.kill()
            wait_until(lambda: session.lost is not None, timeout_s=10)
