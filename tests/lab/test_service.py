"""A service of two hosts on the loopback: killed, reloaded, ended; and on a disk that is nearly full."""

import os
import re
import signal
import socket
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest
from lab_support import needs_lab

from campaign_support import start
from flowsweep.archive import read_archive
from settled_times import finished
from waiting import wait_until

pytestmark = [*needs_lab, pytest.mark.together]

EVERY_S = 3
PLAN = """
[campaign]
name = "here"
every = "{every}s"
slip = "1500ms"
[hosts.a]
[hosts.b]
[[sweep]]
name = "loop"
paths = [{{ from = "a", to = "b" }}]
duration = "600ms"
interval = "200ms"
"""
BACK_S = 10
"""Within which a service is back after its start."""


def write(plan: Path, every: int = EVERY_S) -> None:
    plan.write_text(PLAN.format(every=every), encoding="utf-8")


def trials(archive: Path) -> int:
    return len(read_archive(archive).records) if (archive / "campaign.json").exists() else 0


def wait_for_more(archive: Path) -> None:
    before = trials(archive)
    wait_until(lambda: trials(archive) > before)


def ended(running: subprocess.Popen[str]) -> str:
    running.send_signal(signal.SIGTERM)
    said, _ = running.communicate(timeout=30)
    assert running.returncode == 0, said
    return said


def test_a_service_goes_on_after_each_kill_and_every_time_is_settled_once(tmp_path: Path) -> None:
    plan, base = tmp_path / "plan.toml", tmp_path / "archives"
    write(plan)
    running = start("service", plan, "--archive", base)
    wait_until(lambda: trials(base / "here") >= 1)
    for _ in range(3):
        os.kill(running.pid, signal.SIGKILL)
        running.communicate(timeout=30)
        begun = time.monotonic()
        running = start("service", plan, "--archive", base)
        wait_for_more(base / "here")
        assert time.monotonic() - begun < 3 * BACK_S
    said = ended(running)
    assert re.search(r"here: goes on in .*/here, \d+ trials so far\n", said)
    assert said.endswith("ended in order\n")
    read = read_archive(base / "here")
    assert not read.losses
    ran = Counter(record.trial.repeat for record in finished(read))
    assert set(ran.values()) == {1}
    missed = [number for one in read.state.missed for number in range(one.first, one.last + 1)]
    assert sorted([*ran, *missed]) == list(range(1, max(ran) + 1))
    assert all(one.reason for one in read.state.missed)


def test_changed_plans_are_taken_over_and_wrong_ones_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, base = tmp_path / "plan.toml", tmp_path / "archives"
    write(plan)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(60)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        running = start("service", tmp_path, "--archive", base)
        assert manager.recv(100) == b"READY=1\nSTATUS=1 campaign"
        wait_until(lambda: trials(base / "here") >= 1)
        plan.write_text("[campaign]\nevry = 1\n", encoding="utf-8")
        running.send_signal(signal.SIGHUP)
        assert [manager.recv(100), manager.recv(100)] == [b"RELOADING=1", b"READY=1"]
        wait_for_more(base / "here")
        write(plan, every=EVERY_S + 1)
        running.send_signal(signal.SIGHUP)
        wait_until(lambda: trials(base / "here-2") >= 1)
        said = ended(running)
    assert "plans: " in said
    assert "unknown key; did you mean `every`?" in said
    assert "plans: all of them go on as they were" in said
    assert "here: goes on in" in said.partition("as they were")[2]
    assert not read_archive(base / "here").losses


def test_on_a_disk_that_is_nearly_full_nothing_runs_and_it_is_said_why(tmp_path: Path) -> None:
    plan, base = tmp_path / "plan.toml", tmp_path / "archives"
    write(plan)
    running = start("service", plan, "--archive", base, "--keep-free", "1000000GB")

    def missed() -> int:
        kept = (base / "here" / "campaign.json").exists()
        return len(read_archive(base / "here").state.missed) if kept else 0

    # Each is said once it is on disk: where there are two, the first has been said.
    wait_until(lambda: missed() >= 2)
    said = ended(running)
    assert "missed: loop, due" in said
    read = read_archive(base / "here")
    assert not read.records
    assert {one.reason.partition(" (")[0] for one in read.state.missed} == {"the disk is nearly full"}


def test_a_host_that_is_away_is_tried_again(tmp_path: Path) -> None:
    plan, base = tmp_path / "plan.toml", tmp_path / "archives"
    away = PLAN.format(every=EVERY_S).replace("[hosts.b]", f'[hosts.b]\nengine = "{tmp_path}/engine"')
    plan.write_text(away, encoding="utf-8")
    running = start("service", plan, "--archive", base)
    wait_until((base / "here").exists)
    time.sleep(1)
    assert running.poll() is None
    said = ended(running)
    assert re.search(r"here: host b: .*\n", said)
    assert "it is tried again in 1 s" in said
