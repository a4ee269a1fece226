"""Tests are known by the ids of earlier versions, too, which read less of a file: none is imported twice."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from flowsweep.archive import read_archive
from flowsweep.cli.app import app
from flowsweep.imports import read_file
from flowsweep.imports.outcome import former_ids
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
