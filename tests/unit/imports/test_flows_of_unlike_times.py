"""Flows that do not last alike: means over unlike times do not add up to a mean over the whole test."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from flowsweep.archive import read_archive
from flowsweep.cli import load
from flowsweep.cli.app import app
from flowsweep.imports import Transfer, read_file
from flowsweep.imports.outcome import added_ids, content_ids, former_ids, late_ids
from flowsweep.imports.transfer import FlowReport, Report, far_end, sum_of
from imported_trials import document

load(["import"])

SECOND = 1_000_000_000
CONNECTED = """\
Server listening on TCP port 5001
[  4] local 10.0.0.2 port 5001 connected with 10.0.0.1 port 40000
[  5] local 10.0.0.2 port 5001 connected with 10.0.0.1 port 40002
"""
UNLIKE = """\
[  4]  0.0-10.0 sec  1125 MBytes   944 Mbits/sec
[  5]  0.0-20.0 sec  1125 MBytes   472 Mbits/sec
"""
SUM = "[SUM]  0.0-20.0 sec  2250 MBytes   944 Mbits/sec\n"
BOTH_BPS = 2250 * 2**20 * 8 / 20
BEFORE = "1c01830b05d3"
"""The id of the versions that added the two rates."""


def read(tmp_path: Path, text: str) -> tuple[Transfer, ...]:
    (tmp_path / "log").write_text(text, "utf-8")
    return read_file(tmp_path / "log").transfers


def flow(begin_s: float, end_s: float, rate_bps: float = 8e6, interval_s: float = 0) -> FlowReport:
    def report(start_s: float) -> Report:
        size = round(rate_bps * (end_s - start_s) / 8)
        return Report(round(start_s * SECOND), round(end_s * SECOND), size, rate_bps)

    return FlowReport(report(begin_s), (report(end_s - interval_s),) if interval_s else ())


def test_two_flows_of_which_one_lasts_twice_as_long_carry_all_bytes_in_the_longer_time(
    tmp_path: Path,
) -> None:
    (test,) = read(tmp_path, CONNECTED + UNLIKE)
    assert test.total.rate_bps == pytest.approx(BOTH_BPS)
    (told,) = read(tmp_path, CONNECTED + UNLIKE + SUM)
    assert told.total.rate_bps == pytest.approx(test.total.rate_bps, rel=0.001)


def test_rows_of_iperfs_csv_likewise(tmp_path: Path) -> None:
    rows = "".join(
        f"202401020304{second},10.0.0.2,5001,10.0.0.1,{port},{port - 39_996},0.0-{last}.0,1179648000,{rate}\n"
        for second, port, last, rate in ((10, 40_000, 10, 943718400), (20, 40_002, 20, 471859200))
    )
    (test,) = read(tmp_path, rows)
    assert test.flow_count == 2
    assert test.total.rate_bps == pytest.approx(BOTH_BPS)


@pytest.mark.parametrize(
    ("flows", "factor"),
    [
        ([flow(0, 10), flow(0, 20)], 1.5),
        ([flow(0, 10), flow(5, 10)], 1.5),
        ([flow(0, 10), flow(0, 10.1)], 2),
        ([flow(0, 10), flow(0, 10.3)], 2),
        ([flow(0, 10), flow(0, 10.4)], 20.4 / 10.4),
        ([flow(0, 0.9), flow(0, 1)], 2),
        ([flow(0, 0.9003), flow(0, 1.0004)], 1.9007 / 1.0004),
        ([flow(0, 0.9996), flow(0, 1.0004)], 2),
        ([flow(0, 0), flow(0, 10)], 2),
    ],
    ids=[
        "one ends earlier", "one begins later", "apart by what is rounded", "by under 3 %", "by over 3 %",
        "in tenths", "short and exact", "short and nearly together", "of one no time is known",
    ],
)  # fmt: skip
def test_the_rate_of_flows_together(flows: Sequence[FlowReport], factor: float) -> None:
    total = sum_of(tuple(flows))
    assert total.rate_bps == pytest.approx(8e6 * factor)
    assert total.rate_before == (None if factor == 2 else 16e6)
    far = far_end(flows)
    assert far is not None
    assert (far.rate_bps, far.rate_before) == (total.rate_bps, total.rate_before)


def test_flows_whose_file_is_cut_off_between_their_rows_last_alike(tmp_path: Path) -> None:
    """Nobody knows what the first one carried in the interval that the other one has a row of."""
    rows = "".join(
        f"[  {number}]  {second}.0-{second + 1}.0 sec  11.2 MBytes  94.4 Mbits/sec\n"
        for second in range(4)
        for number in (4, 5)
    )
    one_more = "[  4]  4.0-5.0 sec  11.2 MBytes  94.4 Mbits/sec\n"
    (test,) = read(tmp_path, CONNECTED + rows + one_more)
    assert test.unfinished is not None
    assert test.total.rate_bps == pytest.approx(188.8e6, rel=0.005)


def test_far_longer_ones_do_not(tmp_path: Path) -> None:
    assert sum_of((flow(0, 4, interval_s=1), flow(0, 5, interval_s=1)), cut_off=True).rate_before is None
    assert sum_of((flow(0, 4, interval_s=1), flow(0, 5, interval_s=1))).rate_before == 16e6
    assert sum_of((flow(0, 4, interval_s=1), flow(0, 8, interval_s=1)), cut_off=True).rate_before == 16e6


def test_what_was_imported_with_the_sum_of_rates_is_not_imported_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tests = read(tmp_path, CONNECTED + UNLIKE)
    assert added_ids(tests) == former_ids(tests) == late_ids(tests) == [BEFORE] != content_ids(tests)
    words = ["import", str(tmp_path / "log"), "--archive", str(tmp_path / "archive")]
    with monkeypatch.context() as before:
        before.setattr("flowsweep.imports.importing.content_ids", added_ids)
        assert CliRunner().invoke(app, words).exit_code == 0
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert list(read_archive(tmp_path / "archive").state.imported) == [BEFORE]


def test_a_server_s_flows_within_a_client_s_file_of_iperf3_have_the_id_of_before(tmp_path: Path) -> None:
    """A server that broke the test off has no sum of its own; here one of its flows was closed before."""
    told = document("iperf3-3.12-udp-client.json")
    server = told["server_output_json"]
    server["error"] = "the server has terminated"
    gone = server["end"]["streams"][0]["udp"]["socket"]
    for interval in server["intervals"][2:]:
        interval["streams"] = [row for row in interval["streams"] if row["socket"] != gone]
    (tests := tmp_path / "log").write_text(json.dumps(told), "utf-8")
    (test,) = read_file(tests).transfers
    assert test.far is not None
    ends_ns = [flow.whole.end_ns for flow in test.far.flows]
    assert min(ends_ns) < max(ends_ns) == test.far.lasted_ns
    assert test.far.size_bytes is not None
    assert test.far.rate_bps == pytest.approx(test.far.size_bytes * 8e9 / max(ends_ns))
    assert test.far.rate_before == sum(flow.whole.rate_bps for flow in test.far.flows) > test.far.rate_bps
    assert added_ids([test]) != content_ids([test])
