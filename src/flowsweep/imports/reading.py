"""One file with past results: its kind found, its lines bounded, its errors named."""

import gzip
import zlib
from collections.abc import Callable, Sequence
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
    if kind is not None:
        chosen: Kind | None = KINDS[kind]
    else:
        chosen = next((known for known in KINDS.values() if known.recognises(lines)), None)
    if chosen is None:
        raise ImportedFileError(
            f"{path}: of no kind that is known ({', '.join(KINDS)}). If it is one, name it with --kind."
        )
    try:
        transfers = chosen.read(lines)
    except PlaceError as error:
        raise ImportedFileError(f"{path}:{error.place}: {error}") from error
    except (ValueError, OverflowError) as error:
        raise ImportedFileError(
            f"{path}: read as {chosen.name}, a number in it is of no use: {error}"
        ) from error
    if not all(within_range(transfer) for transfer in transfers):
        raise ImportedFileError(f"{path}: read as {chosen.name}, a number in it is larger than any can be")
    if not transfers:
        raise ImportedFileError(f"{path}: read as {chosen.name}, it tells of no test")
    return chosen, transfers


def _lines(path: Path) -> list[str]:
    try:
        with path.open("rb") as file:
            packed = file.read(len(_GZIP)) == _GZIP
            file.seek(0)
            unpacked = gzip.GzipFile(fileobj=file) if packed else file
            content = unpacked.read(LARGEST_BYTES + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ImportedFileError(f"{path}: cannot be unpacked: {error}") from error
    except OSError as error:
        raise ImportedFileError(f"{path}: cannot be read: {error.strerror}") from error
    if len(content) > LARGEST_BYTES:
        raise ImportedFileError(f"{path}: over {format_size(LARGEST_BYTES)}. Split it, and import the parts.")
    return content.decode("utf-8-sig", errors="replace").splitlines()
