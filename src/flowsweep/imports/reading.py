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

from flowsweep.errors import ImportedFileError
from flowsweep.imports import dated_table, flent, iperf3_json, iperf_csv, iperf_text, nuttcp, pscheduler
from flowsweep.imports.ranges import within_range
from flowsweep.imports.transfer import PlaceError, Transfer
from flowsweep.wording import format_size

LARGEST_BYTES = 64 << 20
"""A file is read as a whole; what was packed may have as much when it is unpacked."""
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of file."""

    name: str
    recognises: Callable[[Sequence[str]], bool]
    read: Callable[[Sequence[str]], tuple[Transfer, ...]]


KINDS = {
    module.NAME: Kind(module.NAME, module.recognises, module.read)
    for module in (flent, pscheduler, iperf3_json, iperf_csv, iperf_text, nuttcp, dated_table)
}
"""By name, in the order in which they are tried."""


def read_file(path: Path, kind: str | None = None) -> tuple[Kind, tuple[Transfer, ...]]:
    """Read every test of a file.

    Args:
        path: The file.
        kind: One of KINDS; recognised if absent.

    Raises:
        ImportedFileError: It cannot be read; names file and line.
    """
    lines = _lines(path)
    chosen = KINDS[kind] if kind is not None else _recognised(lines)
    if chosen is None:
        raise ImportedFileError(
            f"{path}: of no kind that is known ({', '.join(KINDS)}). If it is one, name it with --kind."
        )
    try:
        transfers = chosen.read(lines)
    except PlaceError as error:
        raise ImportedFileError(f"{path}:{error.place}: {error}") from error
    except csv.Error as error:
        raise ImportedFileError(f"{path}: read as {chosen.name}, it is no CSV: {error}") from error
    except (ValueError, OverflowError) as error:
        raise ImportedFileError(
            f"{path}: read as {chosen.name}, a number in it is of no use: {error}"
        ) from error
    if not all(within_range(transfer) for transfer in transfers):
        raise ImportedFileError(f"{path}: read as {chosen.name}, a number in it is larger than any can be")
    if not transfers:
        raise ImportedFileError(f"{path}: read as {chosen.name}, it tells of no test")
    return chosen, transfers


def _recognised(lines: Sequence[str]) -> Kind | None:
    for known in KINDS.values():
        # A line may be longer than CSV allows.
        with suppress(csv.Error):
            if known.recognises(lines):
                return known
    return None


def _lines(path: Path) -> list[str]:
    try:
        with path.open("rb") as file:  # which may be a pipe
            content = file.read(LARGEST_BYTES + 1)
        if content.startswith(_GZIP):
            content = gzip.GzipFile(fileobj=io.BytesIO(content)).read(LARGEST_BYTES + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ImportedFileError(f"{path}: cannot be unpacked: {error}") from error
    except OSError as error:
        raise ImportedFileError(f"{path}: cannot be read: {error.strerror or error}") from error
    if len(content) > LARGEST_BYTES:
        raise ImportedFileError(f"{path}: over {format_size(LARGEST_BYTES)}. Split it, and import the parts.")
    # PowerShell's ">" writes UTF-16.
    encoding = "utf-16" if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"
    return content.decode(encoding, errors="replace").splitlines()
