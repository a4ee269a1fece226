"""What a file of another tool may claim: bounds of what is read, and of what it makes us allocate."""

import gc
import gzip
import json
import time
from contextlib import suppress
from pathlib import Path

import pytest
from pydantic import ValidationError

from flowsweep.archive.imported import ImportedTrial
from flowsweep.archive.trials import trials_table
from flowsweep.defaults import IMPORT_LINES_LOOKED_AT, IMPORT_WINDOW_MAX_BYTES
from flowsweep.errors import ImportedFileError, PlanError
from flowsweep.imports import json_text, parse_known, read_file, reading, transfer
from flowsweep.imports.outcome import Numbering, content_ids, outcome_of
from import_bombs import BOMBS, MEBIBYTE
from import_mutations import FILES
from long_tests import long_after

CSV = "20011128201500,1.1.1.1,{port},2.2.2.2,5001,{number},{begin}-{end},1000,8000\n"


def refusal(tmp_path: Path, content: bytes | str, kind: str | None = None) -> str:
    path = tmp_path / "file"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ImportedFileError) as refused:
        read_file(path, kind)
    return str(refused.value).removeprefix(f"{path}")


def outcomes(tmp_path: Path, content: bytes | str) -> list[ImportedTrial]:
    path = tmp_path / "file"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    transfers = read_file(path).transfers
    ids = content_ids(transfers)
    return [
        outcome_of(told, trial_id, sweep="s", imported_from="f", numbering=Numbering(())).record
        for told, trial_id in zip(transfers, ids, strict=True)
    ]


def test_a_report_that_ends_at_0(tmp_path: Path) -> None:
    """A division by what a file says: intervals without a whole, the last of which ends before it begins."""
    row = "[  1] {}-{} sec  1.0 MBytes  8.0 Mbits/sec\n"
    rows = row.format("0.0000", "1.0000") + row.format("1.0000", "0.0000")
    log = f"Server listening on TCP port 5001\n[  1] local a port 5001 connected with b port 9\n{rows}"
    assert "is of no time at all" in refusal(tmp_path, log)
    csv = "".join(CSV.format(port=9, number=3, begin=begin, end=end) for begin, end in ((0, 0), (1, 0)))
    assert "is of no time at all" in refusal(tmp_path, csv)


@pytest.mark.parametrize(
    "at", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "1969-12-31", "2201-01-01"]
)
def test_times_that_are_none_of_a_measurement(tmp_path: Path, at: str) -> None:
    said = refusal(tmp_path, f"from,to,time,bandwidth\na,b,{at},1000000\n")
    assert "expected one of the years 1970 to 2200" in said


def trial(**changes: object) -> ImportedTrial:
    unknown = (
        "started_at", "window_send_bytes", "window_recv_bytes", "window_granted_send_bytes",
        "window_granted_recv_bytes", "length_bytes", "congestion", "duration_ns", "interval_ns",
    )  # fmt: skip
    usual = dict.fromkeys(unknown) | {
        "trial_id": "0" * 12, "imported_from": "f", "sweep": "s", "repeat": 1, "elapsed_ns": 1,
        "src": "a", "dst": "b", "flows": 1, "expected_bins": 0,
        "goodput_method": "sender_mean", "reported_bytes": 1, "reported_goodput_bps": 1.0,
    }  # fmt: skip
    return ImportedTrial.model_validate(usual | changes)


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_an_archive_that_has_such_a_time_already_is_read(at: str) -> None:
    table = trials_table((), [trial(started_at=at)], attempts={})
    assert table.column("started_at").to_pylist() == [at[:19] + ".000Z"]


@pytest.mark.parametrize(
    "changes",
    [
        {"flows": 0}, {"flows": 1 << 40}, {"window_send_bytes": 1 << 62}, {"elapsed_ns": -1},
        {"elapsed_ns": 1 << 62}, {"reported_goodput_bps": float("inf")}, {"src": "a" * 256},
        {"repeat": 1 << 63},
    ],
)  # fmt: skip
def test_a_journal_holds_nothing_that_no_table_holds(changes: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        trial(**changes)
    largest = trial(
        flows=1_000_000, window_send_bytes=IMPORT_WINDOW_MAX_BYTES, window_recv_bytes=IMPORT_WINDOW_MAX_BYTES
    )
    assert trials_table((), [largest], attempts={}).column("window_sum_bytes").to_pylist() == [10**6 << 40]


def flent(**changes: object) -> bytes:
    document = json.loads(gzip.decompress((FILES / "flent-2.3.0-tcp_upload.flent.gz").read_bytes()))
    document["raw_values"] |= changes
    return json.dumps(document).encode()


BEGAN_S = 1.795e9


def pings(step: int, count: int = 3_000) -> list[dict[str, float]]:
    return [{"t": BEGAN_S + number / 5, "val": 9, "seq": number * step} for number in range(count)]


def test_numbers_of_pings_that_leave_out_more_than_can_be_is_no_count_of_questions(tmp_path: Path) -> None:
    """Of 91 KB and gaps below the bound of each, no sum was bounded: memory ran out."""
    name = "Ping (ms) ICMP"
    for step, told in ((1, 3_000), (10, 10 * 2_999 + 1), (12, 0), (9_999, 0), (10**14, 0)):
        path = tmp_path / f"{step}.flent"
        path.write_bytes(flent(**{name: pings(step)}))
        (upload,) = read_file(path).transfers
        assert len(upload.echoes) == told


def test_the_kind_is_recognised_by_the_first_lines_only(tmp_path: Path) -> None:
    rows = CSV.format(port=9, number=3, begin=0, end=1)
    assert len(outcomes(tmp_path, "\n" * (IMPORT_LINES_LOOKED_AT - 1) + rows)) == 1
    assert "by its first 2000 lines" in refusal(tmp_path, "\n" * IMPORT_LINES_LOOKED_AT + rows)
    (tmp_path / "file").write_text("\n" * IMPORT_LINES_LOOKED_AT + rows, encoding="utf-8")
    assert len(read_file(tmp_path / "file", "iperf-csv").transfers) == 1


def test_lines_rows_values_and_tests_have_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "over 1048576 lines" in refusal(tmp_path, b"\n" * (MEBIBYTE + 1))
    assert "over 200000 lines that are not empty" in refusal(tmp_path, b"ab\n" * 200_001, "nuttcp")
    assert ":2: the line has 65537 characters" in refusal(tmp_path, b"\n" + b"1" * 65_537, "nuttcp")
    lists = '{"start": {"version": "iperf 3.12", "x": [' + "[]," * 1_000_000 + "[]]}}"
    assert "over 1000000 values in JSON" in refusal(tmp_path, lists)
    monkeypatch.setattr(transfer, "IMPORT_TESTS_MAX", 3)
    table = "from,to,bandwidth\n" + "a,b,1\n" * 4
    assert "it tells of over 3 tests. Split it" in refusal(tmp_path, table)


def test_intervals_that_cover_far_more_than_they_are_become_no_exact_ones(tmp_path: Path) -> None:
    """One of 3 years among those of a second would be a hundred million rows of an analysis."""
    begin = "Server listening on TCP port 5001\n[  1] local a port 5001 connected with b port 9\n"
    row = "[  1] {}-{} sec  1.0 MBytes  8.0 Mbits/sec\n"
    good = [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)]
    wide = [(0, 1), (1, 2), (2, 3), (3, 400_000), (0, 400_000)]
    (record,) = outcomes(tmp_path, begin + "".join(row.format(*span) for span in good))
    assert (record.interval_ns, record.expected_bins) == (10**9, 4)
    (record,) = outcomes(tmp_path, begin + "".join(row.format(*span) for span in wide))
    assert (record.interval_ns, record.expected_bins) == (None, 0)


LINEAR = (
    "lines of digits", "lines of digits and dots", "drops of digits", "blanks in a heading", "blanks in rows",
    "connections of Iperf in one test", "connections of Iperf's text", "sums of Iperf without ports",
    "hosts with parallel connections in Iperf's text", "cells of a page without a row", "tests of Iperf",
)  # fmt: skip


@pytest.mark.parametrize("name", long_after(2, of=LINEAR))
def test_time_is_linear(name: str, tmp_path: Path) -> None:
    """Sixteen times the bytes take sixteen times as long; a square would take 256 times."""
    content = BOMBS[name]()[:MEBIBYTE]
    small, whole = (_processor_s(content[:size], tmp_path) for size in (MEBIBYTE // 16, MEBIBYTE))
    assert whole < 64 * small, f"{small:.3f} s, then {whole:.3f} s"


def _processor_s(content: bytes, folder: Path) -> float:
    path = folder / "bomb"
    path.write_bytes(content)
    gc.disable()  # it would look at what all tests before have left
    begun = time.thread_time()
    try:
        with suppress(ImportedFileError):
            read_file(path)
        return time.thread_time() - begun
    finally:
        gc.enable()


@pytest.mark.parametrize(
    "setting",
    [
        *("window=2TiB", "length=9EiB", "duration=10000h", "rate=2000000Gbit/s", "from=", f"to={'a' * 256}"),
        *("window=0B", "length=0B", "duration=0s", "from=a\nb", "congestion=\x1b[2J"),
    ],
)
def test_what_a_person_knows_has_the_same_bounds(setting: str) -> None:
    with pytest.raises(PlanError):
        parse_known([setting])


def test_a_key_that_is_given_twice_is_refused() -> None:
    with pytest.raises(PlanError, match='window is given twice: "64KiB" and "1MiB"'):
        parse_known(["window=64KiB", "flows=2", "window=1MiB"])


def test_names_have_a_length(tmp_path: Path) -> None:
    assert "expected up to 255 characters" in refusal(tmp_path, f"from,to,bandwidth\n{'a' * 256},b,1000000\n")


def test_both_directions_at_once_are_found_whichever_began_first(tmp_path: Path) -> None:
    def row(second: int, *, back: bool) -> str:
        ends = ("1.1.1.1,9,2.2.2.2,5001", "2.2.2.2,8,1.1.1.1,5001")[back]
        return f"200111282015{second:02},{ends},3,0.0-10.0,1000,8000\n"

    for first, second, told in ((10, 14, True), (14, 10, True), (10, 16, False), (16, 10, False)):
        records = outcomes(tmp_path, row(first, back=False) + row(second, back=True))
        assert [record.simultaneous for record in records] == [told, told]


def test_a_number_that_is_larger_than_any_real_one_is_told(tmp_path: Path) -> None:
    row = CSV.format(port="9" * 400, number=3, begin=0, end=1)
    assert "found a port of over 1e+300, expected 0 to 65535" in refusal(tmp_path, row)


def test_a_page_whose_row_ends_early_is_told_where_its_kind_is_recognised(tmp_path: Path) -> None:
    assert ":1: the row ends after 8 cells, expected 12" in refusal(tmp_path, "a|1.1.1.1|b|2.2.2.2|1|tcp|1|2")


def test_what_a_tool_says_in_several_lines_is_told_in_one(tmp_path: Path) -> None:
    document = {"start": {"version": "iperf 3.12"}, "intervals": [], "end": {}, "error": "no\nway " * 200}
    said = refusal(tmp_path, json.dumps(document))
    assert 'the test failed: "no way no way' in said
    assert "\n" not in said
    assert len(said) < 600


@pytest.mark.parametrize("kind", ["text", "stream", "array"])
def test_one_long_test_in_json_is_not_to_be_split(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    name = "iperf3-3.21-stream-client.json" if kind == "stream" else "iperf3-3.12-tcp-client.json"
    lines = (FILES / name).read_text("utf-8").splitlines()
    content = "\n".join(line for line in lines if kind != "stream" or line.startswith('{"event"')) + "\n"
    if kind == "array":
        content = f"[\n{content}]\n"
    longer = "It is one test with too many intervals: run it with fewer"
    for most in (len(content) - 1, 3_000, 2_990):
        monkeypatch.setattr(reading, "IMPORT_FILE_MAX_BYTES", most)
        assert longer in refusal(tmp_path, content)
    monkeypatch.setattr(reading, "IMPORT_FILE_MAX_BYTES", len(content) + 100)
    assert "Split it, and import the parts" in refusal(tmp_path, content * 2)
    monkeypatch.undo()
    monkeypatch.setattr(json_text, "IMPORT_VALUES_MAX", 100)
    assert longer in refusal(tmp_path, content)
    assert "Split the file, and import the parts" in refusal(tmp_path, content * 2)


def test_a_long_connection_takes_time_that_grows_with_its_rows(tmp_path: Path) -> None:
    """Also where each row is looked at beside those before it."""
    path = tmp_path / "file"
    rows = [CSV.format(port=9, number=3, begin=n, end=n + 1) for n in range(20_000)]
    took_s = []
    for count in (2_000, 20_000):
        path.write_text("".join(rows[:count]), "utf-8")
        began_s = time.process_time()
        assert len(read_file(path).transfers[0].flows[0].intervals) == count
        took_s.append(time.process_time() - began_s)
    assert took_s[1] < 30 * took_s[0]
