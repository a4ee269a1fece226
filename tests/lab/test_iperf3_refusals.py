"""What a real iperf3 server refuses is a failed trial, in words; one that is busy is waited for."""

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from lab_support import needs_lab
from typer.testing import CliRunner

from campaign_support import summary
from flowsweep.cli import load
from flowsweep.cli.app import app
from flowsweep.run import pair
from iperf3_guests import programs, version_of
from iperf3_servers import PORT, Server, iperf3_server, run_campaign

pytestmark = [*needs_lab, pytest.mark.skipif(not programs(), reason="needs iperf3")]
TRIAL = """
    duration = "600ms"
    interval = "200ms"
"""
PLAIN = f"""
    [[sweep]]
    name = "plain"
    paths = [{{ from = "near", to = "far" }}]
    {TRIAL}
"""
REFUSED = f"""
    [[sweep]]
    name = "congestion"
    paths = [{{ from = "far", to = "near" }}]
    congestion = "nonesuch"
    rate = "500kbit/s"
    {TRIAL}
    [[sweep]]
    name = "window"
    paths = [{{ from = "near", to = "far" }}]
    window_send = "64KiB"
    window_recv = "500MiB"
    {TRIAL}
    [[sweep]]
    name = "rate"
    paths = [{{ from = "near", to = "far" }}]
    rate = "5Mbit/s"
    {TRIAL}
"""
WORDS = {
    "congestion": r"it sent with the congestion control \w+, nonesuch was asked for",
    "window": r"it refused: the size of a socket buffer is not what was asked for .*\(iperf3's error 141\)",
    # 3.12 hangs up without a word.
    "rate": r"it refused: the rate of all streams is over its limit \(iperf3's error 27\)|due: it hung up",
}
OLD_WORDS = r"user name or password are wrong \(iperf3's error 142\)"
NOT_LET_IN = {
    "wrong password": f"{OLD_WORDS}|user, password, key or clock are not right",
    "no login": f"{OLD_WORDS}|they want to know who asks",
}
BUSY_S = 2


@pytest.mark.parametrize("program", programs(), ids=version_of)
def test_a_parameter_that_is_refused_fails_its_trial_alone(tmp_path: Path, program: str) -> None:
    with iperf3_server(program, None, "--server-bitrate-limit", "1M") as server:
        rows = summary(run_campaign(server.plan(tmp_path, REFUSED), expect=1))
    told = {row["sweep"]: row["error"] for row in rows if row["status"] != "ok"}
    assert told.keys() == WORDS.keys()
    assert [name for name, error in told.items() if not re.search(WORDS[name], error)] == [], told


@pytest.mark.parametrize("who", NOT_LET_IN)
@pytest.mark.parametrize("program", programs(), ids=version_of)
def test_who_is_not_let_in_is_told_so(tmp_path: Path, program: str, who: str) -> None:
    with iperf3_server(program, None, users=True) as server:
        plan = server.plan(tmp_path, PLAIN, password=who == "wrong password")
        (row,) = summary(run_campaign(plan, expect=1, password="wrong"))
    assert row["status"] == "failed"
    assert re.search(NOT_LET_IN[who], row["error"]), row["error"]


def test_a_busy_server_is_waited_for(tmp_path: Path) -> None:
    with iperf3_server(programs()[0], tmp_path / "log") as server, somebody_else(server, BUSY_S):
        (row,) = summary(run_campaign(server.plan(tmp_path, PLAIN)))
        assert (row["status"], row["error"]) == ("ok", "")
        first, second = server.log.wait_for(2)
    assert first["start"]["test_start"]["duration"] == BUSY_S
    assert second["end"]["sum_received"]["bytes"] > 0


def test_a_server_that_stays_busy_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load(["run"])
    monkeypatch.setattr(pair, "IPERF3_BUSY_FOR_NS", 300_000_000)
    with iperf3_server(programs()[0], None) as server, somebody_else(server, 60):
        plan = server.plan(tmp_path, PLAIN)
        archive = tmp_path / "archive"
        done = CliRunner().invoke(app, ["run", str(plan), "--archive", str(archive)], catch_exceptions=False)
    assert done.exit_code == 1, done.output
    (row,) = summary(archive)
    assert row["status"] == "failed"
    assert "it is busy with another test, and still was after 0." in row["error"]


@contextmanager
def somebody_else(server: Server, duration_s: int) -> Iterator[None]:
    """Have a real client test, for at most so long, before this begins."""
    words = ["ip", "netns", "exec", server.namespace, server.program, "-c", "127.0.0.1", "-p", str(PORT)]
    words += ["-t", str(duration_s), "-b", "1M", "-l", "1000", "--forceflush"]
    client = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        assert client.stdout is not None
        # "Connected to" comes when the server has taken the test.
        line = next((line for line in client.stdout if "connected to" in line), None)
        assert line is not None
        yield
    finally:
        client.kill()
        client.communicate()
