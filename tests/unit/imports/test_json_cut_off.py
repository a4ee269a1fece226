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


CLIENT = (FILES / "iperf3-3.12-tcp-client.json").read_text("utf-8").splitlines()


@pytest.mark.parametrize("kept", [30, len(CLIENT) - 1])
def test_one_text_that_is_cut_off_does_not_spoil_the_others(tmp_path: Path, kept: int) -> None:
    """As `iperf3 -J --logfile FILE` adds them one by one."""
    alone = read(tmp_path, *CLIENT).transfers
    for lines, place in (
        ([*CLIENT[:kept], *CLIENT], "1$"),
        ([*CLIENT, *CLIENT[:kept]], f"{len(CLIENT) + 1}$"),
    ):
        tests = read(tmp_path, *lines)
        assert tests.transfers == alone
        ((failed_at, why),) = ((failed.place, str(failed)) for failed in tests.failed)
        assert failed_at == place
        assert why.startswith("Invalid JSON: EOF while parsing")
    with pytest.raises(ImportedFileError, match=r"log.json:1\$: Invalid JSON: EOF while parsing"):
        read(tmp_path, *CLIENT[:kept])


def test_one_record_of_pscheduler_that_is_cut_off_does_not_spoil_the_others(tmp_path: Path) -> None:
    record = json.loads((FILES / "pscheduler-tcp.json").read_text("utf-8"))
    pretty, one_line = json.dumps(record, indent=2).splitlines(), json.dumps(record)
    for cut, lines in ((pretty[:20], pretty), ([one_line[:200]], pretty), ([one_line[:200]], [one_line])):
        tests = read(tmp_path, *cut, *lines, one_line[:99])
        assert (len(tests.transfers), [failed.place for failed in tests.failed]) == (
            1, ["1$", f"{len(cut) + len(lines) + 1}$"],
        )  # fmt: skip


def test_a_text_may_have_lines_that_begin_with_a_brace(tmp_path: Path) -> None:
    alone = read(tmp_path, *CLIENT).transfers
    parts = json.loads("".join(CLIENT))
    lines = [
        ",".join(f"\n{json.dumps(part)}" for part in parts.pop("intervals")),
        "],",
        json.dumps(parts)[1:],
    ]
    text = "".join(['{"intervals": [', *lines])
    assert text.count("\n{") > 1
    assert read(tmp_path, text).transfers == alone


def test_texts_that_are_cut_off_in_every_line_take_no_time(tmp_path: Path) -> None:
    count = 9_000
    lines = [*CLIENT, *(f'"key{number}":' if number % 3 == 1 else "{" for number in range(count))]
    tests = read(tmp_path, *lines)
    assert (len(tests.transfers), len(tests.failed)) == (1, 2 * count // 3)
    lines = [f'{{"key{number}":' if number % 3 else "{" for number in range(count)]
    with pytest.raises(
        ImportedFileError, match=r"556\$: Invalid JSON: key must be a string at line 557 column"
    ):
        read(tmp_path, *CLIENT, *lines)
    tests = read(tmp_path, *CLIENT, '{"a":"b"' + ',"c":{"a":"b"}' * 200_000)
    assert (len(tests.transfers), len(tests.failed)) == (1, 1)


COMPACT = json.dumps(json.loads("".join(CLIENT)))


@pytest.mark.parametrize("cut", [STREAM[4][:200], STREAM[4][:11], STREAM[4][: STREAM[4].index("[") + 1]])
@pytest.mark.parametrize("said", [(), ("Killed",)])
def test_a_last_event_that_is_cut_off_takes_nothing_of_the_tests_behind_it(
    tmp_path: Path, cut: str, said: Sequence[str]
) -> None:
    alone = read(tmp_path, *STREAM[:4]).transfers + read(tmp_path, *CLIENT, *CLIENT).transfers
    for whole in ((COMPACT, COMPACT), (*CLIENT, *CLIENT)):
        tests = read(tmp_path, *STREAM[:4], cut, *said, *whole)
        assert ([test.total for test in tests.transfers], tests.failed) == (
            [test.total for test in alone],
            (),
        )


OPEN = COMPACT[: COMPACT.index("[") + 1]
"""Cut off where another value of the array may follow."""


@pytest.mark.parametrize(
    "lines",
    [
        [OPEN, '{"end": 1}'],
        [OPEN + COMPACT],
        [OPEN + CLIENT[0], *CLIENT[1:]],
        [STREAM[0], STREAM[1][: STREAM[1].index("[") + 1] + STREAM[0]],
        [STREAM[0], STREAM[1][: STREAM[1].index("[") + 1] + CLIENT[0], *CLIENT[1:]],
    ],
    ids=["in a line", "with the first key", "up to its last line", "as an event", "in the line of an event"],
)
def test_a_text_that_is_cut_off_with_another_within_is_refused(tmp_path: Path, lines: Sequence[str]) -> None:
    """Nobody could say how many tests were lost."""
    with pytest.raises(
        ImportedFileError, match=r"EOF while parsing .*; another text seems to begin within it"
    ):
        read(tmp_path, *STREAM, *lines)


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        ([*CLIENT[:-1], "},", *CLIENT[:-1], "},", *CLIENT], len(CLIENT)),
        ([*CLIENT[:-1], "} Killed", *CLIENT], len(CLIENT)),
        ([*CLIENT, *CLIENT[:30], "Killed", *CLIENT], len(CLIENT) + 31),
        ([*STREAM, STREAM[0][:300] + STREAM[0]], len(STREAM) + 1),
        ([*STREAM, STREAM[0][:300] + CLIENT[0], *CLIENT[1:]], len(STREAM) + 2),
    ],
    ids=["commas", "text behind a test", "text in a test", "two lines in one", "a test in a line"],
)
def test_what_is_wrong_otherwise_has_the_file_refused_and_its_line_named(
    tmp_path: Path, lines: Sequence[str], line: int
) -> None:
    """It was said that the tests failed."""
    with pytest.raises(ImportedFileError, match=rf"Invalid JSON: .* at line {line} column "):
        read(tmp_path, *lines)


def test_a_first_event_that_is_cut_off_is_named(tmp_path: Path) -> None:
    """It was said that the test ended before it began."""
    with pytest.raises(ImportedFileError, match=r"log.json:1\$: Invalid JSON: EOF .* at line 1 column"):
        read(tmp_path, STREAM[0][:-9])
    tests = read(tmp_path, *STREAM[:4], STREAM[0][:-9], *STREAM[1:])
    assert (unfinished(tests), [failed.place for failed in tests.failed]) == (
        [NO_REPORT_OF_THE_WHOLE],
        ["5$"],
    )
