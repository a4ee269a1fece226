"""Files that end before their test did, of each kind that can tell: it is incomplete, never low."""

import csv
import gzip
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from flowsweep.archive import read_archive
from flowsweep.archive.trials import trials_table
from flowsweep.cli import load
from flowsweep.cli.app import app
from flowsweep.defaults import NAME_MAX_CHARACTERS
from flowsweep.errors import ImportedFileError
from flowsweep.imports import read_file
from flowsweep.imports.outcome import Numbering, outcome_of
from flowsweep.imports.transfer import NO_REPORT_OF_THE_WHOLE
from imported_trials import FILES, document

load(["import"])

CSV = """\
20240102030401,10.0.0.2,5001,10.0.0.1,40000,4,0.0-1.0,11796480,94371840
20240102030402,10.0.0.2,5001,10.0.0.1,40000,4,1.0-2.0,11796480,94371840
20240102030403,10.0.0.2,5001,10.0.0.1,40000,4,2.0-3.0,10485760,83886080
20240102030404,10.0.0.2,5001,10.0.0.1,40000,4,0.0-3.1,34078720,87945084
"""
TEXT = """\
Client connecting to 10.0.0.2, TCP port 5001
[  3] local 10.0.0.1 port 32773 connected with 10.0.0.2 port 5001
[  4] local 10.0.0.1 port 32774 connected with 10.0.0.2 port 5001
[  3]  0.0- 1.0 sec  5.62 MBytes  47.2 Mbits/sec
[  4]  0.0- 1.0 sec  5.60 MBytes  47.0 Mbits/sec
[  3]  1.0- 2.0 sec  5.50 MBytes  46.1 Mbits/sec
[  4]  1.0- 2.0 sec  5.50 MBytes  46.1 Mbits/sec
[  3]  2.0- 3.0 sec  5.70 MBytes  47.8 Mbits/sec
[  4]  2.0- 3.0 sec  5.70 MBytes  47.8 Mbits/sec
[  3]  0.0- 3.0 sec  16.8 MBytes  47.0 Mbits/sec
[  4]  0.0- 3.0 sec  16.8 MBytes  47.0 Mbits/sec
"""


def stream_without(*events: str) -> str:
    lines = (FILES / "iperf3-3.21-stream-client.json").read_text("utf-8").splitlines()
    kept = [line for line in lines if line.startswith('{"event"') and json.loads(line)["event"] not in events]
    return "\n".join(kept)


def broken_off() -> str:
    told = document("iperf3-3.12-tcp-client.json")
    del told["end"]
    return json.dumps(told | {"error": "unable to receive control message"}, indent=1)


def without_end(name: str) -> str:
    return json.dumps(document(name) | {"end": {}}, indent=1)


def first_lines(name: str, count: int) -> str:
    return "".join((FILES / name).read_text("utf-8").splitlines(keepends=True)[:count])


def rows(tmp_path: Path, text: str) -> list[dict[str, str]]:
    """Of the summary of an archive with one file."""
    (tmp_path / "results").write_text(text, encoding="utf-8")
    words = ["import", str(tmp_path / "results"), "--archive", str(tmp_path / "old")]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    printed = CliRunner().invoke(app, ["summary", str(tmp_path / "old"), "--format", "csv"]).stdout
    return list(csv.DictReader(printed.splitlines()))


def judged(tmp_path: Path, text: str) -> tuple[str, str | None]:
    """Status and error of the only trial of a file, as the archive's table has them."""
    (tmp_path / "results").write_text(text, encoding="utf-8")
    (test,) = read_file(tmp_path / "results").transfers
    record = outcome_of(test, "0" * 12, sweep="s", imported_from="", numbering=Numbering([])).record
    [row] = trials_table((), [record], attempts={}).to_pylist()
    return row["status"], row["error"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(stream_without("end"), NO_REPORT_OF_THE_WHOLE, id="iperf3, stream"),
        pytest.param(without_end("iperf3-3.12-tcp-server.json"), NO_REPORT_OF_THE_WHOLE, id="iperf3"),
        pytest.param(
            broken_off(), 'the test was broken off: "unable to receive control message"', id="iperf3, error"
        ),
        pytest.param(
            json.dumps(document("iperf3-3.12-interrupted-server.json")),
            'the test was broken off: "the client has terminated"',
            id="iperf3, interrupted",
        ),
        pytest.param("".join(CSV.splitlines(keepends=True)[:3]), NO_REPORT_OF_THE_WHOLE, id="iperf-csv"),
        pytest.param("".join(TEXT.splitlines(keepends=True)[:9]), NO_REPORT_OF_THE_WHOLE, id="iperf-text"),
        pytest.param("".join(TEXT.splitlines(keepends=True)[:10]), NO_REPORT_OF_THE_WHOLE, id="one flow"),
        pytest.param(first_lines("nuttcp-6.1.2-transmit.txt", 3), NO_REPORT_OF_THE_WHOLE, id="nuttcp"),
        pytest.param(
            first_lines("nuttcp-6.1.2-transmit.txt", 1), NO_REPORT_OF_THE_WHOLE, id="nuttcp, one row"
        ),
        pytest.param(
            first_lines("nuttcp-6.1.2-verbose.txt", 11), NO_REPORT_OF_THE_WHOLE, id="nuttcp, sender"
        ),
    ],
)
def test_what_ends_early_is_incomplete_and_says_why(tmp_path: Path, text: str, said: str) -> None:
    assert judged(tmp_path, text) == ("incomplete", said)


@pytest.mark.parametrize("end", ["server", "client"])
def test_the_last_row_of_datagrams_may_be_cut_off_behind_its_bandwidth(tmp_path: Path, end: str) -> None:
    """What a server of Iperf wrote, and what it reported to a client."""
    *lines, last = (FILES / f"iperf-2.1.8-udp-enhanced-{end}.txt").read_text("utf-8").splitlines()
    above = "\n".join([*lines, ""])
    told = last.index("(") + 1
    for cut in range(told):
        assert judged(tmp_path, above + last[:cut]) == ("incomplete", NO_REPORT_OF_THE_WHOLE), last[:cut]
    assert judged(tmp_path, above + last[:told]) == ("ok", None)


def test_a_client_that_counts_no_datagrams_is_whole_behind_one_that_does(tmp_path: Path) -> None:
    """The first one with -e."""
    rows = (FILES / "iperf-2.1.8-udp-client.txt").read_text("utf-8").partition("[SUM] 0.0000-3.0005")[0]
    plain = "\n".join(row for row in rows.splitlines() if " Sent " not in row)
    assert plain.endswith("31.5 Mbits/sec")
    for number, before in enumerate(["", (FILES / "iperf-2.1.8-udp-enhanced-client.txt").read_text("utf-8")]):
        (tmp_path / f"{number}").write_text(before + plain, "utf-8")
        test = read_file(tmp_path / f"{number}").transfers[-1]
        assert (test.unfinished, test.flows[0].whole.datagrams) == (None, None)


@pytest.mark.parametrize("cut", range(28, 58))
def test_a_last_line_of_what_came_out_of_order_may_be_cut_off(tmp_path: Path, cut: int) -> None:
    text = (FILES / "iperf-2.1.8-udp-server.txt").read_text("utf-8").rstrip("\n")
    late = "[SUM] 0.0000-3.0101 sec  1 datagrams received out-of-order"
    assert judged(tmp_path, f"{text}\n{late[:cut]}") == ("ok", None)


@pytest.mark.parametrize(
    "text",
    [stream_without(), CSV, TEXT, first_lines("nuttcp-6.1.2-transmit.txt", 5)],
    ids=lambda text: text[:9],
)
def test_what_ends_with_a_report_of_the_whole_is_whole(tmp_path: Path, text: str) -> None:
    assert judged(tmp_path, text) == ("ok", None)


def test_an_unfinished_trial_counts_neither_as_whole_nor_as_its_whole_one(tmp_path: Path) -> None:
    """A log that has grown adds the whole test; the part that was there before stays incomplete."""
    for lines in (3, 4):
        found = rows(tmp_path, "".join(CSV.splitlines(keepends=True)[:lines]))
    assert [row["status"] for row in found] == ["incomplete", "ok"]
    told = CliRunner().invoke(app, ["findings", str(tmp_path / "old")])
    assert "1 of 2 trials did not end ok" in told.stdout, told.stdout


def test_a_run_without_any_interval_does_not_spoil_the_others_of_a_log(tmp_path: Path) -> None:
    """It was ended between its start and the first interval."""
    started = stream_without("interval", "end")
    assert judged(tmp_path, f"{started}\n{stream_without()}") == ("ok", None)
    (tmp_path / "alone.json").write_text(started, encoding="utf-8")
    with pytest.raises(ImportedFileError, match=r":1\$\.end: tells of no flow, and no interval does"):
        read_file(tmp_path / "alone.json")


def test_what_a_server_did_not_finish_is_not_whole_in_its_clients_file(tmp_path: Path) -> None:
    told = document("iperf3-3.12-tcp-client.json")
    told["server_output_json"] |= {"error": "the server has terminated"}
    said = 'the test was broken off: "the server has terminated"'
    assert judged(tmp_path, json.dumps(told)) == ("incomplete", said)


def test_how_many_tests_of_a_log_failed_is_told(tmp_path: Path) -> None:
    refused = (FILES / "iperf3-3.21-refused-client.json").read_text("utf-8")
    good = (FILES / "iperf3-3.12-tcp-client.json").read_text("utf-8")
    log = tmp_path / "log.json"
    log.write_text(f"{refused}{good}{refused}", "utf-8")
    words = ["import", str(log), "--archive", str(tmp_path / "old")]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0
    line = 1 + (refused + good).count("\n")
    assert done.output.startswith(
        f"2 tests of {log} failed and are left out; of the last one: {line}$.error: "
        'the test failed: "unable to connect to server'
    )
    assert "1 trial imported from 1 file" in done.output


def test_a_record_of_pscheduler_that_failed_is_told(tmp_path: Path) -> None:
    good = json.dumps(document("pscheduler-tcp.json"))
    log = tmp_path / "log.json"
    log.write_text(f'{good}\n{{"result": {{"succeeded": false, "error": "no route"}}}}\n', "utf-8")
    done = CliRunner().invoke(app, ["import", str(log), "--archive", str(tmp_path / "old")])
    said = f'1 test of {log} failed and is left out: 2$.result: the test failed: "no route"\n'
    assert done.output.startswith(said)


@pytest.mark.parametrize("path", sorted(FILES.glob("*stream*")), ids=lambda path: path.name)
def test_a_stream_that_is_whole_has_no_test_that_failed(path: Path) -> None:
    assert read_file(path).failed == ()


def test_a_long_reason_is_cut(tmp_path: Path) -> None:
    told = document("iperf3-3.12-interrupted-client.json") | {"error": "x" * 100_000}
    status, said = judged(tmp_path, json.dumps(told))
    assert status == "incomplete"
    assert said is not None
    assert (len(said), said[-1]) == (2 * NAME_MAX_CHARACTERS, "…")


@pytest.mark.parametrize(
    ("lasted_s", "expected"), [(4.3, ("incomplete", "it lasted 4.30 s of 1 min")), (54.0, ("ok", None))]
)
def test_a_row_of_the_whole_that_is_much_shorter_than_asked_is_no_whole_test(
    tmp_path: Path, lasted_s: float, expected: tuple[str, str | None]
) -> None:
    """Iperf prints at Ctrl-C what it does at the end."""
    text = "".join(TEXT.splitlines(keepends=True)[:2])
    text += f"[  3]  0.0-{lasted_s:4} sec  26.8 MBytes  47.0 Mbits/sec\n"
    (tmp_path / "log").write_text(text, "utf-8")
    words = ["import", str(tmp_path / "log"), "--archive", str(tmp_path / "old"), "--set", "duration=60s"]
    assert CliRunner().invoke(app, words).exit_code == 0
    [row] = read_archive(tmp_path / "old").tables().trials.to_pyarrow().to_pylist()
    assert (row["status"], row["error"]) == expected


def test_a_test_of_flent_is_held_against_its_length(tmp_path: Path) -> None:
    told = json.loads(gzip.decompress((FILES / "flent-2.3.0-tcp_upload.flent.gz").read_bytes()))
    assert judged(tmp_path, json.dumps(told)) == ("ok", None)
    told["metadata"]["LENGTH"] = 60
    assert judged(tmp_path, json.dumps(told)) == ("incomplete", "it lasted 4.21 s of 1 min")


def test_omitted_seconds_are_a_part_of_the_duration(tmp_path: Path) -> None:
    told = document("iperf3-3.12-tcp-server.json")
    assert told["start"]["test_start"]["omit"] == 1
    told["start"]["test_start"]["omit"] = 4
    assert judged(tmp_path, json.dumps(told)) == ("ok", None)


def test_whole_seconds_that_were_cut_off_do_not_end_a_test(tmp_path: Path) -> None:
    """pScheduler makes 3 s of 3.99 s of nuttcp."""
    summary = {"start": 0, "end": 3, "throughput-bits": 1e6}
    result = {"succeeded": True, "summary": {"summary": summary, "streams": [summary]}}
    spec = {"source": "a", "dest": "b", "duration": "PT4S"}
    record = {"test": {"type": "throughput", "spec": spec}, "tool": "nuttcp", "result": result}
    assert judged(tmp_path, json.dumps(record)) == ("ok", None)
    assert judged(tmp_path, json.dumps(record | {"tool": "iperf3"})) == (
        "incomplete", "it lasted 3 s of 4 s",
    )  # fmt: skip


def test_a_run_of_nuttcp_without_a_summary_is_told_from_the_next_one_in_a_log(tmp_path: Path) -> None:
    killed = first_lines("nuttcp-6.1.2-transmit.txt", 2)
    whole = (FILES / "nuttcp-6.1.2-transmit.txt").read_text("utf-8")
    status, said = judged(tmp_path, killed + whole)
    assert status == "incomplete"
    assert said is not None
    assert said.startswith("its intervals last longer than its summary says")
    verbose = (FILES / "nuttcp-6.1.2-verbose-receive.txt").read_text("utf-8")
    (tmp_path / "log").write_text(first_lines("nuttcp-6.1.2-verbose-receive.txt", 8) + verbose, "utf-8")
    first, second = read_file(tmp_path / "log").transfers
    assert (first.unfinished, second.unfinished) == (NO_REPORT_OF_THE_WHOLE, None)
    (tmp_path / "alone").write_text(verbose, "utf-8")
    assert read_file(tmp_path / "alone").transfers == (second,)
