"""Parquet files of an archive: written once, with a hash of what was written, and checked against it."""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa
from typing_extensions import Buffer

from flowsweep.archive import disk
from flowsweep.archive.digests import has_changed
from flowsweep.archive.entries import TABLES
from flowsweep.archive.folder import UNFINISHED, Folder
from flowsweep.errors import ArchiveError

if TYPE_CHECKING:
    import pyarrow.parquet as pq

COMPRESSION = "zstd"
_COMPRESSION_OF_FEW = "lz4"
"""Of tables of few rows: setting Zstandard up for a column takes 40 µs, and what it saves of these is 6 %."""
_FEW_ROWS = 5_000
_BUFFER_BYTES = 1 << 18
"""Written at a time: Parquet writes some 160 times for a table of 40 columns."""


def write_attempt(folder: Folder, name: str, tables: Mapping[str, pa.Table]) -> dict[str, str]:
    """Write a file for each table into a new folder that appears as a whole or not at all.

    A table without rows gets no file: an attempt that failed early has no schema to speak of.

    Args:
        folder: The archive's.
        name: Of the new folder, from the archive's.
        tables: From `keyed_tables`.

    Returns:
        SHA-256 of each table's file.

    Raises:
        ArchiveError: A table is none of `TABLES`; nothing was written.
    """
    if unknown := sorted(set(tables) - set(TABLES)):
        raise ArchiveError(
            f"{folder.path / name}: no archive has a table {unknown[0]!r}, expected {', '.join(TABLES)}"
        )
    unfinished = name + UNFINISHED
    folder.make_empty_folder(unfinished)
    digests = {}
    for table_name, table in tables.items():
        compression = COMPRESSION if table.num_rows > _FEW_ROWS else _COMPRESSION_OF_FEW
        with new_parquet(folder, f"{unfinished}/{table_name}.parquet", table.schema, compression) as writer:
            writer.write_table(table)
        digests[table_name] = writer.digest
    folder.sync(unfinished)
    folder.rename(unfinished, name)
    return digests


class ParquetFileWriter:
    """A Parquet file that is being written; its `digest` is known once it is closed."""

    digest = ""
    """SHA-256, hexadecimal."""

    def __init__(self, writer: "pq.ParquetWriter") -> None:
        self._writer = writer

    def write_table(self, table: pa.Table) -> None:
        """Add rows."""
        self._writer.write_table(table)


@contextmanager
def new_parquet(
    folder: Folder, name: str, schema: pa.Schema, compression: str = COMPRESSION
) -> Iterator[ParquetFileWriter]:
    """Write a file of data in the block, which may not be there yet; it is on disk behind the block."""
    import pyarrow.parquet as pq

    with folder.new_file(name) as file:
        hashed = _Hashed(file)
        buffered = pa.BufferedOutputStream(pa.PythonFile(hashed, "w"), _BUFFER_BYTES)
        with buffered, pq.ParquetWriter(buffered, schema, compression=compression) as writer:
            yield (written := ParquetFileWriter(writer))
        file.flush()
    folder.sync(name)
    written.digest = hashed.digest.hexdigest()


class _Hashed:
    """A file that is written from its beginning to its end, and the hash of what was written."""

    closed = False

    def __init__(self, file: BinaryIO) -> None:
        self.digest = hashlib.sha256()
        self._file = file

    def write(self, data: Buffer) -> int:
        self.digest.update(data)
        return self._file.write(data)

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        self._file.flush()


@contextmanager
def opened_parquet(folder: Folder, name: str) -> Iterator["pq.ParquetFile"]:
    """Read a Parquet file in the block.

    Arrow's threads read it without Python: one that still has a file of Python's while the interpreter ends
    aborts the process, or never lets it end (apache/arrow issues 34314 and 50482).
    """
    import pyarrow.parquet as pq

    with (
        folder.read_file(name) as file,
        pa.OSFile(f"/proc/self/fd/{file.fileno()}") as without_python,
        pq.ParquetFile(without_python) as parquet,
    ):
        yield parquet


def check_file(folder: Folder, name: str, digest: str | None = None) -> int:
    """Read a file of data to its end, to see whether that is possible; returns how many rows it has.

    `digest`: SHA-256 that its bytes are to have, if that was kept.

    Raises:
        ArchiveError: It is not possible, or it has changed since it was written.
    """
    path = folder.path / name
    with disk.reported(path, "cannot be read"):
        try:
            rows = 0
            with opened_parquet(folder, name) as parquet:
                for batch in parquet.iter_batches():
                    rows += batch.num_rows
        except (pa.ArrowException, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            reason = " ".join(str(error).split()).rstrip(":.")
            raise ArchiveError(
                f"{path}: is damaged: {reason}. Nothing was altered; restore the file from a copy."
            ) from error
    check_digest(folder, name, digest)
    return rows


def check_digest(folder: Folder, name: str, digest: str | None) -> None:
    """See whether a file is as it was written, as far as its SHA-256 was kept.

    Raises:
        ArchiveError: It has changed since.
    """
    if digest is not None and folder.digest(name) != digest:
        raise has_changed(folder.path / name, "the journal")
