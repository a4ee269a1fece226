"""QUIC with a server of its perf protocol at the far end, in place of an engine."""

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lab_support import needs_lab

from campaign_support import flowsweep_here, summary
from flowsweep.archive import read_archive
from flowsweep.hosts.engine import engine_path
from witness import judged

pytestmark = needs_lab

HOSTS = """
[campaign]
name = "perf"
seed = 1

[hosts.near]
[hosts.far]
peer = "quic-perf"
address = "127.0.0.1"
port = {port}
"""
SWEEP = """
[[sweep]]
test = "quic"
paths = [{ from = "near", to = "far" }]
directions = "both"
flows = 2
streams_per_flow = 3
rate = "20Mbit/s"
duration = "600ms"
interval = "200ms"
"""
ENDS_IN_S = 10
Row = dict[str, Any]


@contextmanager
def server(log: Path, *more: str) -> Iterator[int]:
    """Have an engine be the server; where it listens."""
    command = [str(engine_path()), "quic-perf-server", "--port=0", "--bind=127.0.0.1", f"--log={log}", *more]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            said = process.stderr.readline()
            found = re.search(r"listens on 127\.0\.0\.1:(\d+)", said)
            assert found is not None, said
            yield int(found.group(1))
        finally:
            process.terminate()
            assert process.wait(ENDS_IN_S) == 0


def run(folder: Path, text: str, *, expect: int = 0) -> Path:
    plan, archive = folder / "plan.toml", folder / "archive"
    plan.write_text(text, encoding="utf-8")
    flowsweep_here("run", plan, "--archive", archive, expect=expect)
    return archive


def lines(log: Path) -> list[Row]:
    rows = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if row["event"] == "connection_ends"]


def test_both_ends_have_the_same_bytes(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with server(log) as port:
        archive = run(tmp_path, HOSTS.format(port=port) + SWEEP)
    sent, received = sorted(summary(archive), key=lambda row: str(row["src"]), reverse=True)
    assert (sent["status"], received["status"]) == ("ok", "ok"), (sent["error"], received["error"])
    there = lines(log)
    assert [row["error"] for row in there] == [None] * 4
    # Each connection asks for nothing first, to see that the server runs.
    counts = sorted((row["streams"], row["received_bytes"] > 0) for row in there)
    assert counts == [(3, False), (3, False), (4, True), (4, True)]
    assert int(sent["bytes_sent"]) == sum(row["received_bytes"] for row in there)
    assert (sent["goodput_method"], sent["bytes"]) == ("sender_mean", "")
    # What was under way when the client stopped it was sent, but did not come.
    assert 0 < int(received["bytes"]) <= sum(row["sent_bytes"] for row in there)
    assert (received["goodput_method"], received["bytes_sent"]) == ("receiver_median", "")
    tables = read_archive(archive).tables()
    assert set(tables.trials.far_side.to_pyarrow().to_pylist()) == {"quic-perf"}
    assert set(tables.flows.host.to_pyarrow().to_pylist()) == {"near"}


def test_a_server_with_a_limit_is_told(tmp_path: Path) -> None:
    with server(tmp_path / "log", "--bytes-max=10000") as port:
        archive = run(tmp_path, HOSTS.format(port=port) + SWEEP, expect=1)
    errors = [str(row["error"]) for row in summary(archive)]
    assert len(errors) == 2
    assert all("has it a limit?" in error for error in errors), errors


def test_a_lab_has_such_servers(tmp_path: Path) -> None:
    link = """
    [campaign]
    name = "perf"
    seed = 1

    [hosts.far]
    peer = "quic-perf"

    [lab.links.link]
    between = ["near", "far"]
    rate = "20Mbit/s"
    delay = "5ms"
    """

    def measure(attempt: int) -> list[Row]:
        folder = tmp_path / str(attempt)
        folder.mkdir()
        rows = summary(run(folder, link + SWEEP.replace('rate = "20Mbit/s"', "")))
        assert [row["status"] for row in rows] == ["ok", "ok"], rows
        return rows

    def check(rows: list[Row]) -> None:
        # What waits in a host that is held up is read at once, and may come to more than the link carries.
        assert all(0 < float(row["goodput_mean_bps"]) < 20e6 for row in rows)

    judged(measure, check, bears_s=0.015)
