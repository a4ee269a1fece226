"""JSON of other tools that is cut off: a stream that was killed, and one test of a log."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from flowsweep.errors import ImportedFileError
from flowsweep.imports import read_file
from flowsweep.imports.reading import FileTests
from flowsweep.imports.transfer import NO_REPORT_OF_THE_WHOLE
from imported_trials import FILES

STREAM = (FILES / "iperf3-3.21-stream-client.json").read_text("utf-8").splitlines()


def read(tmp_path: Path, *lines: str) -> FileTests:
    (tmp_path / "log.json").write_text("\n".join(lines), "utf-8")
    return read_file(tmp_path / "log.json")


def unfinished(tests: FileTests) -> Sequence[str | None]:
    return [test.unfinished for test in tests.transfers]


def test_the_last_line_of_a_stream_may_be_cut_off(tmp_path: Path) -> None:
    assert json.loads(STREAM[-1])["event"] == "end"
    whole = read(tmp_path, *STREAM[:-1])
    assert unfinished(whole) == [NO_REPORT_OF_THE_WHOLE]
    for cut in range(len('{"event":'), len(STREAM[-1]) - 1, 7):
        assert read(tmp_path, *STREAM[:-1], STREAM[-1][:cut]) == whole
    interval = next(number for number, line in enumerate(STREAM) if '"omitted":false' in line) + 1
    assert read(tmp_path, *STREAM[:interval], STREAM[interval][:99]) == read(tmp_path, *STREAM[:interval])


def test_the_next_test_of_a_log_of_streams_is_read(tmp_path: Path) -> None:
    both = read(tmp_path, *STREAM[:-1], STREAM[-1][:99], *STREAM)
    assert (unfinished(both), both.failed) == ([NO_REPORT_OF_THE_WHOLE, None], ())


def test_a_stream_with_a_gap_is_left_out_and_named(tmp_path: Path) -> None:
    gap = [*STREAM[:2], STREAM[2][:99], *STREAM[3:]]
    tests = read(tmp_path, *gap, *STREAM)
    assert unfinished(tests) == [None]
    assert [failed.place for failed in tests.failed] == ["3$"]
    with pytest.raises(ImportedFileError, match=r"log.json:3\$: Invalid JSON: EOF while parsing"):
        read(tmp_path, *gap)
