"""Rows that Iperf 2 marks as omitted (--omit of its development version; 2.2.1 does not have it yet)."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from flowsweep.errors import ImportedFileError
from flowsweep.imports import read_file
from flowsweep.imports.outcome import Numbering, content_ids, late_ids, outcome_of
from flowsweep.imports.transfer import NO_REPORT_OF_THE_WHOLE, Transfer

SECOND = 1_000_000_000
SERVER = """\
------------------------------------------------------------
Server listening on TCP port 5901
TCP window size:  128 KByte (default)
------------------------------------------------------------
[  1] local 127.0.0.1 port 5901 connected with 127.0.0.1 port 43026
[ ID] Interval       Transfer     Bandwidth
[  1] 0.00-1.00 sec  4.88 MBytes  40.9 Mbits/sec  (omit)
[  1] 1.00-2.00 sec  4.75 MBytes  39.8 Mbits/sec  (omit)
[  1] 2.00-3.00 sec  4.75 MBytes  39.8 Mbits/sec
[  1] 3.00-4.00 sec  4.75 MBytes  39.8 Mbits/sec
[  1] 1.50-4.01 sec  9.62 MBytes  32.1 Mbits/sec
"""
"""Commit e730ac48 of github.com/harrycheng1/iperf2-mirror: `iperf -s -i 1 --omit 1.5` over loopback; of the
client `-t 4 -i 1 -b 40m --omit 1.5`. The last row lacks the bytes between 1.5 and 2 s, not their time."""
CLIENT = """\
Client connecting to 127.0.0.1, TCP port 5901
TCP window size: 3.76 MByte (default)
[  2] local 127.0.0.1 port 42476 connected with 127.0.0.1 port 5901
[  1] local 127.0.0.1 port 42472 connected with 127.0.0.1 port 5901
[ ID] Interval       Transfer     Bandwidth
[  1] 0.00-1.00 sec  14.88 MBytes   125 Mbits/sec  (omit)
[  2] 0.00-1.00 sec  14.88 MBytes   125 Mbits/sec  (omit)
[SUM] 0.00-1.00 sec  29.75 MBytes   250 Mbits/sec  (omit)
[  1] 1.00-2.00 sec  4.75 MBytes  39.8 Mbits/sec  (omit)
[  2] 1.00-2.00 sec  4.75 MBytes  39.8 Mbits/sec  (omit)
[SUM] 1.00-2.00 sec  9.50 MBytes  79.7 Mbits/sec  (omit)
[  1] 2.00-3.00 sec  4.75 MBytes  39.8 Mbits/sec
[  2] 2.00-3.00 sec  4.75 MBytes  39.8 Mbits/sec
[SUM] 2.00-3.00 sec  9.50 MBytes  79.7 Mbits/sec
[  1] 3.00-4.00 sec  4.75 MBytes  39.8 Mbits/sec
[  2] 3.00-4.00 sec  4.75 MBytes  39.8 Mbits/sec
[SUM] 3.00-4.00 sec  9.50 MBytes  79.7 Mbits/sec
[  1] 4.00-5.00 sec  4.75 MBytes  39.8 Mbits/sec
[  2] 4.00-5.00 sec  4.75 MBytes  39.8 Mbits/sec
[SUM] 4.00-5.00 sec  9.50 MBytes  79.7 Mbits/sec
[  1] 2.00-5.02 sec  14.3 MBytes  39.9 Mbits/sec
[  2] 2.00-5.00 sec  14.3 MBytes  40.1 Mbits/sec
[SUM] 2.00-5.00 sec  28.5 MBytes  80.1 Mbits/sec
"""
"""As with `-P 2`, but shorter, and with a first second that was faster."""


def told(tmp_path: Path, text: str) -> Sequence[Transfer]:
    (tmp_path / "log").write_text(text, "utf-8")
    return read_file(tmp_path / "log").transfers


@pytest.mark.parametrize("mark", ["(omit)", "(omitted)"])
def test_omitted_rows_do_not_count(tmp_path: Path, mark: str) -> None:
    (test,) = told(tmp_path, SERVER.replace("(omit)", mark))
    assert (test.omit_ns, test.total.end_ns, test.unfinished) == (2 * SECOND, 2 * SECOND, None)
    assert test.total.rate_bps == pytest.approx(39.8e6, rel=0.002)
    assert [report.start_ns // SECOND for report in test.flows[0].intervals] == [0, 1, 2, 3]


def test_the_median_is_of_what_follows_the_omitted_rows(tmp_path: Path) -> None:
    (test,) = told(tmp_path, CLIENT)
    record = outcome_of(test, "0" * 12, sweep="s", imported_from="", numbering=Numbering([])).record
    assert (record.flows, record.omit_ns, record.unfinished) == (2, 2 * SECOND, None)
    assert record.goodput_method == "sender_median"
    assert record.reported_goodput_bps == pytest.approx(79.6e6)
    assert test.total.rate_bps == pytest.approx(79.7e6, rel=0.002)


def test_a_test_with_omitted_rows_that_was_ended_is_incomplete(tmp_path: Path) -> None:
    rows = SERVER.splitlines(keepends=True)
    (test,) = told(tmp_path, "".join(rows[:-1]))
    assert (test.total.end_ns, test.unfinished) == (2 * SECOND, NO_REPORT_OF_THE_WHOLE)
    for count in (7, 8):
        with pytest.raises(ImportedFileError, match=":5: all of its intervals were omitted"):
            told(tmp_path, "".join(rows[:count]))


def test_the_next_test_of_a_log_omits_by_itself(tmp_path: Path) -> None:
    plain = SERVER.replace("  (omit)", "").replace("1.50-4.01", "0.00-4.00").replace("43026", "43028")
    tests = told(tmp_path, SERVER + plain.partition("(default)\n")[2])
    assert [(test.omit_ns, len(test.flows[0].intervals), test.unfinished) for test in tests] == [
        (2 * SECOND, 4, None), (0, 4, None),
    ]  # fmt: skip


@pytest.mark.parametrize(("text", "trial_id"), [(SERVER, "d29f2d9b83c5"), (CLIENT, "c4630e55254c")])
def test_an_id_is_known_of_before_omitted_rows_were_known(tmp_path: Path, text: str, trial_id: str) -> None:
    tests = told(tmp_path, text)
    assert late_ids(tests) == [trial_id] != content_ids(tests)


SUMS = """\
Client connecting to 10.0.0.2, TCP port 5001 with 2 threads
TCP window size: 3.76 MByte (default)
[ ID] Interval       Transfer     Bandwidth
[SUM-2] 0.00-1.00 sec  29.75 MBytes   250 Mbits/sec  (omit)
[SUM-2] 1.00-2.00 sec  9.50 MBytes  79.7 Mbits/sec  (omit)
[SUM-2] 2.00-3.00 sec  9.50 MBytes  79.7 Mbits/sec
[SUM-2] 3.00-4.00 sec  9.50 MBytes  79.7 Mbits/sec
[SUM-2] 4.00-5.00 sec  9.50 MBytes  79.7 Mbits/sec
[SUM-2] 2.00-5.00 sec  28.5 MBytes  80.1 Mbits/sec
"""
CONNECTED = "".join(
    f"[  {number}] local 10.0.0.1 port 4241{number} connected with 10.0.0.2 port 5001\n" for number in (1, 2)
)


@pytest.mark.parametrize("connected", ["", CONNECTED])
def test_omitted_sums_do_not_count(tmp_path: Path, connected: str) -> None:
    """--sum-only. They did, and the test was said not to have ended."""
    text = SUMS.replace("[ ID]", f"{connected}[ ID]")
    rows = text.splitlines(keepends=True)
    for until, unfinished in ((None, None), (-1, NO_REPORT_OF_THE_WHOLE)):
        (test,) = told(tmp_path, "".join(rows[:until]))
        assert (test.flow_count, test.omit_ns, test.total.end_ns) == (2, 2 * SECOND, 3 * SECOND)
        assert (test.total.rate_bps, test.unfinished) == (pytest.approx(79.7e6, rel=0.002), unfinished)
    for until in (-4, -5):
        with pytest.raises(ImportedFileError, match=r":\d: all of its intervals were omitted"):
            told(tmp_path, "".join(rows[:until]))
    if not connected:
        assert late_ids(told(tmp_path, text)) == ["e8a4b534ca28"]
