"""One file with past results: its kind found, its lines bounded, its errors named."""

import codecs
import csv
import gzip
import io
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from flowsweep.defaults import (
    IMPORT_FILE_MAX_BYTES,
    IMPORT_LINE_MAX_CHARACTERS,
    IMPORT_LINES_LOOKED_AT,
    IMPORT_LINES_MAX,
    IMPORT_ROWS_MAX,
    IMPORT_TESTS_MAX,
)
from flowsweep.errors import ImportedFileError
from flowsweep.imports import (
    dated_table,
    flent,
    iperf2_csv,
    iperf2_text,
    iperf3_json,
    iperf3_text,
    nuttcp,
    pscheduler,
)
from flowsweep.imports.json_text import FEWER_INTERVALS, is_one_test
from flowsweep.imports.ranges import beyond
from flowsweep.imports.transfer import FailedTestError, PlaceError, TooManyTestsError, Transfer
from flowsweep.wording import format_size

_LINE_ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
"""Of `str.splitlines`."""
_LONGEST_MESSAGE = 500
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of file."""

    name: str
    recognises: Callable[[Sequence[str]], bool]
    """By its first lines."""
    read: Callable[[Sequence[str]], tuple[Transfer | FailedTestError, ...]]


@dataclass(frozen=True, slots=True)
class FileTests:
    """What a file tells."""

    kind: Kind
    transfers: tuple[Transfer, ...]
    """At least one."""
    failed: tuple[FailedTestError, ...]
    """Of tests that gave nothing: where the file says it, and why."""


KINDS = {
    module.NAME: Kind(module.NAME, module.recognises, module.read)
    for module in (flent, pscheduler, iperf3_json, iperf2_csv, iperf2_text, nuttcp, dated_table)
}
"""By name, in the order in which they are tried."""
_JSON = (flent.NAME, pscheduler.NAME, iperf3_json.NAME)
"""What is not read line by line."""
_TEXTS = (iperf2_csv.NAME, iperf2_text.NAME, nuttcp.NAME)
"""What readers of JSON would take for a script's remarks."""


def read_file(path: Path, kind: str | None = None) -> FileTests:
    """Read every test of a file.

    Args:
        path: The file.
        kind: One of KINDS; recognised if absent.

    Raises:
        ImportedFileError: It cannot be read, or all its tests failed; names file and line.
    """
    lines = _lines(path)
    known = _recognised(lines)
    if known is None and iperf3_text.is_text(_looked_at(lines)):
        raise ImportedFileError(f"{path}: {iperf3_text.NOT_READ}.")
    chosen = KINDS[kind] if kind is not None else known
    if chosen is None:
        raise ImportedFileError(
            f"{path}: of no kind that is known ({', '.join(KINDS)}), by its first "
            f"{IMPORT_LINES_LOOKED_AT} lines. If it is one, name it with --kind."
        )
    if kind is None:
        _check_alone(path, chosen, lines)
    if chosen.name not in _JSON:
        _check_lines(path, lines)
    tests = _tests(path, chosen, lines)
    transfers = tuple(test for test in tests if isinstance(test, Transfer))
    failed = tuple(test for test in tests if isinstance(test, FailedTestError))
    if len(tests) > IMPORT_TESTS_MAX:
        raise ImportedFileError(f"{path}: {TooManyTestsError()}")
    wrong = next((problem for transfer in transfers if (problem := beyond(transfer)) is not None), None)
    if wrong is not None:
        raise ImportedFileError(f"{path}: read as {chosen.name}, {wrong}")
    if not transfers:
        nothing = ImportedFileError(f"{path}: read as {chosen.name}, it tells of no test")
        raise _placed(path, failed[-1]) if failed else nothing
    return FileTests(chosen, transfers, failed)


def in_one_line(error: Exception) -> str:
    """What is wrong, in one line that ends: it may quote what a file says."""
    text = " ".join(str(error).split())
    return text if len(text) <= _LONGEST_MESSAGE else f"{text[:_LONGEST_MESSAGE]}…"


def _placed(path: Path, error: PlaceError) -> ImportedFileError:
    return ImportedFileError(f"{path}:{error.place}: {in_one_line(error)}")


def _tests(path: Path, kind: Kind, lines: Sequence[str]) -> tuple[Transfer | FailedTestError, ...]:
    """Read lines as of a kind, and name the file in what is wrong with them."""
    try:
        return kind.read(lines)
    except PlaceError as error:
        raise _placed(path, error) from error
    except csv.Error as error:
        raise ImportedFileError(f"{path}: read as {kind.name}, it is no CSV: {error}") from error
    except TooManyTestsError as error:
        raise ImportedFileError(f"{path}: {error}") from error
    except (ValueError, OverflowError) as error:
        raise ImportedFileError(
            f"{path}: read as {kind.name}, a number in it is of no use: {error}"
        ) from error


def _recognised(lines: Sequence[str]) -> Kind | None:
    lines = _looked_at(lines)
    for known in KINDS.values():
        # A line may be longer than CSV allows.
        with suppress(csv.Error):
            if known.recognises(lines):
                return known
    return None


def _check_alone(path: Path, chosen: Kind, lines: Sequence[str]) -> None:
    """Refuse JSON with another tool's tests as text beside it: they would be left out without a word."""
    if chosen.name not in _JSON:
        return
    looked_at = _looked_at(lines)
    if other := next((name for name in _TEXTS if KINDS[name].recognises(looked_at)), None):
        raise ImportedFileError(
            f"{path}: of two kinds, {other} and {chosen.name}. Put the tests of each into a file of their "
            "own, or name the kind that is to be read with --kind."
        )


def _looked_at(lines: Sequence[str]) -> list[str]:
    return [line[:IMPORT_LINE_MAX_CHARACTERS] for line in lines[:IMPORT_LINES_LOOKED_AT]]


def _check_lines(path: Path, lines: Sequence[str]) -> None:
    """Refuse more than can be understood within the memory that an import may take."""
    if sum(1 for line in lines if line) > IMPORT_ROWS_MAX:
        raise ImportedFileError(
            f"{path}: over {IMPORT_ROWS_MAX} lines that are not empty. Split it, and import the parts."
        )
    for number, line in enumerate(lines, start=1):
        if len(line) > IMPORT_LINE_MAX_CHARACTERS:
            raise ImportedFileError(
                f"{path}:{number}: the line has {len(line)} characters, expected up to "
                f"{IMPORT_LINE_MAX_CHARACTERS}"
            )


def _lines(path: Path) -> list[str]:
    try:
        with path.open("rb") as file:  # which may be a pipe
            content = file.read(IMPORT_FILE_MAX_BYTES + 1)
        if content.startswith(_GZIP):
            content = gzip.GzipFile(fileobj=io.BytesIO(content)).read(IMPORT_FILE_MAX_BYTES + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ImportedFileError(f"{path}: cannot be unpacked: {error}") from error
    except OSError as error:
        raise ImportedFileError(f"{path}: cannot be read: {error.strerror or error}") from error
    if len(content) > IMPORT_FILE_MAX_BYTES:
        size = format_size(IMPORT_FILE_MAX_BYTES)
        advice = (
            FEWER_INTERVALS if is_one_test(content.decode("latin-1")) else "Split it, and import the parts."
        )
        raise ImportedFileError(f"{path}: over {size}. {advice}")
    # PowerShell's ">" writes UTF-16.
    encoding = "utf-16" if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"
    text = content.decode(encoding, errors="replace")
    if sum(map(text.count, _LINE_ENDS)) > IMPORT_LINES_MAX:
        raise ImportedFileError(f"{path}: over {IMPORT_LINES_MAX} lines. Split it, and import the parts.")
    return text.splitlines()
