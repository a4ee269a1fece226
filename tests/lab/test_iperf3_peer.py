"""Trials with a real iperf3 server: both sides have the same totals."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from lab_support import needs_lab

from campaign_support import flowsweep, summary, wait_until
from flowsweep.archive import read_archive

IPERF3 = shutil.which("iperf3")
PORT = 5201
pytestmark = [*needs_lab, pytest.mark.skipif(IPERF3 is None, reason="needs iperf3")]
LOOPBACK = {4: "127.0.0.1", 6: "::1"}


@dataclass(frozen=True)
class Server:
    """An iperf3 server in a network namespace of its own."""

    namespace: str
    log: Path

    def tests(self) -> list[dict[str, Any]]:
        """What the server says of each test that was over, in their order."""
        text, found = self.log.read_text(), []
        while text := text.lstrip():
            test, end = json.JSONDecoder().raw_decode(text)
            found.append(test)
            text = text[end:]
        return [test for test in found if "test_start" in test["start"]]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    namespace, log = f"iperf3-{os.getpid()}", tmp_path / "server.json"
    inside = ["ip", "netns", "exec", namespace]
    subprocess.run(["ip", "netns", "add", namespace], check=True)
    try:
        subprocess.run([*inside, "ip", "link", "set", "lo", "up"], check=True)
        command = [*inside, str(IPERF3), "-s", "-p", str(PORT), "-J", "--logfile", str(log)]
        process = subprocess.Popen(command)
        try:
            yield Server(namespace, log)
        finally:
            process.terminate()
            process.wait(10)
    finally:
        subprocess.run(["ip", "netns", "delete", namespace], check=True)


def run_campaign(server: Server, folder: Path, *, test: str, family: int, keys: str) -> Path:
    sweep = f"""
        test = "{test}"
        paths = [{{ from = "near", to = "far" }}]
        flows = [1, 8]
        family = {family}
        duration = "600ms"
        interval = "200ms"
        {keys}
    """
    plan = folder / "plan.toml"
    plan.write_text(
        f"""
        [campaign]
        repeats = 1
        order = "listed"
        [hosts.near]
        launch = ["ip", "netns", "exec", "{server.namespace}"]
        [hosts.far]
        peer = "iperf3"
        address = "{LOOPBACK[family]}"
        port = {PORT}
        [[sweep]]
        name = "one-way"
        directions = "both"
        {sweep}
        [[sweep]]
        name = "both-ways"
        directions = "simultaneous"
        {sweep}
        """,
        encoding="utf-8",
    )
    flowsweep("run", plan, "--archive", folder / "archive")
    return folder / "archive"


@pytest.mark.parametrize("family", [4, 6])
@pytest.mark.parametrize(("test", "keys"), [("tcp", 'congestion = "cubic"'), ("udp", 'rate = "5Mbit/s"')])
def test_totals_are_what_the_server_says(
    server: Server, tmp_path: Path, family: int, test: str, keys: str
) -> None:
    archive = run_campaign(server, tmp_path, test=test, family=family, keys=keys)
    rows = summary(archive)
    assert [row["status"] for row in rows] == ["ok"] * 8
    methods = {(row["src"], row["goodput_method"]) for row in rows}
    assert methods == {("near", "receiver_mean"), ("far", "receiver_median")}
    count = len({row["trial_id"] for row in rows if row["sweep"] == "one-way"}) + 2
    wait_until(lambda: len(server.tests()) == count)
    flows = read_archive(archive).tables().flows.to_pyarrow().to_pylist()
    for told, group in zip(server.tests(), grouped_by_test(rows), strict=True):
        for row in group:
            assert totals(flows, row) == server_totals(told, sent=row["src"] == "far", test=test)


def grouped_by_test(rows: list[dict[str, str]]) -> list[list[dict[str, str]]]:
    """The trials of each test of the server's, in their order: two where both directions ran at once."""
    ordered = sorted(rows, key=lambda row: row["started_at"])
    one_way = [[row] for row in ordered if row["sweep"] == "one-way"]
    both = [row for row in ordered if row["sweep"] == "both-ways"]
    pairs = [list(pair) for _, pair in groupby(both, key=lambda row: row["flows"])]
    return sorted(one_way + pairs, key=lambda group: group[0]["started_at"])


def totals(flows: list[dict[str, Any]], row: dict[str, str]) -> list[int]:
    """What the archive has of the far end, flow by flow."""
    far = [flow for flow in flows if flow["trial_id"] == row["trial_id"] and flow["host"] == "far"]
    name = "bytes" if row["test"] == "tcp" else "udp_datagrams"
    return [flow[name] for flow in sorted(far, key=lambda flow: flow["flow"])]


def server_totals(told: dict[str, Any], *, sent: bool, test: str) -> list[int]:
    streams = told["end"]["streams"]
    if test == "udp":
        own = [stream["udp"] for stream in streams if stream["udp"]["sender"] == sent]
        return [stream["packets"] - stream["lost_packets"] for stream in own]
    end = "sender" if sent else "receiver"
    return [stream[end]["bytes"] for stream in streams if stream[end]["sender"] == sent]


def test_what_is_sent_back_is_read_to_the_last_byte(server: Server, tmp_path: Path) -> None:
    """And what is sent there is what was acknowledged: a server that is not busy has read all of it."""
    archive = run_campaign(server, tmp_path, test="tcp", family=4, keys='rate = "20Mbit/s"\nlength = "8KiB"')
    flows = read_archive(archive).tables().flows.to_pyarrow().to_pylist()
    both: dict[tuple[str, int], list[int]] = {(flow["trial_id"], flow["flow"]): [] for flow in flows}
    for flow in flows:
        both[flow["trial_id"], flow["flow"]].append(flow["bytes"])
    assert len(both) == 4 * (1 + 8)
    assert all(len(ends) == 2 and ends[0] == ends[1] > 0 for ends in both.values())


def test_settings_reach_the_server(server: Server, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f"""
        [campaign]
        repeats = 1
        order = "listed"
        [hosts.near]
        launch = ["ip", "netns", "exec", "{server.namespace}"]
        [hosts.far]
        peer = "iperf3"
        address = "127.0.0.1"
        [[sweep]]
        name = "settings"
        paths = [{{ from = "far", to = "near" }}]
        flows = 2
        window = "64KiB"
        length = "16KiB"
        congestion = "reno"
        mss = "1400B"
        duration = "2s"
        omit = "1s"
        interval = "200ms"
        """,
        encoding="utf-8",
    )
    flowsweep("run", plan, "--archive", tmp_path / "archive")
    (settings,) = summary(tmp_path / "archive")
    assert settings["status"] == "ok"
    started = server.tests()[0]["start"]
    asked = started["test_start"]
    names = ("num_streams", "blksize", "omit", "duration", "reverse")
    assert [asked[name] for name in names] == [2, 16384, 1, 2, 1]
    assert (started["sock_bufsize"], started["tcp_mss"]) == (65536, 1400)
    assert server.tests()[0]["end"]["sender_tcp_congestion"] == "reno"
