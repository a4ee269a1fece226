"""A row of Iperf's text on the line where the terminal shows Ctrl-C."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from flowsweep.archive import read_archive
from flowsweep.cli import load
from flowsweep.cli.app import app
from flowsweep.errors import ImportedFileError
from flowsweep.imports import read_file
from flowsweep.imports.outcome import content_ids, former_ids, late_ids
from flowsweep.imports.transfer import NO_REPORT_OF_THE_WHOLE, Transfer

load(["import"])

SECOND = 1_000_000_000
BEGIN = """\
Client connecting to 10.0.0.2, TCP port 5001
[  3] local 10.0.0.1 port 45454 connected with 10.0.0.2 port 5001
[ ID] Interval       Transfer     Bandwidth
[  3]  0.0- 1.0 sec   112 MBytes   941 Mbits/sec
[  3]  1.0- 2.0 sec   112 MBytes   941 Mbits/sec
"""
LAST = "[  3]  2.0- 2.5 sec  56.0 MBytes   941 Mbits/sec\n"
WHOLE = "[  3]  0.0- 2.5 sec   280 MBytes   941 Mbits/sec\n"


def told(tmp_path: Path, text: str) -> Sequence[Transfer]:
    (tmp_path / "log").write_text(BEGIN + text, "utf-8")
    return read_file(tmp_path / "log").transfers


@pytest.mark.parametrize("rows", [f"^C{LAST}{WHOLE}", f"^C^C{LAST}{WHOLE}", f"{LAST}^C{WHOLE}"])
def test_a_row_behind_ctrl_c_is_read(tmp_path: Path, rows: str) -> None:
    tests = told(tmp_path, rows)
    assert content_ids(tests) == content_ids(told(tmp_path, LAST + WHOLE))
    (test,) = tests
    assert (len(test.flows[0].intervals), test.total.end_ns, test.unfinished) == (3, 2.5 * SECOND, None)


@pytest.mark.parametrize(
    ("rows", "trial_id", "before"),
    [(f"^C{LAST}{WHOLE}", "42a6b9577a21", LAST), (f"{LAST}^C{WHOLE}", "d9d89e910d27", WHOLE)],
)
def test_an_id_is_known_of_before_such_a_row_was_read(
    tmp_path: Path, rows: str, trial_id: str, before: str
) -> None:
    tests = told(tmp_path, rows)
    assert late_ids(tests) == [trial_id] != content_ids(tests)
    without = told(tmp_path, rows.replace(f"^C{before}", ""))
    assert content_ids(without) == [trial_id]
    assert without[0].unfinished == (None if before == LAST else NO_REPORT_OF_THE_WHOLE)


LATE = """\
Server listening on UDP port 5001
[  3] local 10.0.0.2 port 5001 connected with 10.0.0.1 port 39423
[ ID] Interval       Transfer     Bandwidth        Jitter   Lost/Total Datagrams
[  3]  0.0- 1.0 sec  1.25 MBytes  10.5 Mbits/sec   0.021 ms    0/  892 (0%)
[  3]  1.0- 2.0 sec  1.25 MBytes  10.5 Mbits/sec   0.021 ms    0/  892 (0%)
^C[  3]  0.0- 2.4 sec  3.00 MBytes  10.5 Mbits/sec   0.021 ms    0/ 2141 (0%)
[  3]  0.0- 2.4 sec  5 datagrams received out-of-order
"""
SUMS = """\
Client connecting to 10.0.0.2, TCP port 5001 with 2 threads
[ ID] Interval       Transfer     Bandwidth
[SUM-2] 0.00-1.00 sec  224 MBytes  1.88 Gbits/sec
[SUM-2] 1.00-2.00 sec  224 MBytes  1.88 Gbits/sec
^C[SUM-2] 0.00-2.31 sec  517 MBytes  1.88 Gbits/sec
"""
REPORTS = """\
Client connecting to 10.0.0.2, UDP port 5001
Sending 1470 byte datagrams
[  4] local 10.0.0.1 port 45454 connected with 10.0.0.2 port 5001
[  3] local 10.0.0.1 port 45455 connected with 10.0.0.2 port 5001
[ ID] Interval       Transfer     Bandwidth
^C[  4]  0.0- 2.5 sec   280 MBytes   941 Mbits/sec
[  4] Sent 199729 datagrams
[  3]  0.0- 2.5 sec   280 MBytes   941 Mbits/sec
[  3] Sent 199729 datagrams
[SUM]  0.0- 2.5 sec   560 MBytes  1.88 Gbits/sec
[  4] Server Report:
[  4]  0.0- 2.5 sec   280 MBytes   941 Mbits/sec   0.005 ms    0/199728 (0%)
[  3] Server Report:
[  3]  0.0- 2.5 sec   280 MBytes   941 Mbits/sec   0.005 ms    0/199728 (0%)
"""


@pytest.mark.parametrize(
    ("text", "late_id", "former_id"),
    [
        (LATE, "d043ea510424", "d043ea510424"),
        (SUMS, "405faa8329f4", "405faa8329f4"),
        (REPORTS, "c1b6dd8305e5", "d14006ca386a"),
        (f"{BEGIN}^C{LAST}^C{WHOLE}", "b71ccc7b9f26", "b71ccc7b9f26"),
    ],
    ids=["what came late", "sums alone", "reports of a server", "two rows"],
)
def test_such_a_row_may_tell_of_anything(tmp_path: Path, text: str, late_id: str, former_id: str) -> None:
    (tmp_path / "log").write_text(text, "utf-8")
    tests = read_file(tmp_path / "log").transfers
    assert (late_ids(tests), former_ids(tests)) == ([late_id], [former_id])
    assert late_id not in content_ids(tests)


def test_ctrl_c_before_a_heading_of_columns_says_nothing(tmp_path: Path) -> None:
    rows = LAST + WHOLE
    assert told(tmp_path, f"^C[ ID] Interval\n^C\n{rows}") == told(tmp_path, rows)


@pytest.mark.parametrize("cut", [LAST[:20], "[  3]  2.0- 2.5 sec  56.0 MBy"])
def test_a_row_that_is_broken_in_the_middle_is_refused_behind_ctrl_c_too(tmp_path: Path, cut: str) -> None:
    with pytest.raises(ImportedFileError, match="expected interval, transfer and bandwidth"):
        told(tmp_path, f"^C{cut}\n{LAST}{WHOLE}")


def test_a_last_row_that_is_cut_off_is_left_out_behind_ctrl_c_too(tmp_path: Path) -> None:
    """It was taken for the report of the whole, of datagrams of which nothing is known."""
    *before, whole, _ = LATE.splitlines(keepends=True)
    cut = whole[: whole.index("   0.021")]
    (tmp_path / "log").write_text("".join((*before, cut)), "utf-8")
    (test,) = read_file(tmp_path / "log").transfers
    assert (len(test.flows[0].intervals), test.unfinished) == (2, NO_REPORT_OF_THE_WHOLE)
    assert content_ids([test]) == content_ids([of_log(tmp_path, "".join((*before, cut.removeprefix("^C"))))])


def test_what_came_late_and_whose_report_follows_are_read_behind_ctrl_c(tmp_path: Path) -> None:
    for text, name in ((LATE, "[  3]  0.0- 2.4 sec  5 datagrams"), (REPORTS, "[  4] Server Report")):
        plain = text.replace("^C", "")
        assert name in plain
        behind = of_log(tmp_path, plain.replace(name, f"^C{name}"))
        assert content_ids([behind]) == content_ids([of_log(tmp_path, plain)])
        assert late_ids([behind]) != content_ids([behind])


def of_log(tmp_path: Path, text: str) -> Transfer:
    (tmp_path / "other").write_text(text, "utf-8")
    (test,) = read_file(tmp_path / "other").transfers
    return test


def test_what_was_imported_before_is_not_imported_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "log").write_text(f"{BEGIN}^C{LAST}{WHOLE}", "utf-8")
    words = ["import", str(tmp_path / "log"), "--archive", str(tmp_path / "old")]
    with monkeypatch.context() as before:
        before.setattr("flowsweep.imports.importing.content_ids", late_ids)
        assert CliRunner().invoke(app, words).exit_code == 0
    assert CliRunner().invoke(app, words).exit_code == 0
    assert list(read_archive(tmp_path / "old").state.imported) == ["42a6b9577a21"]
