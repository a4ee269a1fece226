"""A real SNMP agent on a router between two hosts: what it counts, whom it refuses, and when it hangs."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pyarrow.compute as pc
import pytest
from lab_support import needs_lab

from campaign_support import finished_trials, flowsweep
from flowsweep.archive import read_archive
from snmp_support import AUTH, COMMUNITY, DST, NEAR_SRC, PORT, PRIVACY, SNMPD, USER, Router, routed
from waiting import wait_until

pytestmark = [
    *needs_lab,
    pytest.mark.skipif(SNMPD is None, reason="no snmpd: `apt-get install snmpd` brings it"),
]
RATE_BPS = 20_000_000
EVERY_S = 2
PLAN = """
[campaign]
name = "monitored"
repeats = {repeats}
seed = 1

[hosts.left]
launch = ["ip", "netns", "exec", "{left}"]

[hosts.right]
launch = ["ip", "netns", "exec", "{right}"]
address = "{dst}"

{monitors}

[[sweep]]
paths = [{{ from = "left", to = "right" }}]
congestion = "cubic"
rate = "{rate}bit/s"
duration = "{duration}"
interval = "500ms"
"""
V2 = f"""
[monitors.router]
snmp = "{NEAR_SRC}:{PORT}"
from = "left"
community = {{ env = "FLOWSWEEP_TEST_COMMUNITY" }}
interfaces = ["toleft", "toright"]
beyond = {{ toleft = ["left"], toright = ["right"] }}
every = "{EVERY_S}s"
"""
V3 = """
[monitors.NAME]
snmp = "{at}"
from = "left"
version = "3"
user = "{user}"
auth = {{ env = "AUTH_VARIABLE" }}
auth_protocol = "sha256"
privacy = {{ file = "PRIVACY_FILE" }}
privacy_protocol = "aes128"
interfaces = ["toright"]
every = "1s"
""".format(at=f"{NEAR_SRC}:{PORT}", user=USER)
AFTERWARDS = """
[[sweep]]
name = "afterwards"
test = "rtt"
paths = [{ from = "left", to = "right" }]
duration = "9s"
every = "100ms"
"""
"""Time in which an agent's old values become new ones."""
HOST = """
[monitors.sender]
host = "left"
every = "1s"
"""


@pytest.fixture
def world(tmp_path: Path) -> Iterator[Router]:
    with routed(tmp_path / "agent") as router:
        yield router


@pytest.fixture(autouse=True)
def secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLOWSWEEP_TEST_COMMUNITY", COMMUNITY)
    monkeypatch.setenv("FLOWSWEEP_TEST_AUTH", AUTH)
    monkeypatch.setenv("FLOWSWEEP_TEST_WRONG", "notthepassword")


def written(folder: Path, world: Router, monitors: str, *, repeats: int = 1, duration: str = "12s") -> Path:
    plan = folder / "plan.toml"
    names = {"left": world.left, "right": world.right, "dst": DST, "monitors": monitors}
    plan.write_text(PLAN.format(**names, rate=RATE_BPS, repeats=repeats, duration=duration))
    return plan


def rows_of(archive: Path, monitor: str) -> list[dict[str, object]]:
    with read_archive(archive) as found:
        table = found.monitors()
    return table.filter(pc.equal(table["monitor"], monitor)).to_pylist()


def test_a_router_and_we_count_the_same_bytes(world: Router, tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    counted = {}
    for device, counter in (("toleft", "rx_bytes"), ("toright", "tx_bytes")):
        counted[device] = world.counted(device, counter)
    plan = written(tmp_path, world, V2 + HOST)
    plan.write_text(plan.read_text().replace("seed = 1", 'order = "listed"') + AFTERWARDS)
    flowsweep("run", plan, "--archive", archive)
    for device, counter in (("toleft", "rx_bytes"), ("toright", "tx_bytes")):
        counted[device] = world.counted(device, counter) - counted[device]
    trial, after = json.loads(flowsweep("summary", archive, "--format", "json"))
    assert (trial["status"], after["status"]) == ("ok", "ok")
    rows = rows_of(archive, "router")
    assert all(row["reason"] is None for row in rows)
    one_interval = RATE_BPS / 8 * EVERY_S
    for device, counter in (("toleft", "in_bytes"), ("toright", "out_bytes")):
        values = [row["value"] for row in rows if (row["object"], row["counter"]) == (device, counter)]
        assert len(values) >= 5
        risen = values[-1] - values[0]
        assert risen == pytest.approx(trial["bytes_sent"], abs=one_interval)
        assert counted[device] == pytest.approx(trial["bytes_sent"], rel=0.06)
    sender = rows_of(archive, "sender")
    out = [row["value"] for row in sender if (row["object"], row["counter"]) == ("eth0", "out_bytes")]
    assert out[-1] - out[0] == pytest.approx(counted["toleft"], abs=RATE_BPS / 8)
    assert {row["counter"] for row in sender} >= {
        "cpu_busy", "memory_available_bytes", "softnet_processed", "qdisc_dropped", "in_discards",
    }  # fmt: skip
    assert COMMUNITY.encode() not in b"".join(
        file.read_bytes() for file in archive.rglob("*") if file.is_file()
    )
    assert flowsweep("verify", archive)


def test_authpriv_is_understood_and_a_wrong_password_is_recorded(world: Router, tmp_path: Path) -> None:
    file = tmp_path / "privacy"
    file.write_text(f"{PRIVACY}\n")
    right = V3.replace("NAME", "right").replace("AUTH_VARIABLE", "FLOWSWEEP_TEST_AUTH")
    wrong = V3.replace("NAME", "wrong").replace("AUTH_VARIABLE", "FLOWSWEEP_TEST_WRONG")
    archive = tmp_path / "archive"
    plan = written(tmp_path, world, (right + wrong).replace("PRIVACY_FILE", str(file)), duration="6s")
    flowsweep("run", plan, "--archive", archive)
    values = [row["value"] for row in rows_of(archive, "right") if row["counter"] == "out_bytes"]
    assert len(values) > 2
    assert values[-1] > values[0]
    refused = rows_of(archive, "wrong")
    assert refused
    assert {row["counter"] for row in refused} == {"silent"}
    assert all("wrong authentication password" in str(row["reason"]) for row in refused)
    kept = b"".join(one.read_bytes() for one in archive.rglob("*") if one.is_file())
    for secret in (AUTH, PRIVACY, "notthepassword"):
        assert secret.encode() not in kept


@pytest.mark.long
def test_an_agent_that_hangs_is_recorded_and_trials_go_on(world: Router, tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    plan = written(tmp_path, world, V2, repeats=6, duration="3s")
    command = subprocess.Popen(
        [sys.executable, "-m", "flowsweep", "run", str(plan), "--archive", str(archive)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    try:
        wait_until(lambda: command.poll() is not None or finished_trials(archive) > 1, timeout_s=90)
        world.pause_agent()
        paused_us = time.time_ns() // 1000
        output, _ = command.communicate(timeout=120)
    finally:
        command.kill()
    assert command.returncode == 0, output
    assert "monitor router is silent: no answer" in output
    rows = rows_of(archive, "router")
    assert any(row["value"] is not None for row in rows)
    assert any("no answer" in str(row["reason"]) and row["at_us"] > paused_us for row in rows)
    trials = json.loads(flowsweep("summary", archive, "--format", "json"))
    assert [trial["status"] for trial in trials] == ["ok"] * 6


@pytest.mark.long
def test_what_asks_ends_with_a_controller_that_is_killed(world: Router, tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    plan = written(tmp_path, world, V2 + HOST, repeats=5, duration="3s")
    command = subprocess.Popen(
        [sys.executable, "-m", "flowsweep", "run", str(plan), "--archive", str(archive)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        wait_until(lambda: finished_trials(archive) > 0, timeout_s=90)
        children = descendants(command.pid)
        assert any("snmp_poller" in words for words in children.values())
        assert any("flowsweep-begin" in words for words in children.values())
    finally:
        command.kill()
        command.wait(20)
    wait_until(lambda: not any(words_of(pid) == words for pid, words in children.items()), timeout_s=60)
    flowsweep("verify", archive)
    flowsweep("run", plan, "--archive", archive, "--resume")
    assert any(row["value"] is not None for row in rows_of(archive, "router"))


def descendants(pid: int) -> dict[int, str]:
    """Processes below one, with their command lines; those that end meanwhile have none."""
    found: dict[int, str] = {}
    with suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            for child in map(int, (thread / "children").read_text().split()):
                found |= {child: words_of(child)} | descendants(child)
    return found


def words_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def test_without_its_secret_nothing_runs(
    world: Router, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FLOWSWEEP_TEST_COMMUNITY")
    plan = written(tmp_path, world, V2)
    words = [sys.executable, "-m", "flowsweep", "run", str(plan), "--archive", str(tmp_path / "archive")]
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=60, check=False, env=dict(os.environ)
    )
    assert done.returncode == 2
    assert "monitors.router.community: the environment variable FLOWSWEEP_TEST_COMMUNITY" in done.stderr
