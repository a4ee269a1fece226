"""Readers of other tools' files: each form, what is refused, and what becomes of many files."""

import gzip
import os
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from flowsweep.archive import read_archive
from flowsweep.cli import load
from flowsweep.cli.app import app
from flowsweep.errors import ImportedFileError
from flowsweep.imports import KINDS, Transfer, parse_known, read_file, reading
from flowsweep.imports.outcome import Numbering, outcome_of
from flowsweep.imports.transfer import Datagrams, FlowReport, Report

load(["import"])

CLIENT_TEXT = """\
------------------------------------------------------------
Client connecting to 10.0.0.2, TCP port 5001
TCP window size:  128 KByte (WARNING: requested 64.0 KByte)
------------------------------------------------------------
[  3] local 10.0.0.1 port 32773 connected with 10.0.0.2 port 5001
[  4] local 10.0.0.1 port 32774 connected with 10.0.0.2 port 5001
[ ID] Interval       Transfer     Bandwidth
[  3]  0.0- 1.0 sec  5.62 MBytes  47.2 Mbits/sec
[  4]  0.0- 1.0 sec  5.60 MBytes  47.0 Mbits/sec
[SUM]  0.0- 1.0 sec  11.2 MBytes  94.2 Mbits/sec
[  3]  1.0- 2.0 sec  5.50 MBytes  46.1 Mbits/sec
[  4]  1.0- 2.0 sec  5.50 MBytes  46.1 Mbits/sec
[SUM]  1.0- 2.0 sec  11.0 MBytes  92.3 Mbits/sec
[  3]  2.0- 3.0 sec  5.70 MBytes  47.8 Mbits/sec
[  4]  2.0- 3.0 sec  5.70 MBytes  47.8 Mbits/sec
[SUM]  2.0- 3.0 sec  11.4 MBytes  95.6 Mbits/sec
[  3]  0.0- 3.0 sec  16.8 MBytes  47.0 Mbits/sec
[  4]  0.0- 3.0 sec  16.8 MBytes  47.0 Mbits/sec
[SUM]  0.0- 3.0 sec  33.6 MBytes  94.0 Mbits/sec
"""
SERVER_TEXT = """\
Server listening on TCP port 5001
TCP window size: 85.3 KByte (default)
[  1] local 10.0.0.2 port 5001 connected with 10.0.0.1 port 40000
[ ID] Interval       Transfer     Bandwidth
[  1] 0.0000-10.0234 sec   112 MBytes  94.1 Mbits/sec
[  2] local 10.0.0.2%eth0 port 5001 connected with 10.0.0.3 port 40001 on 2024-01-02 03:04:05 (UTC)
[  2] 0.0000-10.0000 sec  1.10 GBytes   941 Mbits/sec
[  3] local 10.0.0.2 port 5001 connected with 10.0.0.1 port 40002
[  3] 0.0000-10.0000 sec   111 MBytes  93.1 Mbits/sec
"""
CSV = """\
20240102030405,10.0.0.1,40000,10.0.0.2,5001,3,0.0-10.0,117964800,94371840
20240102030405,10.0.0.1,40001,10.0.0.2,5001,4,0.0-10.0,117964800,94371840
20240102030405,10.0.0.1,0,10.0.0.2,5001,-1,0.0-10.0,235929600,188743679
20240102030416,10.0.0.1,40002,10.0.0.2,5001,3,0.0-10.1,117964800,93437465
"""
CSV_UDP = """\
20240102030404,a,40000,b,5001,3,0.0-1.0,4834830,38678640,0.153,1998,5287,37.791,2
20240102030406,a,40000,b,5001,3,0.0-3.0,14630910,38900000,0.127,6100,16053,38.000,2
"""
CSV_INTERVALS = """\
20240102030401,10.0.0.2,5001,10.0.0.1,40000,4,0.0-1.0,11796480,94371840
20240102030402,10.0.0.2,5001,10.0.0.1,40000,4,1.0-2.0,11796480,94371840
20240102030403,10.0.0.2,5001,10.0.0.1,40000,4,2.0-3.0,10485760,83886080
20240102030404,10.0.0.2,5001,10.0.0.1,40000,4,0.0-3.1,34078720,87945084
"""
TABLE = """\
from,to,time,socket buffer size (bytes),duration,transfer (bytes),Bandwidth (bit/s),remark
a,b,2001-11-28T11:46:48Z,4096,10.4,1900544,1465941,first
a,b,1006948018,8192,,,2495611,
"""


def read(tmp_path: Path, text: str, kind: str | None = None) -> tuple[str, tuple[Transfer, ...]]:
    path = tmp_path / "results"
    path.write_text(text, encoding="utf-8")
    told = read_file(path, kind)
    return told.kind.name, told.transfers


def test_what_a_client_prints(tmp_path: Path) -> None:
    kind, (test,) = read(tmp_path, CLIENT_TEXT)
    assert kind == "iperf-text"
    assert (test.src, test.dst, test.role, test.flow_count) == ("10.0.0.1", "10.0.0.2", "source", 2)
    assert (test.window_send_bytes, test.window_granted_send_bytes) == (65_536, 131_072)
    assert (test.window_recv_bytes, test.length_bytes, test.started_at) == (None, None, None)
    assert test.total.rate_bps == 94e6
    assert [len(flow.intervals) for flow in test.flows] == [3, 3]
    assert test.flows[1].intervals[0].size_bytes == round(5.60 * (1 << 20))


def test_a_log_of_a_server_has_a_test_for_each_client_and_time(tmp_path: Path) -> None:
    _, tests = read(tmp_path, SERVER_TEXT)
    assert [(test.src, test.dst, test.role) for test in tests] == [
        ("10.0.0.1", "10.0.0.2", "sink"), ("10.0.0.3", "10.0.0.2", "sink"), ("10.0.0.1", "10.0.0.2", "sink"),
    ]  # fmt: skip
    assert [test.total.rate_bps for test in tests] == [94.1e6, 941e6, 93.1e6]
    # "112 MBytes" is rounded more coarsely than "94.1 Mbits/sec"
    assert tests[0].total.size_bytes == round(94.1e6 * 10.0234 / 8)
    assert [test.total.end_ns for test in tests] == [10_023_400_000, 10_000_000_000, 10_000_000_000]
    assert tests[1].started_at == datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert (tests[0].window_recv_bytes, tests[0].window_granted_recv_bytes) == (None, round(85.3 * 1024))


def test_csv_of_parallel_flows_with_their_sum_and_of_tests_in_a_row(tmp_path: Path) -> None:
    kind, (parallel, single) = read(tmp_path, CSV)
    assert kind == "iperf-csv"
    assert (parallel.flow_count, parallel.total.rate_bps, parallel.total.size_bytes) == (
        2,
        188_743_679,
        235_929_600,
    )
    assert (single.flow_count, single.total.rate_bps, single.total.end_ns) == (1, 93_437_465, 10_100_000_000)
    # Iperf 2.1 writes the client first at both ends.
    assert parallel.role is single.role is None
    assert parallel.started_at == datetime(2024, 1, 2, 3, 3, 55, tzinfo=UTC)


def test_csv_of_a_server_with_intervals(tmp_path: Path) -> None:
    _, (test,) = read(tmp_path, CSV_INTERVALS)
    assert (test.flows[0].source_port, test.flows[0].sink_port) == (40000, 5001)
    assert (test.src, test.dst, test.role) == ("10.0.0.1", "10.0.0.2", "sink")
    assert [report.size_bytes for report in test.flows[0].intervals] == [11_796_480, 11_796_480, 10_485_760]
    assert test.total == Report(0, 3_100_000_000, 34_078_720, 87_945_084.0)


def timeless(*ids_of_tests: tuple[int, ...]) -> str:
    """What Iperf 2.1.8 writes without -i."""
    ports = iter(range(40_000, 50_000))
    return "".join(
        f"19700101000000,10.0.0.1,{next(ports)},10.0.0.2,5001,{flow},0.0-10.0,1000,800\n"
        for ids in ids_of_tests
        for flow in ids
    )


def test_tests_without_a_time_are_told_apart_by_their_ids(tmp_path: Path) -> None:
    _, tests = read(tmp_path, timeless((2, 1), (2, 1), (1, 2)))
    assert [test.flow_count for test in tests] == [2, 2, 2]
    assert {test.started_at for test in tests} == {None}
    assert [test.flow_count for test in read(tmp_path, timeless((1,), (1,), (1,)))[1]] == [1, 1, 1]
    with pytest.raises(ImportedFileError, match=":3: rows without a time, of tests with different numbers"):
        read(tmp_path, timeless((1,), (2, 1)))


def test_csv_of_datagrams_says_which_end_wrote(tmp_path: Path) -> None:
    _, [sink] = read(tmp_path, CSV_UDP)
    assert (sink.test, sink.role, sink.src, sink.dst) == ("udp", "sink", "a", "b")
    assert sink.flows[0].whole.datagrams == Datagrams(16_053 - 6_100, 6_100, 2, 127_000)
    first, last = CSV_UDP.replace("0.153,1998,", "0.000,0,").splitlines()
    of_source = last.replace("0.127,6100,16053,38.000,2", "0.000,0,-1,-0.000,0")
    _, [source] = read(tmp_path, f"{first.removesuffix('2')}0\n{of_source}\n")
    assert (source.role, source.flows[0].whole.datagrams) == ("source", None)
    assert source.flows[0].intervals[0].datagrams == Datagrams(5_287)
    # Nothing lost, no jitter and no report of the whole: it may have been either end.
    _, [either] = read(tmp_path, f"{first.removesuffix('2')}0\n")
    assert either.role is None


UDP_TEXT = """\
Client connecting to 10.0.0.2, UDP port 5001
Sending 1470 byte datagrams, IPG target: 186.92 us (kalman adjust)
UDP buffer size:  416 KByte (WARNING: requested  208 KByte)
[  3] local 10.0.0.1 port 4000 connected with 10.0.0.2 port 5001
[  3]  0.0- 3.0 sec  22.5 MBytes  62.9 Mbits/sec
[  3] Sent 16054 datagrams
"""
SERVER_REPORT = """\
[  3] Server Report:
[  3]  0.0- 3.0 sec  14.0 MBytes  38.9 Mbits/sec   0.127 ms 6100/ 16053 (38%)
"""


def test_datagrams_that_a_client_prints(tmp_path: Path) -> None:
    silence = "[  3] WARNING: did not receive ack of last datagram after 10 tries.\n"
    _, [alone] = read(tmp_path, UDP_TEXT + silence)
    assert (alone.test, alone.role, alone.length_bytes, alone.far) == ("udp", "source", 1_470, None)
    assert (alone.window_send_bytes, alone.window_granted_send_bytes) == (208 << 10, 416 << 10)
    assert alone.flows[0].whole.datagrams == Datagrams(16_054)
    late = "[  3]  0.0- 3.0 sec  7 datagrams received out-of-order\n"
    _, [told] = read(tmp_path, UDP_TEXT + SERVER_REPORT + late)
    assert told.flows[0].whole.datagrams == Datagrams(16_053)
    assert told.far is not None
    assert told.far.rate_bps == 38_900_000
    assert told.far.flows[0].whole.datagrams == Datagrams(16_053 - 6_100, 6_100, 7, 127_000)


def test_of_one_flow_in_two_a_servers_report_is_no_whole(tmp_path: Path) -> None:
    second = UDP_TEXT.splitlines()[3:6]
    more = "\n".join(line.replace("[  3]", "[  4]").replace("4000", "4001") for line in second)
    lines = UDP_TEXT.splitlines()
    text = "\n".join([*lines[:4], more.splitlines()[0], lines[4], *more.splitlines()[1:], ""])
    _, [transfer] = read(tmp_path, text + SERVER_REPORT)
    assert (transfer.flow_count, transfer.far) == (2, None)


def test_parallel_flows_without_a_sum_add_up(tmp_path: Path) -> None:
    rows = [line for line in CSV.splitlines() if ",-1," not in line]
    _, (parallel, _) = read(tmp_path, "\n".join(rows))
    assert parallel.total == Report(0, 10_000_000_000, 2 * 117_964_800, 2 * 94_371_840.0)


def test_a_sum_of_an_interval_is_not_that_of_the_whole(tmp_path: Path) -> None:
    """Iperf was ended before it summed up."""
    rows = [line.replace("0.0-10.0", "10.0-20.0") for line in CSV.splitlines()[:3]]
    _, (test,) = read(tmp_path, "\n".join([*CSV.splitlines()[:3], *rows]))
    assert test.total == Report(0, 20_000_000_000, 4 * 117_964_800, 2 * 94_371_840.0)


@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
def test_a_table_with_a_header(tmp_path: Path, delimiter: str) -> None:
    kind, (first, second) = read(tmp_path, TABLE.replace(",", delimiter))
    assert kind == "dated-table"
    assert (first.src, first.dst, first.window_send_bytes, first.window_recv_bytes) == ("a", "b", 4096, None)
    assert first.total == Report(0, 10_400_000_000, 1_900_544, 1_465_941.0)
    assert first.started_at == datetime(2001, 11, 28, 11, 46, 48, tzinfo=UTC)
    assert second.started_at == datetime(2001, 11, 28, 11, 46, 58, tzinfo=UTC)
    assert second.total.rate_bps == 2_495_611


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (CSV + "20240102,x\n", 5, "2 columns, expected 9 (TCP)"),
        (CSV.replace("235929600", "many"), 3, "whole numbers"),
        (CSV.replace("20240102030416", "20241302030416"), 4, "time"),
        (CSV_UDP.replace("0.127", "0,127"), 2, "15 columns, expected 9 (TCP) or 14 (UDP)"),
        (CSV_UDP.replace("0.127", "late"), 2, 'found the jitter "late"'),
        (CSV_UDP.replace(",6100,", ",many,"), 2, "whole numbers"),
        ("20240102030405,b,5001,a,40000,3,0.0-9.0,1,1\n" + CSV_UDP, 2, "a client of Iperf 2.0"),
        ("20240102030405,a,0,b,5001,-1,0.0-1.0,1,1\n", 1, "no row of any"),
        ("20240102030405,a,40000,b,5001,3,4.0-5.0,1,1\n", 1, "does not begin at 0"),
        (CLIENT_TEXT.replace("1.0- 2.0 sec  11.0", "1.0- 2.0 sec  what"), 13, "expected interval"),
        (SERVER_TEXT + "[  9] 0.0000-10.0000 sec  1 MBytes  1 Mbits/sec\n", 10, "connected with"),
        ("[  9] local a port 5001 connected with b port 1\n", 1, "no row tells"),
        (TABLE + "a,b,soon,1,1,1,1,\n", 4, 'found "soon"'),
        (TABLE + "a,b,1,64 KB,1,1,1,\n", 4, 'socket_buffer: found "64 KB"'),
        (TABLE + "a,b\n", 4, "2 cells, but the header has 8"),
        (TABLE + "a,,1,1,1,1,1,\n", 4, "expected a host in to"),
    ],
)  # fmt: skip
def test_errors_name_file_line_and_what_is_expected(tmp_path: Path, text: str, line: int, said: str) -> None:
    with pytest.raises(ImportedFileError) as error:
        read(tmp_path, text)
    assert str(error.value).startswith(f"{tmp_path / 'results'}:{line}: ")
    assert said in str(error.value)


def test_unknown_empty_and_large_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ImportedFileError, match=rf"of no kind that is known \({', '.join(KINDS)}\)"):
        read(tmp_path, "hello\n")
    with pytest.raises(ImportedFileError, match="read as iperf-text, it tells of no test"):
        read(tmp_path, "hello\n", kind="iperf-text")
    with pytest.raises(ImportedFileError, match="No such file"):
        read_file(tmp_path / "missing")
    monkeypatch.setattr(reading, "IMPORT_FILE_MAX_BYTES", 10)
    with pytest.raises(ImportedFileError, match="over 10 B"):
        read(tmp_path, CSV)


@pytest.mark.parametrize("kind", KINDS)
def test_bytes_that_are_no_text_are_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "binary"
    path.write_bytes(bytes(range(256)) * 40)
    with pytest.raises(ImportedFileError):
        read_file(path, kind)


def steady(role: str, rates_bps: list[float]) -> Transfer:
    """A test of one flow with intervals of a second."""
    second = 1_000_000_000
    reports = [Report(k * second, (k + 1) * second, int(rate) // 8, rate) for k, rate in enumerate(rates_bps)]
    whole = Report(0, len(rates_bps) * second, sum(report.size_bytes for report in reports), 5e6)
    flow = FlowReport(whole, tuple(reports))
    return Transfer(src="a", dst="b", role=role, total=whole, flow_count=1, flows=(flow,))


@pytest.mark.parametrize(
    ("transfer", "method", "goodput_bps"),
    [
        (steady("sink", [8e6, 1e6, 3e6]), "receiver_median", None),
        (steady("sink", [8e6, 1e6]), "receiver_mean", 5e6),
        (steady("source", [8e6, 1e6, 3e6]), "sender_median", 3e6),
        (steady("source", [8e6, 1e6]), "sender_mean", 5e6),
    ],
)
def test_goodput_is_the_median_over_intervals_where_there_are_enough(
    transfer: Transfer, method: str, goodput_bps: float | None
) -> None:
    record = outcome_of(transfer, "0" * 12, sweep="s", imported_from="", numbering=Numbering([])).record
    assert (record.goodput_method, record.reported_goodput_bps) == (method, goodput_bps)


def test_what_is_known_beyond_the_files(tmp_path: Path) -> None:
    settings = [
        "window=64KiB",
        "window_recv=1MiB",
        "congestion=reno",
        "duration=10s",
        "rate=50Mbit/s",
        "role=sink",
    ]
    assert parse_known(settings) == {
        "window_send_bytes": 65_536, "window_recv_bytes": 1 << 20, "congestion": "reno",
        "duration_ns": 10_000_000_000, "rate_bps": 50_000_000, "role": "sink",
    }  # fmt: skip
    (tmp_path / "client.txt").write_text(CLIENT_TEXT, encoding="utf-8")
    result = CliRunner().invoke(
        app,
        ["import", str(tmp_path / "client.txt"), "--archive", str(tmp_path / "old"), "--sweep", "then",
         "--set", "window=1MiB", "--set", "length=8KB"],
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    [row] = read_archive(tmp_path / "old").tables().trials.to_pyarrow().to_pylist()
    # What the file says stands.
    assert (row["window_send_bytes"], row["window_recv_bytes"], row["length_bytes"]) == (
        65_536,
        1 << 20,
        8000,
    )
    assert row["sweep"] == "then"


def test_a_file_that_cannot_be_read_is_named_and_the_others_go_on(tmp_path: Path) -> None:
    good, bad, archive = tmp_path / "good.csv", tmp_path / "bad.csv", tmp_path / "old"
    good.write_text(CSV, encoding="utf-8")
    bad.write_text(f"{CSV}20240102030405,x\n{CSV}", encoding="utf-8")
    result = CliRunner().invoke(app, ["import", str(bad), str(good), "--archive", str(archive)])
    assert result.exit_code == 1
    assert f"{bad}:5: " in result.stderr
    assert "2 trials imported from 1 file" in result.stdout
    assert [row["repeat"] for row in read_archive(archive).tables().trials.to_pyarrow().to_pylist()] == [1, 1]
    again = CliRunner().invoke(app, ["import", str(bad), "--archive", str(tmp_path / "none")])
    assert again.exit_code == 2
    assert not (tmp_path / "none").exists()


def test_a_file_with_a_line_longer_than_csv_allows_does_not_stop_the_others(tmp_path: Path) -> None:
    long = "x" * 200_000
    (tmp_path / "unknown.json").write_text(f'{{"{long}": 1}}', encoding="utf-8")
    (tmp_path / "late.csv").write_text(f"{CSV}{long}\n", encoding="utf-8")
    (tmp_path / "good.csv").write_text(CSV, encoding="utf-8")
    result = CliRunner().invoke(app, ["import", str(tmp_path), "--archive", str(tmp_path / "old")])
    assert result.exit_code == 1
    assert f"{tmp_path / 'unknown.json'}: of no kind that is known" in result.stderr
    assert f"{tmp_path / 'late.csv'}:5: the line has 200000 characters, expected up to 65536" in result.stderr
    assert "2 trials imported from 1 file" in result.stdout


def test_text_as_powershell_writes_it_is_read(tmp_path: Path) -> None:
    file = tmp_path / "redirected.csv"
    file.write_text(CSV, encoding="utf-16")
    assert read_file(file).transfers == read(tmp_path, CSV)[1]


def test_a_pipe_is_read_as_a_file_is(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(gzip.compress(CSV.encode()),))
    writer.start()
    assert len(read_file(pipe).transfers) == 2
    writer.join()


def test_nothing_in_a_file_reaches_a_terminal_as_a_command_to_it(tmp_path: Path) -> None:
    file, bad, archive = tmp_path / "\x1b[31mred.txt", tmp_path / "\x1b[2Jbad.txt", tmp_path / "old"
    host = "\x1b]0;title\x07host"
    begun = f"[  3] local 10.0.0.1 port 4000 connected with {host} port 5001\n"
    file.write_text(f"{begun}[  3]  0.0-10.0 sec  112 MBytes  94.0 Mbits/sec\n", encoding="utf-8")
    bad.write_text(f"{begun}[  3]  0.0-10.0 \x1b[2J\n", encoding="utf-8")
    result = CliRunner().invoke(app, ["import", str(file), str(bad), "--archive", str(archive)])
    assert "\ufffd[2Jbad.txt:2: found" in result.stderr
    assert "\x1b" not in result.output
    [row] = read_archive(archive).tables().trials.to_pyarrow().to_pylist()
    assert (row["dst"], row["imported_from"]) == (
        "\ufffd]0;title\ufffdhost", "iperf-text \ufffd[31mred.txt",
    )  # fmt: skip


@pytest.mark.parametrize(
    "wrong", [["--kind", "iperf3"], ["--set", "window=64"], ["--set", "color=red"], ["--set", "role=client"]]
)
def test_wrong_options(tmp_path: Path, wrong: list[str]) -> None:
    result = CliRunner().invoke(app, ["import", "x", "--archive", str(tmp_path / "old"), *wrong])
    assert result.exit_code != 0
    assert not (tmp_path / "old").exists()
