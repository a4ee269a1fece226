"""Files are untrusted: whatever bytes a real file was changed into, it is read, or refused with a reason."""

import gzip
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flowsweep.errors import ImportedFileError
from flowsweep.imports import KINDS, read_file, reading
from flowsweep.imports.outcome import Numbering, content_ids, outcome_of
from import_mutations import REAL, unpacked

TELLING = [
    b"-1",
    b"9" * 40,
    b"9" * 5000,
    b"1e999",
    b"NaN",
    b"null",
    b"{}",
    b"[",
    b'"',
    b"0",
    b"\xff\xfe",
    b"",
]
PIECES = st.one_of(st.sampled_from(TELLING), st.binary(max_size=20))
CHANGES = st.lists(
    st.tuples(st.floats(0, 1), st.integers(0, 40), PIECES, st.booleans()), min_size=1, max_size=4
)

# The folder is written anew for each example; how fast examples are made is the machine's affair.
CHECKS_LEFT_OUT = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
NUMBER = re.compile(rb"\d+(?:\.\d+)?")


def changed(content: bytes, place: float, length: int, piece: bytes, *, number: bool) -> bytes:
    """A piece in place of some bytes, or of a whole number."""
    found = list(NUMBER.finditer(content)) if number else []
    if found:
        begin, end = found[round(place * (len(found) - 1))].span()
    else:
        begin = round(place * len(content))
        end = begin + length
    return content[:begin] + piece + content[end:]


def take(path: Path, kind: str | None) -> None:
    """Read a file and make trials of it; only a refusal may be raised."""
    refusal = None
    try:
        transfers = read_file(path, kind).transfers
    except ImportedFileError as error:
        transfers, refusal = [], str(error)
    assert refusal is None or str(path) in refusal
    for transfer, trial_id in zip(transfers, content_ids(transfers), strict=True):
        outcome_of(transfer, trial_id, sweep="s", imported_from="f", numbering=Numbering(()))


@pytest.mark.parametrize("real", REAL, ids=lambda path: path.name)
@settings(max_examples=15, deadline=None, suppress_health_check=CHECKS_LEFT_OUT)
@given(changes=CHANGES, options=st.sets(st.sampled_from(["kind named", "packed"])))
def test_changed_files_are_read_or_refused(
    tmp_path: Path, real: Path, changes: list[tuple[float, int, bytes, bool]], options: set[str]
) -> None:
    content = unpacked(real)
    kind = read_file(real).kind.name if "kind named" in options and "refused" not in real.name else None
    for place, length, piece, number in changes:
        content = changed(content, place, length, piece, number=number)
    path = tmp_path / "changed"
    path.write_bytes(gzip.compress(content) if "packed" in options else content)
    take(path, kind)


@settings(max_examples=100, deadline=None, suppress_health_check=CHECKS_LEFT_OUT)
@given(content=st.binary(max_size=300), kind=st.sampled_from([None, *KINDS]))
def test_any_bytes_are_read_or_refused(tmp_path: Path, content: bytes, kind: str | None) -> None:
    path = tmp_path / "any"
    path.write_bytes(content)
    take(path, kind)


def test_what_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "IMPORT_FILE_MAX_BYTES", 1 << 20)
    path = tmp_path / "bomb.flent.gz"
    path.write_bytes(gzip.compress(b"{" + bytes(64 << 20)))
    with pytest.raises(ImportedFileError, match="over 1 MiB"):
        read_file(path)


def test_deeply_nested_json_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "deep.json"
    path.write_text('{"start": {"version": "iperf 3.12", "connected": ' + "[" * 100_000, encoding="utf-8")
    with pytest.raises(ImportedFileError, match=r"recursion limit"):
        read_file(path)
