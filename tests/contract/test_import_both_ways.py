"""Iperf 2 in both directions (-d, -r) and in reverse: each direction is a trial, and none is their sum."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from flowsweep.cli.app import app
from flowsweep.errors import ImportedFileError
from flowsweep.imports import read_file
from imported_trials import imported

pytestmark = pytest.mark.whole

CLIENT, SERVER = "10.88.0.1", "10.88.0.2"


@pytest.mark.parametrize(
    ("name", "there_bps", "back_bps"),
    [
        ("iperf-2.1.8-dual-client.txt", 46.5e6, 46.5e6),
        ("iperf-2.1.8-dual-server.txt", 46.5e6, 46.2e6),
        ("iperf-2.1.8-tradeoff-client.txt", 47.7e6, 47.9e6),
        ("iperf-2.1.8-tradeoff-server.txt", 47.9e6, 47.8e6),
    ],
)
def test_each_direction_is_a_trial(tmp_path: Path, name: str, there_bps: float, back_bps: float) -> None:
    """Both over a link of 50 Mbit/s, one flow each."""
    rows = {row["src"]: row for row in imported(tmp_path, name)}
    assert set(rows) == {CLIENT, SERVER}
    received_at = SERVER if "server" in name else CLIENT
    for src, reported_bps in ((CLIENT, there_bps), (SERVER, back_bps)):
        row = rows[src]
        assert (row["dst"], row["flows"], row["simultaneous"]) == (
            CLIENT if src == SERVER else SERVER, 1, "dual" in name,
        )  # fmt: skip
        assert row["goodput_method"].startswith("receiver" if row["dst"] == received_at else "sender")
        size = row["bytes"] if row["dst"] == received_at else row["bytes_sent"]
        assert size * 8 / row["elapsed_s"] == pytest.approx(reported_bps, rel=0.005)


def test_each_direction_of_a_csv_is_a_trial(tmp_path: Path) -> None:
    """Iperf 2.1 has the end that sends first: who listened does not matter."""
    rows = {row["src"]: row for row in imported(tmp_path / "dual", "iperf-2.1.8-dual-server.csv")}
    assert {src: (row["dst"], row["flows"], row["bytes_sent"]) for src, row in rows.items()} == {
        CLIENT: (SERVER, 1, 17_563_708),
        SERVER: (CLIENT, 1, 17_694_720),
    }
    assert {row["simultaneous"] for row in rows.values()} == {True}
    [reverse] = imported(tmp_path / "reverse", "iperf-2.1.8-reverse-client.csv")
    assert (reverse["src"], reverse["dst"], reverse["goodput_method"]) == (SERVER, CLIENT, "sender_median")


def test_csv_of_iperf_2_0_in_both_directions_is_two_trials(tmp_path: Path) -> None:
    """It has the end that wrote first, and flows have the numbers of their sockets."""
    file = tmp_path / "dual.csv"
    file.write_text(
        "20240102030410,10.0.0.1,45001,10.0.0.2,5001,3,0.0-10.0,58982400,47185920\n"
        "20240102030410,10.0.0.1,5001,10.0.0.2,45003,4,0.0-10.0,57671680,46137344\n"
    )
    there, back = read_file(file).transfers
    assert (there.src, there.dst, there.total.size_bytes) == ("10.0.0.1", "10.0.0.2", 58_982_400)
    assert (back.src, back.dst, back.role, back.total.size_bytes) == (
        "10.0.0.2", "10.0.0.1", "sink", 57_671_680,
    )  # fmt: skip
    assert there.simultaneous
    assert back.simultaneous


@pytest.mark.parametrize(
    "rows",
    [
        "20261122105854,10.88.0.2,9043,::,0,1,0.0-1.0,5683892,45471136\n",
        (
            "20261122105854,10.88.0.2,9043,10.88.0.1,51344,1,0.0-1.0,6422528,51380224\n"
            "20261122105854,10.88.0.1,51344,10.88.0.2,9043,1,0.0-1.0,5613772,44910176\n"
        ),
    ],
)
def test_csv_of_both_directions_over_one_connection_is_refused(tmp_path: Path, rows: str) -> None:
    """As a client and a server of Iperf 2.1.8 wrote them with --full-duplex."""
    file = tmp_path / "full.csv"
    file.write_text(rows)
    with pytest.raises(ImportedFileError, match="both directions over one connection"):
        read_file(file)


def test_datagrams_in_reverse_are_datagrams(tmp_path: Path) -> None:
    [row] = imported(tmp_path, "iperf-2.1.8-reverse-udp-client.txt")
    assert (row["test"], row["src"], row["dst"]) == ("udp", SERVER, CLIENT)
    assert (row["datagrams_sent"], row["lost"], row["length_bytes"]) == (21_401, 8_946, 1_470)


def test_what_bounces_over_one_connection_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "bounced.txt"
    file.write_text(
        "Server listening on TCP port 5001\n"
        "[  1] local 10.88.0.2 port 5001 connected with 10.88.0.1 port 54920 (bb w/quickack len/hold=100/0)\n"
        "[  1] 0.0000-2.0003 sec  3.91 KBytes  16.0 Kbits/sec\n"
    )
    result = CliRunner().invoke(app, ["import", str(file), "--archive", str(tmp_path / "archive")])
    assert result.exit_code == 2
    assert f"{file}:2: both directions over one connection" in result.output
