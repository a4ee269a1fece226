"""Trials with a real iperf3 server: both sides have the same totals."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from lab_support import needs_lab

from campaign_support import summary
from iperf3_servers import Server, all_arrived, carried_in, disagreement, iperf3_server, run_campaign

IPERF3 = shutil.which("iperf3")
pytestmark = [*needs_lab, pytest.mark.skipif(IPERF3 is None, reason="needs iperf3")]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with iperf3_server(str(IPERF3), tmp_path / "server.json") as server:
        yield server


def run_all_directions(server: Server, folder: Path, *, test: str, family: int, keys: str) -> Path:
    sweep = f"""
        test = "{test}"
        paths = [{{ from = "near", to = "far" }}]
        flows = [1, 8]
        family = {family}
        duration = "600ms"
        interval = "200ms"
        {keys}
    """
    sweeps = f"""
        [[sweep]]
        name = "one-way"
        directions = "both"
        {sweep}
        [[sweep]]
        name = "both-ways"
        directions = "simultaneous"
        {sweep}
    """
    return run_campaign(server.plan(folder, sweeps, family=family))


@pytest.mark.parametrize("family", [4, pytest.param(6, marks=pytest.mark.long)])
@pytest.mark.parametrize(("test", "keys"), [("tcp", 'congestion = "cubic"'), ("udp", 'rate = "5Mbit/s"')])
def test_totals_are_what_the_server_says(
    server: Server, tmp_path: Path, family: int, test: str, keys: str
) -> None:
    archive = run_all_directions(server, tmp_path, test=test, family=family, keys=keys)
    tests = carried_in(archive)
    methods = {(carried.trial["src"], carried.trial["goodput_method"]) for test in tests for carried in test}
    assert methods == {("near", "receiver_mean"), ("far", "receiver_median")}
    assert [len(test) for test in tests] == [1, 1, 1, 1, 2, 2]
    server.log.wait_for(len(tests))
    assert [disagreement(test, server.log) for test in tests] == [None] * len(tests)


def test_what_is_sent_back_is_read_to_the_last_byte(server: Server, tmp_path: Path) -> None:
    """And what is sent there is what was acknowledged: a server that is not busy has read all of it."""
    keys = 'rate = "20Mbit/s"\nlength = "8KiB"'
    tests = carried_in(run_all_directions(server, tmp_path, test="tcp", family=4, keys=keys))
    assert sum(len(carried.near) for test in tests for carried in test) == 4 * (1 + 8)
    assert all(all_arrived(test) for test in tests)
    assert all(0 not in carried.near for test in tests for carried in test)


def test_settings_reach_the_server(server: Server, tmp_path: Path) -> None:
    sweep = """
        [[sweep]]
        name = "settings"
        paths = [{ from = "far", to = "near" }]
        flows = 2
        window = "64KiB"
        length = "16KiB"
        congestion = "reno"
        mss = "1400B"
        duration = "2s"
        omit = "1s"
        interval = "200ms"
    """
    (settings,) = summary(run_campaign(server.plan(tmp_path, sweep)))
    assert settings["status"] == "ok"
    (told,) = server.log.wait_for(1)
    started = told["start"]
    asked = started["test_start"]
    names = ("num_streams", "blksize", "omit", "duration", "reverse")
    assert [asked[name] for name in names] == [2, 16384, 1, 2, 1]
    assert (started["sock_bufsize"], started["tcp_mss"]) == (65536, 1400)
    assert told["end"]["sender_tcp_congestion"] == "reno"
