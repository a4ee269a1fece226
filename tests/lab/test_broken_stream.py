"""A stream of datagrams that is cut is told with its reason, and the others go on to their end."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from lab_support import namespaces_of, needs_lab

from campaign_support import start, summary, write_plan
from flowsweep.analysis.tests.udp.datagrams import datagram_flows
from flowsweep.archive import read_archive
from flowsweep.defaults import SECOND_NS
from waiting import wait_until

pytestmark = [*needs_lab, pytest.mark.skipif(shutil.which("ss") is None, reason="closes a socket: needs ss")]
FLOWS = 4


def test_a_stream_whose_socket_is_closed_is_counted_and_explained(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    sweep = f'flows = {FLOWS}\nrate_sum = "8Mbit/s"\nduration = "8s"\ninterval = "0.5s"'
    plan = write_plan(tmp_path, sweep=sweep, test="udp")
    command = start("run", plan, "--archive", archive)
    wait_until(lambda: command.poll() is not None or len(streams(command.pid)) == FLOWS)
    sockets(command.pid, "--kill", "src", streams(command.pid)[0])
    output, _ = command.communicate(timeout=180)
    assert command.returncode == 1, output
    (row,) = summary(archive)
    assert (row["status"], row["flows_broken"], row["goodput_bps"]) == ("incomplete", "1", "")
    assert re.search(rf"1 of {FLOWS} flows broke: flow \d: \S+", row["error"])
    # The others went on to their end, each with 2 Mbit/s for 8 s or more: when the one was cut, and how much
    # later a source hears that the time is over, the machine decides.
    read = read_archive(archive)
    flows = datagram_flows(read.tables().flows).to_pyarrow().to_pylist()
    whole = [flow["sent"] for flow in flows if not flow["broken"]]
    assert len(whole) == FLOWS - 1
    assert min(whole) * 1470 * 8 >= 2e6 * 8 * 0.95, whole
    (record,) = read.records.values()
    assert max(whole) * 1470 * 8 <= 2e6 * record.elapsed_ns / SECOND_NS, whole
    assert row["lost"] == "0"


def streams(controller: int) -> list[str]:
    """Address and port of each stream's socket at its source."""
    return re.findall(r"^\d+ +\d+ +(\S+) ", sockets(controller), re.MULTILINE)


def sockets(controller: int, *words: str) -> str:
    """What `ss` says of the source's connected sockets; nothing while there is no such host."""
    found = [name for name in namespaces_of(controller) if name.endswith("-host-left")]
    if not found:
        return ""
    command = ["ip", "netns", "exec", *found, "ss", "-unH", "state", "established", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=10).stdout
