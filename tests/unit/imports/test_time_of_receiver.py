"""How long a trial took is of the end whose bytes it has: the two give that end's mean rate."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from flowsweep.imports import Transfer, read_file
from flowsweep.imports.outcome import Numbering, content_ids, outcome_of
from imported_trials import FILES, document


def elapsed_and_bytes(test: Transfer) -> tuple[int, int]:
    record = outcome_of(test, "0" * 12, sweep="s", imported_from="", numbering=Numbering([])).record
    assert record.elapsed_ns is not None
    assert record.reported_bytes is not None
    return record.elapsed_ns, record.reported_bytes


@pytest.mark.parametrize("end", ["client", "server"])
def test_bytes_over_time_are_what_the_receiver_of_iperf3_has(end: str) -> None:
    (test,) = read_file(FILES / f"iperf3-3.12-tcp-{end}.json").transfers
    elapsed_ns, size_bytes = elapsed_and_bytes(test)
    received = document(f"iperf3-3.12-tcp-{end}.json")["end"]["sum_received"]
    assert size_bytes == received["bytes"]
    assert size_bytes * 8e9 / elapsed_ns == pytest.approx(received["bits_per_second"], rel=1e-3)


def test_bytes_over_time_without_what_the_server_says(tmp_path: Path) -> None:
    told = document("iperf3-3.12-tcp-client.json")
    del told["server_output_json"]
    file = tmp_path / "results.json"
    file.write_text(json.dumps(told), "utf-8")
    (test,) = read_file(file).transfers
    elapsed_ns, size_bytes = elapsed_and_bytes(test)
    assert size_bytes * 8e9 / elapsed_ns == pytest.approx(
        told["end"]["sum_received"]["bits_per_second"], rel=1e-3
    )


def test_a_receivers_time_makes_no_other_trial_of_it() -> None:
    (test,) = read_file(FILES / "iperf3-3.12-tcp-client.json").transfers
    assert test.far is not None
    assert test.far.lasted_ns is not None
    unknown = replace(test, far=replace(test.far, lasted_ns=None))
    assert content_ids([test]) == content_ids([unknown])
    assert elapsed_and_bytes(unknown)[0] == test.total.end_ns != test.far.lasted_ns
