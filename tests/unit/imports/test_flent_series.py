"""Series of Flent that lack something: a mean, values, the size of what was sent."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from flowsweep.errors import ImportedFileError
from flowsweep.imports import Transfer, read_file
from flowsweep.imports.outcome import Numbering, outcome_of
from imported_trials import FILES

Document = dict[str, Any]


def document(name: str) -> Document:
    return json.loads(gzip.decompress((FILES / f"flent-2.3.0-{name}.flent.gz").read_bytes()))


def read(tmp_path: Path, told: Document) -> tuple[Transfer, ...]:
    path = tmp_path / "changed.flent"
    path.write_text(json.dumps(told), "utf-8")
    return read_file(path).transfers


def test_a_flow_without_a_mean_is_not_left_out_of_the_sum(tmp_path: Path) -> None:
    told = document("rrul")
    del told["metadata"]["SERIES_META"]["TCP upload BK"]["MEAN_VALUE"]
    told["metadata"]["SERIES_META"]["TCP upload EF"]["MEAN_VALUE"] = None
    upload, download = read(tmp_path, told)
    assert (upload.flow_count, download.flow_count, download.failure) == (4, 4, None)
    assert upload.failure == "no MEAN_VALUE of TCP upload BK, TCP upload EF: netperf did not end as it should"
    record = outcome_of(upload, "0" * 12, sweep="s", imported_from="", numbering=Numbering([])).record
    assert (record.failure, record.reported_bytes, record.reported_goodput_bps) == (
        upload.failure,
        None,
        None,
    )


def test_a_gap_between_values_is_none_of_an_interval(tmp_path: Path) -> None:
    told = document("tcp_upload")
    (whole,) = read(tmp_path, told)
    values = told["raw_values"]["TCP upload"]
    left_out = whole.flows[0].intervals[5]
    del values[5]
    (test,) = read(tmp_path, told)
    assert test.flows[0].intervals[:5] == whole.flows[0].intervals[:5]
    assert test.flows[0].intervals[5].end_ns == whole.flows[0].intervals[6].end_ns
    assert abs(test.flows[0].intervals[5].start_ns - left_out.end_ns) <= 1_000_000
    assert test.flows[0].intervals[6:] == whole.flows[0].intervals[7:]


def test_a_gap_makes_no_more_intervals_than_can_be(tmp_path: Path) -> None:
    told = document("tcp_download")
    told["raw_values"]["TCP download"][-1]["t"] += 1e7
    (test,) = read(tmp_path, told)
    record = outcome_of(test, "0" * 12, sweep="s", imported_from="", numbering=Numbering([])).record
    assert (record.expected_bins, record.goodput_method) == (0, "receiver_mean")


def test_flows_with_several_hosts_are_not_said_to_be_with_the_first(tmp_path: Path) -> None:
    """As of rtt_fair: HOST has the first only."""
    told = document("rrul")
    series = told["metadata"]["SERIES_META"]["TCP upload BK"]
    assert f" -H {told['metadata']['HOST']} " in series["COMMAND"]
    series["COMMAND"] = series["COMMAND"].replace(f" -H {told['metadata']['HOST']} ", " -H 10.77.0.9 ")
    with pytest.raises(
        ImportedFileError, match=r"its flows are with 2 hosts, such as 10\.77\.0\.2 and 10\.77\.0\.9:"
    ):
        read(tmp_path, told)


def test_what_was_not_asked_for_is_unknown(tmp_path: Path) -> None:
    """Flent has -1 where netperf did not say how much it wrote at once."""
    told = document("tcp_upload")
    told["metadata"]["SERIES_META"]["TCP upload"]["SEND_SIZE"] = -1
    assert read(tmp_path, told)[0].length_bytes is None
