"""What scripts and people keep of iperf3: arrays of its JSON, JSON below other text, text without JSON."""

import json
from pathlib import Path
from typing import Any

import pytest

from flowsweep.errors import ImportedFileError
from flowsweep.imports import read_file
from flowsweep.imports.reading import FileTests
from imported_trials import FILES

CLIENT = "iperf3-3.12-tcp-client.json"
TEXT = """\
-----------------------------------------------------------
Server listening on 5201 (test #1)
-----------------------------------------------------------
Accepted connection from 10.0.0.1, port 52396
[  5] local 10.0.0.2 port 5201 connected to 10.0.0.1 port 52406
[ ID] Interval           Transfer     Bitrate
[  5]   0.00-1.00   sec   863 MBytes  7.23 Gbits/sec
"""


def document(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FILES / name).read_text("utf-8"))
    return found


def kept(tmp_path: Path, text: str, kind: str | None = None) -> FileTests:
    path = tmp_path / "kept"
    path.write_text(text, "utf-8")
    return read_file(path, kind)


@pytest.mark.parametrize("indent", [None, "\t", 4])
def test_an_array_is_a_log_of_several(tmp_path: Path, indent: str | int | None) -> None:
    """It was of no kind that is known and, with --kind, told of no test."""
    first, second = document(CLIENT), document(CLIENT)
    second["start"]["timestamp"]["timesecs"] += 60
    second["title"] = 'a "[" and a \\'
    found = kept(tmp_path, json.dumps([first, second], indent=indent))
    assert found.kind.name == "iperf3-json"
    began = [one.started_at for one in found.transfers if one.started_at is not None]
    assert (began[1] - began[0]).total_seconds() == 60


def test_what_is_wrong_in_an_array_has_its_line(tmp_path: Path) -> None:
    right, wrong = document(CLIENT), document(CLIENT)
    wrong["start"]["test_start"]["protocol"] = "SCTP"
    text = json.dumps([right, wrong], indent=1)
    line = 1 + text[: text.rindex('"start": {\n   "connected"')].count("\n")
    with pytest.raises(ImportedFileError, match=rf"kept:{line - 1}\$\.start\.test_start\.protocol: SCTP"):
        kept(tmp_path, text)


@pytest.mark.parametrize("end", ["", " , "])
def test_an_array_that_ends_in_the_middle_is_refused(tmp_path: Path, end: str) -> None:
    whole = json.dumps([document(CLIENT)])
    with pytest.raises(ImportedFileError, match="Invalid JSON"):
        kept(tmp_path, whole.removesuffix("]") + end)
    with pytest.raises(ImportedFileError, match="Invalid JSON"):
        kept(tmp_path, whole[:-99])


def later(seconds: int) -> dict[str, Any]:
    told = document(CLIENT)
    told["start"]["timestamp"]["timesecs"] += seconds
    return told


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("between", ["", " ", "\n", "\nnext\n\n"])
@pytest.mark.parametrize(
    "kept_as", [([0, 60], [120]), ([0], 60, 120), (0, [60], [120]), ([0], 60, [120]), ([0], [60], 120)]
)
def test_what_follows_an_array_is_read_too(
    tmp_path: Path, kept_as: tuple[Any, ...], between: str, indent: int | None
) -> None:
    """Of two outputs of `jq -s` in one file, the second was left out without a word."""
    if isinstance(kept_as[0], int) or isinstance(kept_as[1], int):
        between = f"{between}\n"  # what follows an object begins a line of its own
    parts = [list(map(later, part)) if isinstance(part, list) else later(part) for part in kept_as]
    found = kept(tmp_path, between.join(json.dumps(part, indent=indent) for part in parts))
    began = [one.started_at for one in found.transfers if one.started_at is not None]
    assert [(at - began[0]).total_seconds() for at in began] == [0, 60, 120]


@pytest.mark.parametrize("other", [None, 5, "text", [document(CLIENT)]])
def test_an_array_with_what_is_no_object_is_refused(tmp_path: Path, other: object) -> None:
    """It was left out without a word."""
    text = json.dumps([document(CLIENT), other, document(CLIENT)], indent=1)
    line = json.dumps([document(CLIENT)], indent=1).count("\n") + 1
    with pytest.raises(ImportedFileError, match=rf"kept:{line}: found '.*': all values .* must be objects"):
        kept(tmp_path, text)


@pytest.mark.parametrize("behind", [" next", ",", " [1, 2]", "]"])
def test_what_is_no_json_behind_an_array_is_refused(tmp_path: Path, behind: str) -> None:
    text = json.dumps([document(CLIENT)], indent=1)
    with pytest.raises(ImportedFileError, match=rf"kept:{text.count(chr(10)) + 1}: found .*behind an array"):
        kept(tmp_path, text + behind)


def test_a_mistake_behind_an_array_has_its_line(tmp_path: Path) -> None:
    text, wrong = json.dumps([document(CLIENT)], indent=1), document(CLIENT)
    wrong["start"]["test_start"]["protocol"] = "SCTP"
    line = text.count("\n") + 4
    with pytest.raises(ImportedFileError, match=rf"kept:{line}\$\.start\.test_start\.protocol: SCTP"):
        kept(tmp_path, f"{text}\n\n[\n{json.dumps(wrong, indent=1)}\n]\n")


def test_text_of_a_script_may_stand_before(tmp_path: Path) -> None:
    """With --kind it was read."""
    found = kept(tmp_path, f"Starting test to 10.0.0.2\n{json.dumps(document(CLIENT), indent=1)}\n")
    assert (found.kind.name, len(found.transfers)) == ("iperf3-json", 1)


@pytest.mark.parametrize("indent", [None, 1])
def test_text_of_a_script_may_stand_before_an_array(tmp_path: Path, indent: int | None) -> None:
    array = json.dumps([document(CLIENT), document(CLIENT)], indent=indent)
    found = kept(tmp_path, f"Starting test to 10.0.0.2\n\n[1] 4711\n[\nwait\n{array}\n")
    assert (found.kind.name, len(found.transfers)) == ("iperf3-json", 2)


def test_what_stands_around_the_json_is_to_be_taken_away(tmp_path: Path) -> None:
    """It was said to tell of no flow."""
    with pytest.raises(ImportedFileError, match=r"kept:1\$: has neither start nor intervals nor end"):
        kept(tmp_path, json.dumps([{"at": 1, "results": document(CLIENT)}]))


@pytest.mark.parametrize("kind", [None, "iperf-text", "iperf3-json"])
@pytest.mark.parametrize("text", [TEXT, "iperf 3.12\nLinux a 6.1.0\nTime: Mon, 03 Jun 2024\n"])
def test_text_of_iperf3_is_refused_with_what_to_do(tmp_path: Path, text: str, kind: str | None) -> None:
    """It was of no kind that is known, or its first row was said to be of an unknown flow of Iperf 2."""
    with pytest.raises(ImportedFileError, match=r"text output of iperf3 is not read: .* with -J \(--json\)"):
        kept(tmp_path, text, kind)


def test_a_key_that_is_missing_is_not_called_empty(tmp_path: Path) -> None:
    told = document(CLIENT)
    told["start"]["connected"] = []
    with pytest.raises(ImportedFileError, match=r"1\$\.start\.connected: is empty: no flow"):
        kept(tmp_path, json.dumps(told))
    del told["start"]["connected"]
    with pytest.raises(ImportedFileError, match=r"1\$\.start\.connected: is missing: no flow"):
        kept(tmp_path, json.dumps(told))
