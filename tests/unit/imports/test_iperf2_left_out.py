"""Logs of Iperf 1 and 2 with tests that gave nothing: the others are imported."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from flowsweep.archive import read_archive
from flowsweep.cli import load
from flowsweep.cli.app import app
from flowsweep.errors import ImportedFileError
from flowsweep.imports import read_file
from flowsweep.imports.reading import FileTests
from flowsweep.imports.transfer import NO_REPORT_OF_THE_WHOLE, Report

load(["import"])

LISTENS = "Server listening on TCP port 5001\n"
HEADING = "Client connecting to 10.0.0.2, TCP port 5001\n"
SECOND = 1_000_000_000
NO_ROW = "a connection of which no row tells anything"


def served(flow: int, port: int) -> str:
    return f"[{flow:3}] local 10.0.0.2 port 5001 connected with 10.0.0.1 port {port}\n"


def client(flow: int, port: int) -> str:
    return f"[{flow:3}] local 10.0.0.1 port {port} connected with 10.0.0.2 port 5001\n"


def row(flow: int | str, begin: int, end: int) -> str:
    return f"[{flow:>3}] {begin}.0-{end}.0 sec  {10 * (end - begin)}.0 MBytes  83.9 Mbits/sec\n"


LOG = LISTENS + served(4, 40_000) + row(4, 0, 10) + served(5, 40_002) + row(5, 0, 10)


def told(tmp_path: Path, text: str) -> FileTests:
    (tmp_path / "log").write_text(text, "utf-8")
    return read_file(tmp_path / "log")


def reasons(tests: FileTests) -> list[tuple[str, str]]:
    return [(failed.place, str(failed)) for failed in tests.failed]


def test_a_log_of_a_server_that_runs_adds_only_new_tests(tmp_path: Path) -> None:
    words = ["import", str(tmp_path / "log"), "--archive", str(tmp_path / "old")]
    steps = (
        (LOG, 2, ""),
        (LOG + served(4, 40_004), 2, f"1 test of {tmp_path / 'log'} failed and is left out"),
    )
    for text, count, said in (*steps, (LOG + served(4, 40_004) + row(4, 0, 9), 3, "")):
        (tmp_path / "log").write_text(text, "utf-8")
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 0, done.output
        assert said in done.stderr
        assert len(read_archive(tmp_path / "old").state.imported) == count


def test_a_test_that_broke_before_its_first_row_says_why(tmp_path: Path) -> None:
    text = HEADING + client(3, 40_000) + row(3, 0, 10) + "connect failed: Connection refused\n"
    text += HEADING + client(3, 40_002) + "write failed: Broken pipe\n"
    # The next run has an id that the broken one did not have.
    tests = told(
        tmp_path, text + HEADING + client(4, 40_006) + client(3, 40_008) + row(4, 0, 9) + row(3, 0, 9)
    )
    assert [test.flow_count for test in tests.transfers] == [1, 2]
    assert reasons(tests) == [("4", "connect failed: Connection refused"), ("6", "write failed: Broken pipe")]


def test_a_flow_without_a_row_leaves_its_test_unfinished(tmp_path: Path) -> None:
    (test,) = told(tmp_path, HEADING + client(3, 1) + client(4, 2) + row(3, 0, 1) + row(3, 0, 2)).transfers
    assert (test.flow_count, len(test.flows), test.unfinished) == (2, 1, NO_REPORT_OF_THE_WHOLE)


@pytest.mark.parametrize(
    ("nothing", "why"),
    [
        ("[  5]  0.0- 0.0 sec  0.00 Bytes  0.00 bits/sec\n", "the connection took no time at all"),
        ("", NO_ROW),
    ],
)
def test_a_connection_of_no_time_is_left_out(tmp_path: Path, nothing: str, why: str) -> None:
    tests = told(tmp_path, LISTENS + served(5, 1) + nothing + served(5, 2) + row(5, 0, 3))
    assert [test.flows[0].source_port for test in tests.transfers] == [2]
    [(place, said)] = reasons(tests)
    assert (place, said.partition(":")[0]) == ("2", why)


@pytest.mark.parametrize("cut", range(14, len(row(4, 2, 3)) - 1))
def test_a_last_row_that_is_cut_off_is_left_out(tmp_path: Path, cut: int) -> None:
    text = LISTENS + served(4, 40_000) + row(4, 0, 1) + row(4, 1, 2) + row(4, 2, 3)[:cut]
    (test,) = told(tmp_path, text).transfers
    assert (len(test.flows[0].intervals), test.total.end_ns) == (2, 2 * SECOND)
    assert test.unfinished == NO_REPORT_OF_THE_WHOLE
    with pytest.raises(ImportedFileError, match=":5: found"):
        told(tmp_path, f"{text.rstrip()}\n{row(4, 3, 4)}")


def test_connections_of_2_1_that_are_refused(tmp_path: Path) -> None:
    """As 2.1.8 prints them: with -P 3, and its heading between them."""
    refused = "tcp connect failed: Connection refused\n"
    lines = [
        f"{refused}[{flow:3}] local 0.0.0.0 port 0 connected with 10.0.0.2 port 5001\n" for flow in (3, 1, 2)
    ]
    run = lines[0] + HEADING + lines[1] + lines[2]
    tests = told(tmp_path, run + run + HEADING + client(1, 40_000) + row(1, 0, 10))
    assert [test.flow_count for test in tests.transfers] == [1]
    assert [reason for _, reason in reasons(tests)] == ["tcp connect failed: Connection refused"] * 2


@pytest.mark.parametrize(
    "said",
    ["connect failed: Connection refused", "bind failed: Address already in use", "tcp connect failed: x"],
)
def test_a_file_with_a_failure_only_is_refused_with_the_reason(tmp_path: Path, said: str) -> None:
    with pytest.raises(ImportedFileError, match=f"log:2: {said}"):
        told(tmp_path, f"{HEADING}{said}\n")


SUMS = row("SUM-2", 0, 1) + row("SUM-2", 1, 2) + row("SUM-2", 0, 2)


def test_a_sum_alone_is_the_total(tmp_path: Path) -> None:
    """--sum-only: 2.1.8 leaves out the lines of connections, too."""
    (known,) = told(tmp_path, HEADING + client(1, 40_000) + client(2, 40_002) + SUMS).transfers
    first, second = told(
        tmp_path, HEADING + SUMS + HEADING + row("SUM-2", 0, 1) + row("SUM-2", 1, 2)
    ).transfers
    whole = Report(0, 2 * SECOND, round(83.9e6 / 4), 83.9e6)
    for test, src in ((known, "10.0.0.1"), (first, None)):
        assert (test.total, test.flow_count, test.flows) == (whole, 2, ())
        assert (test.src, test.dst, test.role, test.unfinished) == (src, "10.0.0.2", "source", None)
    assert (second.total.end_ns, second.unfinished) == (2 * SECOND, NO_REPORT_OF_THE_WHOLE)


def test_of_a_server_sums_alone_do_not_tell_enough(tmp_path: Path) -> None:
    with pytest.raises(ImportedFileError, match=r"log:4: sums \(--sum-only\), but no line says"):
        told(tmp_path, LISTENS + SUMS)
    pairs = [served(2 * n + 1, 40_000 + n) + served(2 * n + 2, 50_000 + n) + SUMS for n in range(2)]
    assert [test.flow_count for test in told(tmp_path, LISTENS + "".join(pairs)).transfers] == [2, 2]


CSV = """\
20240101120003,a,40000,b,5001,3,0.0-1.0,118000000,944000000
20240101120004,a,40000,b,5001,3,1.0-2.0,118000000,944000000
"""
WHOLE = "20240101120004,a,40000,b,5001,3,0.0-2.0,236000000,944000000"
CSV_UDP = """\
20240102030404,a,40000,b,5001,3,0.0-1.0,4834830,38678640,0.153,1998,5287,37.791,2
20240102030406,a,40000,b,5001,3,1.0-2.0,4834830,38678640,0.127,1998,5287,37.791,2
"""
WHOLE_UDP = "20240102030406,a,40000,b,5001,3,0.0-2.0,9669660,38678640,0.127,3996,10574,37.791,2"


@pytest.mark.parametrize("cut", range(1, len(WHOLE)))
def test_a_last_row_of_csv_that_is_cut_off_is_left_out(tmp_path: Path, cut: int) -> None:
    (test,) = told(tmp_path, CSV + WHOLE[:cut]).transfers
    assert (test.total.rate_bps, test.unfinished) == (944e6, NO_REPORT_OF_THE_WHOLE)
    if cut < len(WHOLE) - 9:
        with pytest.raises(ImportedFileError, match=":3: "):
            told(tmp_path, f"{CSV}{WHOLE[:cut]}\n{WHOLE}\n")


@pytest.mark.parametrize("cut", range(len(WHOLE) - 8, len(WHOLE)))
def test_an_only_row_of_csv_that_is_cut_off_in_its_rate_is_refused(tmp_path: Path, cut: int) -> None:
    assert len(told(tmp_path, WHOLE).transfers) == 1
    with pytest.raises(ImportedFileError, match="log:1: the only row is cut off"):
        told(tmp_path, WHOLE[:cut])


@pytest.mark.parametrize("cut", range(1, len(WHOLE_UDP) - 1))
def test_a_last_row_of_datagrams_that_is_cut_off_is_left_out(tmp_path: Path, cut: int) -> None:
    (test,) = told(tmp_path, CSV_UDP + WHOLE_UDP[:cut]).transfers
    assert (test.test, len(test.flows[0].intervals), test.unfinished) == ("udp", 2, NO_REPORT_OF_THE_WHOLE)


def test_what_a_server_told_a_client_of_2_0_may_be_cut_off(tmp_path: Path) -> None:
    report = "20240101120004,b,5001,a,40000,3,0.0-2.0,230000000,920000000,0.127,3996,10574,37.791,2"
    for cut in range(len(report) - 35, len(report) - 1):
        (test,) = told(tmp_path, f"{CSV}{WHOLE}\n{report[:cut]}").transfers
        assert (test.src, test.total.rate_bps, test.far) == ("a", 944e6, None)


def test_failures_between_rows_of_csv_are_skipped(tmp_path: Path) -> None:
    said = "connect failed: Connection refused\ntcp connect failed: Timed out\nwrite failed: Broken pipe\n"
    later = WHOLE.replace("20240101120004", "20240101130004").replace("40000", "40002")
    assert len(told(tmp_path, f"{said}{CSV}{WHOLE}\n{said}{later}\n").transfers) == 2


def test_a_row_of_csv_of_no_time_is_left_out(tmp_path: Path) -> None:
    tests = told(tmp_path, f"{CSV}{WHOLE}\n20240101120210,0.0.0.0,0,b,5001,3,0.0-0.0,0,-nan\n")
    assert len(tests.transfers) == 1
    assert reasons(tests) == [("4", "the connection took no time at all: it says nothing about goodput")]


@pytest.mark.parametrize("row_begins", ["[  4] 2.0-", "[  4] 2.0- 3.0"])
def test_a_last_line_of_spaces_takes_no_time(tmp_path: Path, row_begins: str) -> None:
    with pytest.raises(ImportedFileError, match=":4: found"):
        told(tmp_path, f"{LISTENS}{served(4, 1)}{row(4, 0, 1)}{row_begins} {' ' * 65_000}9x\n")
