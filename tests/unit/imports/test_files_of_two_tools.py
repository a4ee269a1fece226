"""Files in which the tests of two tools stand one behind the other."""

import json
from pathlib import Path

import pytest

from flowsweep.errors import ImportedFileError
from flowsweep.imports import read_file
from flowsweep.imports.reading import FileTests
from imported_trials import FILES

IPERF3 = (FILES / "iperf3-3.12-tcp-client.json").read_text("utf-8")
RECORD = (FILES / "pscheduler-tcp.json").read_text("utf-8")
"""It quotes what iperf3 said, with its version."""


def read(tmp_path: Path, text: str, kind: str | None = None) -> FileTests:
    (tmp_path / "log").write_text(text, "utf-8")
    return read_file(tmp_path / "log", kind)


@pytest.mark.parametrize(
    "text",
    [
        f"run 1\n{IPERF3}{RECORD}{IPERF3}",
        f"run 1\n{RECORD}{IPERF3}{IPERF3}",
        f"[{IPERF3},{RECORD},{IPERF3}]",
        json.dumps([json.loads(text) for text in (RECORD, IPERF3, IPERF3)]),
    ],
    ids=["a log", "a log with the record first", "an array", "an array in one line"],
)
def test_a_record_of_pscheduler_does_not_spoil_a_log_of_iperf3(tmp_path: Path, text: str) -> None:
    tests = read(tmp_path, text)
    assert (tests.kind.name, len(tests.transfers), len(tests.failed)) == ("iperf3-json", 2, 1)
    assert "has neither start nor intervals nor end" in str(tests.failed[0])


@pytest.mark.parametrize("json_text", [IPERF3, RECORD])
@pytest.mark.parametrize(
    "name", ["iperf-2.1.8-client.txt", "iperf-2.0.5-udp-server.csv", "nuttcp-6.1.2-transmit.txt"]
)
def test_text_of_another_tool_before_json_is_no_remark(tmp_path: Path, name: str, json_text: str) -> None:
    text = (FILES / name).read_text("utf-8") + json_text
    with pytest.raises(ImportedFileError, match=r"log: of two kinds, \S+ and \S+\. Put the tests of each"):
        read(tmp_path, text)
    kind = "iperf3-json" if json_text == IPERF3 else "pscheduler"
    assert len(read(tmp_path, text, kind).transfers) == 1
