"""Tests of iperf3 that somebody interrupted, and datagrams of omitted seconds: nothing is made up."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from flowsweep.cli.app import app
from imported_trials import FILES, Row, imported

pytestmark = pytest.mark.whole

LINK_BPS = 50e6
"""Of the `tbf` that all of them went through."""


def intervals_of(name: str) -> list[Row]:
    """Those that took place, once each: the end that is told that it is over writes the last one again."""
    text = (FILES / name).read_text(encoding="utf-8")
    if text.startswith('{"event"'):
        events = [json.loads(line) for line in text.splitlines()]
        intervals = [event["data"] for event in events if event["event"] == "interval"]
    else:
        intervals = json.loads(text)["intervals"]
    streams = {
        (stream["socket"], stream["start"]): stream
        for interval in intervals
        for stream in interval["streams"]
    }
    return list(streams.values())


def test_a_client_that_was_interrupted_does_not_know_what_came(tmp_path: Path) -> None:
    """iperf3 writes that the receiver got nothing."""
    [row] = imported(tmp_path, "iperf3-3.12-interrupted-client.json")
    sent = sum(stream["bytes"] for stream in intervals_of("iperf3-3.12-interrupted-client.json"))
    assert (row["bytes_sent"], row["bytes"], row["elapsed_s"]) == (sent, None, 2.611805)
    assert row["goodput_method"] == "sender_mean"
    assert row["goodput_bps"] == pytest.approx(sent * 8 / 2.611805)
    assert (row["status"], row["error"]) == (
        "incomplete", 'the test was broken off: "interrupt - the client has terminated"',
    )  # fmt: skip


@pytest.mark.parametrize(
    "name",
    [
        "iperf3-3.12-interrupted-server.json",
        "iperf3-3.12-udpinterrupted-server.json",
        "iperf3-3.21-interruptedstream-server.json",
    ],
)
def test_a_server_whose_client_was_interrupted_counts_no_interval_twice(tmp_path: Path, name: str) -> None:
    """Its own summary has the bytes of 2.6 s and the time of 2: more than the link carries."""
    row = imported(tmp_path, name)[0]
    came = [stream for stream in intervals_of(name) if not stream["sender"]]
    assert row["bytes"] == sum(stream["bytes"] for stream in came)
    assert 0.8 * LINK_BPS < row["goodput_bps"] < LINK_BPS
    assert row["elapsed_s"] == max(stream["end"] for stream in came)
    assert (row["status"], row["error"]) == (
        "incomplete", 'the test was broken off: "the client has terminated"',
    )  # fmt: skip
    if row["test"] == "udp":
        lost = sum(stream["lost_packets"] for stream in came)
        assert (row["datagrams_sent"], row["lost"]) == (sum(stream["packets"] for stream in came), lost)


def test_datagrams_of_a_client_that_was_interrupted_are_not_lost(tmp_path: Path) -> None:
    [row] = imported(tmp_path, "iperf3-3.12-udpinterrupted-client.json")
    assert (row["loss"], row["datagrams"], row["bytes"]) == (None, None, None)
    assert (row["goodput_method"], row["bytes_sent"]) == ("sender_mean", 19_330_800)


def test_a_test_of_which_only_omitted_seconds_took_place_failed(tmp_path: Path) -> None:
    text = (FILES / "iperf3-3.12-interrupted-client.json").read_text("utf-8")
    file = tmp_path / "omitted.json"
    file.write_text(text.replace('"omitted":\tfalse', '"omitted":\ttrue'), "utf-8")
    result = CliRunner().invoke(app, ["import", str(file), "--archive", str(tmp_path / "archive")])
    assert result.exit_code == 2
    assert f'{file}:1$.error: the test failed: "interrupt - the client has terminated"' in result.output


def test_omitted_datagrams_are_neither_lost_nor_below_zero(tmp_path: Path) -> None:
    """With -O iperf3 3.12 lets sums fall below 0; what was in the queue then counts at the receiver only."""
    there, back = imported(tmp_path / "bidir", "iperf3-3.12-udpomit-client.json")
    assert (there["datagrams_sent"], there["datagrams"], there["lost"]) == (18_041, 18_041, 0)
    assert (back["datagrams_sent"], back["datagrams"], back["lost"]) == (17_995, 17_995, 0)
    [reverse] = imported(tmp_path / "reverse", "iperf3-3.21-udpomit-client.json")
    came = [row for row in intervals_of("iperf3-3.21-udpomit-client.json") if not row["omitted"]]
    end = json.loads((FILES / "iperf3-3.21-udpomit-client.json").read_text("utf-8"))["end"]["sum_received"]
    assert reverse["lost"] == sum(row["lost_packets"] for row in came) == end["lost_packets"]
    assert reverse["datagrams_sent"] == end["packets"]
    assert reverse["bytes_sent"] == 30_001_000


def test_a_client_of_datagrams_tells_their_jitter(tmp_path: Path) -> None:
    """It has no intervals of the far end, but what this had at last."""
    [row] = imported(tmp_path, "iperf3-3.21-udpstream-client.json")
    events = (FILES / "iperf3-3.21-udpstream-client.json").read_text("utf-8").splitlines()
    end = next(
        event["data"]
        for event in map(json.loads, (line for line in events if line.startswith('{"event"')))
        if event["event"] == "end"
    )
    assert row["goodput_method"] == "receiver_mean"
    assert row["jitter_ms"] == pytest.approx(end["sum"]["jitter_ms"], abs=1e-6)
