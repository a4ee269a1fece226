"""Tests are known by the ids of earlier versions, too, which read less of a file: none is imported twice."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from flowsweep.archive import read_archive
from flowsweep.cli.app import app
from flowsweep.imports import read_file
from flowsweep.imports.outcome import content_ids, former_ids
from imported_trials import FILES

Document = dict[str, Any]


def as_the_client_knows(told: Document) -> None:
    del told["server_output_json"]


def up_to_3_10(told: Document) -> None:
    as_the_client_knows(told)
    told["end"] = {key: part for key, part in told["end"].items() if key in ("streams", "sum")}


def with_omitted_time(told: Document) -> None:
    as_the_client_knows(told)
    told["start"]["test_start"]["omit"] = 1


@pytest.mark.parametrize(
    ("name", "trial_id"),
    [
        ("iperf-2.1.8-reverse-udp-client.txt", "2a41c8034e48"),
        ("iperf-2.1.8-udp-client.txt", "c4032c010027"),
        ("iperf-2.1.8-udp-enhanced-client.txt", "f0bd61fb6aaf"),
        ("nuttcp-6.1.2-verbose-udp.txt", "b163bac77286"),
    ],
)
def test_an_id_is_known_of_before_the_rate_was_read(name: str, trial_id: str) -> None:
    (test,) = read_file(FILES / name).transfers
    assert test.rate_bps is not None
    assert former_ids([test]) == [trial_id]


@pytest.mark.parametrize(
    ("change", "trial_id"),
    [
        (as_the_client_knows, "193a359d9daa"),
        (up_to_3_10, "68e769583089"),
        (with_omitted_time, "61033c2be6ce"),
    ],
)
def test_an_id_is_known_of_before_what_came_of_each_flows_datagrams_was_read(
    tmp_path: Path, change: Callable[[Document], None], trial_id: str
) -> None:
    told = json.loads((FILES / "iperf3-3.12-udp-client.json").read_text("utf-8"))
    change(told)
    (tmp_path / "results.json").write_text(json.dumps(told), "utf-8")
    (test,) = read_file(tmp_path / "results.json").transfers
    assert test.flow_count == 2
    assert test.far is not None
    assert len(test.far.flows) == 2
    assert former_ids([test]) == [trial_id]


@pytest.mark.parametrize("asked", [{"bytes": 20_000_000, "blocks": 0}, {"bytes": 0, "blocks": 150}])
def test_a_server_of_iperf3_up_to_3_3_has_no_duration_where_bytes_were_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: dict[str, int]
) -> None:
    told = json.loads((FILES / "iperf3-3.12-tcp-server.json").read_text("utf-8"))
    told["start"]["test_start"] |= {"duration": 10} | asked
    (tmp_path / "results.json").write_text(json.dumps(told), "utf-8")
    (test,) = read_file(tmp_path / "results.json").transfers
    assert (test.duration_ns, test.omit_ns) == (None, 1_000_000_000)
    assert former_ids([test]) == content_ids([replace(test, duration_ns=11_000_000_000)])
    words = ["import", str(tmp_path / "results.json"), "--archive", str(tmp_path / "archive")]
    with monkeypatch.context() as before:
        before.setattr("flowsweep.imports.importing.content_ids", former_ids)
        assert CliRunner().invoke(app, words).exit_code == 0
    (record,) = read_archive(tmp_path / "archive").state.imported.values()
    assert (record.duration_ns, record.unfinished) == (None, None)
    assert CliRunner().invoke(app, words).exit_code == 0
    assert len(read_archive(tmp_path / "archive").state.imported) == 1


def test_what_an_earlier_version_imported_is_not_imported_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["import", str(FILES / "iperf-2.1.8-udp-client.txt"), "--archive", str(tmp_path / "archive")]
    with monkeypatch.context() as before:
        before.setattr("flowsweep.imports.importing.content_ids", former_ids)
        assert CliRunner().invoke(app, words).exit_code == 0
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    trials = read_archive(tmp_path / "archive").tables().trials.to_pyarrow().to_pylist()
    assert [trial["trial_id"] for trial in trials] == ["c4032c010027"]


PAGE = """\
a |
198.51.100.1 |
b |
198.51.100.2 |
20006 |
tcp |
4096
|
1006948008 |
1 |
10.4 |
1900544 |
1465941
|
a |
198.51.100.1 |
b |
198.51.100.2 |
20006 |
tcp |
8192
|
1006948018 |
1 |
10.1 |
3137536 |
2495611
|
a |
198.51.100.1 |
b |
198.51.100.2 |
20006 |
tcp |
16384
|
1006948028 |
1 |
10.2 |
3899392 |
3049979
|
"""
SAME_TABLE = """\
from,to,time,Socket Buffer Size (bytes),flows,duration,bytes,bandwidth (bit/s)
a,b,1006948008,4096,1,10.4,1900544,1465941
a,b,1006948018,8192,1,10.1,3137536,2495611
a,b,1006948028,16384,1,10.2,3899392,3049979
"""


def test_a_table_is_the_same_as_a_page_and_as_csv(tmp_path: Path) -> None:
    (tmp_path / "page.txt").write_text(PAGE, encoding="utf-8")
    (tmp_path / "table.csv").write_text(SAME_TABLE, encoding="utf-8")
    page, table = (read_file(tmp_path / name).transfers for name in ("page.txt", "table.csv"))
    for tests in (page, table):
        windows = [(test.window_send_bytes, test.window_recv_bytes) for test in tests]
        assert windows == [(4096, None), (8192, None), (16384, None)]
    assert content_ids(page) == content_ids(table)
    assert former_ids(page) == content_ids(page)
    # When a socket buffer was taken for both ends'.
    assert former_ids(table) == ["4c216410a38e", "c7a6cd938aca", "99e12476effc"]


def test_a_socket_buffer_beside_the_window_of_an_end_is_the_other_ends(tmp_path: Path) -> None:
    (tmp_path / "send.csv").write_text("from,to,socket buffer,window_send,Mbit/s\na,b,4096,8192,9\n", "utf-8")
    (tmp_path / "recv.csv").write_text("from,to,socket buffer,window_recv,Mbit/s\na,b,4096,8192,9\n", "utf-8")
    (sending,), (receiving,) = (read_file(tmp_path / f"{end}.csv").transfers for end in ("send", "recv"))
    assert (sending.window_send_bytes, sending.window_recv_bytes) == (8192, 4096)
    assert (receiving.window_send_bytes, receiving.window_recv_bytes) == (4096, 8192)
    assert former_ids([sending, receiving]) == content_ids([sending, receiving])
