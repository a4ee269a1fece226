"""Tables of tests with a header: units of headings, rows without a result, and what is refused."""

import csv
from pathlib import Path

import pytest
from typer.testing import CliRunner

from flowsweep.archive import read_archive
from flowsweep.cli import load
from flowsweep.cli.app import app
from flowsweep.errors import ImportedFileError
from flowsweep.imports import read_file
from summary_support import archive_rows

load(["import"])


@pytest.mark.parametrize(
    ("heading", "cell", "rate_bps"),
    [
        ("bandwidth", "941000000", 941e6),
        ("Bandwidth (bit/s)", "9.41e8", 941e6),
        ("goodput_bps", "941000000.0", 941e6),
        ("Throughput [Mbit/s]", "941", 941e6),
        ("throughput_mbps", "941", 941e6),
        ("bits_per_second", "941000000", 941e6),
        ("Goodput in Gbit/s", "0.941", 941e6),
        ("Mbits/sec", "941", 941e6),
        ("throughput (MB/s)", "117.625", 941e6),
        ("throughput (MiB/s)", "117.625", 117.625 * 8 * (1 << 20)),
        ("kbps", "941000", 941e6),
    ],
)
def test_the_unit_of_a_heading_counts(tmp_path: Path, heading: str, cell: str, rate_bps: float) -> None:
    text = f"source;destination;window KiB;duration (min);size (MB);{heading}\na;b;64;0.5;1.1;{cell}\n"
    (tmp_path / "results").write_text(text, encoding="utf-8")
    [test] = read_file(tmp_path / "results", None).transfers
    assert (test.total.rate_bps, test.total.end_ns) == (rate_bps, 30_000_000_000)
    assert (test.window_send_bytes, test.total.size_bytes) == (65_536, 1_100_000)


def test_a_table_without_hosts_takes_those_that_are_known(tmp_path: Path) -> None:
    (tmp_path / "results.csv").write_text("time,throughput (Gbit/s)\n2026-10-01T00:00:00Z,9.4\n")
    words = ["import", str(tmp_path / "results.csv"), "--archive", str(tmp_path / "old")]
    done = CliRunner().invoke(app, [*words, "--set", "from=a", "--set", "to=b"])
    assert done.exit_code == 0
    [row] = read_archive(tmp_path / "old").tables().trials.to_pyarrow().to_pylist()
    assert (row["src"], row["dst"], row["reported_goodput_bps"]) == ("a", "b", 9.4e9)


@pytest.mark.parametrize("cell", ["", "-", "NaN", "timeout"])
def test_a_test_without_a_rate_is_a_trial_that_failed(tmp_path: Path, cell: str) -> None:
    (tmp_path / "results.csv").write_text(f"from,to,flows,throughput (Gbit/s)\na,b,4.0,9.4\na,b,4,{cell}\n")
    archive = tmp_path / "old"
    runner, words = CliRunner(), ["import", str(tmp_path / "results.csv"), "--archive", str(archive)]
    assert runner.invoke(app, words).exit_code == 0
    printed = runner.invoke(app, ["summary", str(archive), "--format", "csv"]).stdout
    rows = list(csv.DictReader(printed.splitlines()))
    assert [(row["status"], row["goodput_bps"], row["flows"]) for row in rows] == [
        ("ok", "9400000000.0", "4"), ("failed", "", "4"),
    ]  # fmt: skip
    said = f'the table has "{cell}" instead of a rate' if cell else "the table has no rate of it"
    assert rows[1]["error"] == said


def test_what_a_table_does_not_tell_stays_unknown(tmp_path: Path) -> None:
    """Neither 0 bytes nor 0 s; of rate, duration and bytes two tell the third."""
    cells = ["8,,", "8,10,", "8,,10000000", "0,,5", "failed,10,", "failed,,"]
    text = "from,to,Mbit/s,duration,bytes\n" + "".join(f"a,b,{cell}\n" for cell in cells)
    (tmp_path / "results.csv").write_text(text)
    archive = tmp_path / "old"
    words = ["import", str(tmp_path / "results.csv"), "--archive", str(archive)]
    assert CliRunner().invoke(app, words).exit_code == 0
    rows = archive_rows(read_archive(archive))
    assert [(row["status"], row["elapsed_s"], row["bytes_sent"], row["goodput_bps"]) for row in rows] == [
        ("ok", None, None, 8e6), ("ok", 10.0, 10_000_000, 8e6), ("ok", 10.0, 10_000_000, 8e6),
        ("ok", None, 5, 0.0), ("failed", 10.0, None, None), ("failed", None, None, None),
    ]  # fmt: skip
    page = str(tmp_path / "report.html")
    for command in (["findings", str(archive)], ["report", str(archive), "--output", page]):
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 0, done.output


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("from,to,throughput\na,b,941.2\n", 1, 'name the unit there, as in "throughput (Mbit/s)"'),
        ("from,to,throughput (MBPS)\na,b,1\n", 1, 'found the unit "MBPS", expected one as bit/s'),
        ("from,to,goodput,throughput\na,b,1,1\n", 1, 'columns "goodput" and "throughput" both have the'),
        ("\nfrom,to,speed\na,b,1\n", 2, 'no column has the rate: found "from", "to", "speed"'),
        ("from,to,proto,bandwidth\na,b,udp,1000000\n", 2, "a test of UDP"),
        ("from,to,flows,bandwidth\na,b,1.5,1000000\n", 2, 'flows: found "1.5", expected a whole number'),
        ("from;to;Mbit/s\na;b;12,1\n", 2, 'bandwidth: found "12,1", expected a number with a decimal point'),
        ("from;to;Mbit/s\na;b;1.094,5\n", 2, "decimal point and without separators of thousands"),
        ("from\tto\tMbit/s\na\tb\t1\u202f094\n", 2, "expected a number with a decimal point"),
        ("from;to;flows;Mbit/s\na;b;1,000;9\n", 2, 'flows: found "1,000", expected a number with a decimal'),
        ("from;to;Mbit/s\na;b;12,1 Mbit/s\n", 2, "expected a number without a unit"),
        ("from,to,Mbit/s\na,b,12,1\n", 2, "4 cells, but the header has 3: commas separate cells, so numbers"),
        (
            "from,to,Time (s),Mbit/s\na,b,10,941\n",
            2,
            "which is a date of 1970, expected seconds since 1970 or a date from 1990 on. If it is how long",
        ),
        ("from,to,time,Mbit/s\na,b,1970-01-01T00:00:10Z,941\n", 2, "which is a date of 1970"),
    ],
)
def test_what_a_header_lacks_is_named(tmp_path: Path, text: str, line: int, said: str) -> None:
    (tmp_path / "results").write_text(text, encoding="utf-8")
    with pytest.raises(ImportedFileError) as error:
        read_file(tmp_path / "results", None)
    assert str(error.value).startswith(f"{tmp_path / 'results'}:{line}: ")
    assert said in str(error.value)


def test_a_window_or_length_of_0_is_none_that_anybody_asked_for(tmp_path: Path) -> None:
    rows = "".join(f"a,b,{window},0,941\n" for window in (0, 64, 128))
    (tmp_path / "results.csv").write_text(f"from,to,window KiB,length B,Mbit/s\n{rows}", encoding="utf-8")
    words = ["import", str(tmp_path / "results.csv"), "--archive", str(tmp_path / "old")]
    assert CliRunner().invoke(app, words).exit_code == 0
    found = read_archive(tmp_path / "old").tables().trials.to_pyarrow().to_pylist()
    assert [row["window_send_bytes"] for row in found] == [None, 64 << 10, 128 << 10]
    assert [row["length_bytes"] for row in found] == [None] * 3


def test_what_a_table_does_not_tell_can_be_set(tmp_path: Path) -> None:
    table = tmp_path / "results.csv"
    table.write_text("from,to,Mbit/s,duration\na,b,941,10\n", encoding="utf-8")
    words = ["import", str(table), "--archive"]
    before = CliRunner().invoke(app, [*words, str(tmp_path / "old")])
    assert before.exit_code == 0
    set_ = ["--set", "flows=4", "--set", "role=sink"]
    done = CliRunner().invoke(app, [*words, str(tmp_path / "new"), *set_, "--set", "from=c"])
    assert done.exit_code == 0
    [row] = archive_rows(read_archive(tmp_path / "new"))
    assert (row["flows"], row["goodput_method"], row["bytes"]) == (4, "receiver_mean", 1_176_250_000)
    assert done.stderr.splitlines() == ["--set from: has no effect, since the files tell it themselves"]
    # A trial keeps the id that it has had before anything could be set.
    [earlier] = archive_rows(read_archive(tmp_path / "old"))
    assert (earlier["flows"], earlier["trial_id"]) == (1, row["trial_id"])
    assert row["trial_id"] == "32bafec8d3c4"


def test_of_a_window_that_is_set_one_end_may_be_in_the_files(tmp_path: Path) -> None:
    table, words = tmp_path / "results.csv", ["import", str(tmp_path / "results.csv"), "--archive"]
    table.write_text("from,to,Mbit/s,flows,window_send\na,b,941,2,65536\n", encoding="utf-8")
    done = CliRunner().invoke(app, [*words, str(tmp_path / "a"), "--set", "window=1MiB", "--set", "flows=3"])
    assert done.stderr.splitlines() == ["--set flows: has no effect, since the files tell it themselves"]
    done = CliRunner().invoke(app, [*words, str(tmp_path / "b"), "--set", "window_send=1MiB"])
    assert done.stderr.splitlines() == [
        "--set window_send: has no effect, since the files tell it themselves"
    ]


def test_a_summary_of_flowsweep_is_refused(tmp_path: Path) -> None:
    (tmp_path / "results.csv").write_text("from,to,proto,Mbit/s\na,b,tcp,941\n", encoding="utf-8")
    runner, archive = CliRunner(), str(tmp_path / "old")
    assert runner.invoke(app, ["import", str(tmp_path / "results.csv"), "--archive", archive]).exit_code == 0
    summary = tmp_path / "summary.csv"
    summary.write_text(runner.invoke(app, ["summary", archive, "--format", "csv"]).stdout, encoding="utf-8")
    with pytest.raises(ImportedFileError, match=r"csv:1: a summary that Flowsweep wrote.*the archive itself"):
        read_file(summary, None)


def test_equal_results_of_different_files_without_a_time_are_told(tmp_path: Path) -> None:
    first, second, archive = tmp_path / "d1.csv", tmp_path / "d2.csv", tmp_path / "old"
    first.write_text("from,to,Mbit/s\na,b,941\na,b,941\n", encoding="utf-8")
    second.write_text("from,to,Mbit/s\na,b,941\na,b,939\n", encoding="utf-8")
    words = ["import", "--archive", str(archive), str(second)]
    done = CliRunner().invoke(app, [*words, str(first)])
    assert done.exit_code == 0
    assert "3 trials imported from 2 files, 1 was there already" in done.stdout
    [told] = done.stderr.splitlines()
    assert told.startswith(
        "1 test without a time is equal to one of another file, and taken for the same: "
        f"{first} has what {second} has. Where it is another test, tell its time"
    )
    # The same file, also when it has grown, has its tests again.
    second.write_text("from,to,Mbit/s\na,b,941\na,b,939\na,b,938\n", encoding="utf-8")
    again = CliRunner().invoke(app, words)
    assert (again.exit_code, again.stderr) == (0, "")
    assert "1 trial imported from 1 file, 2 were there already" in again.stdout
    later = CliRunner().invoke(app, ["import", "--archive", str(archive), str(first)])
    assert f"{first} has what d2.csv has." in later.stderr
    with_times = "from,to,Mbit/s,time\na,b,941,2026-01-01T00:00:00Z\n"
    for path in (first, second):
        path.write_text(with_times, encoding="utf-8")
    timed = CliRunner().invoke(app, [*words, str(first)])
    assert ("1 was there already" in timed.stdout, timed.stderr) == (True, "")
