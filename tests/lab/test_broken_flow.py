"""One of many flows that breaks ends its trial at once, with the reason; and nothing of it stays behind."""

import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from lab_support import interfaces, namespaces_of, needs_lab

from campaign_support import start, write_plan
from flowsweep.archive import read_archive
from waiting import wait_until

pytestmark = [*needs_lab, pytest.mark.skipif(shutil.which("ss") is None, reason="closes a socket: needs ss")]
FLOWS = 16
FAILS_WITHIN_S = 5


@pytest.mark.parametrize("host", ["left", "right"])
def test_a_flow_whose_socket_is_closed_ends_its_trial_at_once(tmp_path: Path, host: str) -> None:
    before, archive = interfaces(), tmp_path / "archive"
    plan = write_plan(tmp_path, link='rate = "50Mbit/s"', sweep=f'flows = {FLOWS}\nduration = "30s"')
    command = start("run", plan, "--archive", archive)
    wait_until(lambda: command.poll() is not None or len(sources(command.pid)) == FLOWS)
    address = sources(command.pid)[FLOWS // 2]
    sockets(command.pid, host, "--kill", "src" if host == "left" else "dst", address)
    killed_at = time.time()
    output, _ = command.communicate(timeout=180)
    assert command.returncode == 1, output
    (record,) = read_archive(archive).records.values()
    assert record.failure is not None
    assert (record.status, record.failure.phase, record.failure.kind) == ("incomplete", "run", "broken")
    assert re.match(r"flow \d+ broke after \d+ B: ", record.failure.message)
    assert record.started_at.timestamp() + record.elapsed_ns / 1e9 - killed_at < FAILS_WITHIN_S
    assert namespaces_of(command.pid) == []
    assert interfaces() == before


def sources(controller: int) -> list[str]:
    """Address and port of each flow of which its source has sent 100 KB or more."""
    told = sockets(controller, "left", "--info")
    return re.findall(r"^\d+ +\d+ +(\S+) .*\n.* bytes_acked:\d{6,} ", told, re.MULTILINE)


def sockets(controller: int, host: str, *words: str) -> str:
    """What `ss` says of a host's connections; nothing while there is no such host."""
    found = [name for name in namespaces_of(controller) if name.endswith(f"-host-{host}")]
    if not found:
        return ""
    command = ["ip", "netns", "exec", *found, "ss", "-tnH", "state", "established", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=10).stdout
