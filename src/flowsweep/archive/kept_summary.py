"""The summary of a part, kept beside its journal: one row per trial, made once.

It is kept of parts that are over, in which nothing changes any more, and at the end of `run`: whoever sums up
an archive need not sum up that part again, unless something was recorded since. As long as the part has its
samples the file is no record: one that is missing, of another analysis or does not fit costs time, since the
part is summed up anew. Once samples are retired it is what is left of them, and
a record of the journal names it. Its name ends in the first 128 bits of its SHA-256.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from flowsweep.archive import disk
from flowsweep.archive.data_files import new_parquet, opened_parquet
from flowsweep.archive.digests import IN_NAME, has_changed, in_name
from flowsweep.archive.entries import RetiredEntry, kept_summary_file
from flowsweep.archive.folder import UNFINISHED, Folder
from flowsweep.archive.follow import JournalFollower
from flowsweep.archive.journal import JOURNAL_FILE
from flowsweep.errors import ArchiveError

if TYPE_CHECKING:
    import pyarrow.parquet as pq

RECORDED_SCHEMA = pa.schema(
    {"point": pa.string(), "point_words": pa.string(), "recorded_status": pa.string(), "began_us": pa.int64()}
)
"""Columns beside those of the summary, from the journal: trial_id of the first repeat and the point in words
(null of a step of a search), how the attempt ended, and when it began, since 1970 UTC. All are null of
imported trials."""

_NAME = re.compile(rf"summary\.({IN_NAME})\.parquet")
_UNFINISHED_FILE = f"summary{UNFINISHED}"
_BYTES_MAX = 1 << 30
_RECORD_BYTES_LEAST = 100
"""Of a trial in the journal, which has several times as many."""
_ROW_BYTES_MAX = 16 << 10
"""Of a row before it is compressed, on average, beside what a file of few rows has: it is about 1 KiB."""
_FEW_ROWS_BYTES_MAX = 64 << 20
_ABOUT = (b"flowsweep_version", b"analysis", b"journal_bytes")


@dataclass(frozen=True, slots=True)
class KeptSummary:
    """What the file says of itself."""

    file: str
    """From the part's folder."""
    flowsweep_version: str
    """Which summed the trials up."""
    analysis: str
    """SHA-256 of what summed them up (`flowsweep.prepared.statement.analysis_id`)."""
    journal_bytes: int
    """Where the last record of the part's journal ended."""
    trials: int


def about(flowsweep_version: str, analysis: str, journal_bytes: int) -> dict[bytes, bytes]:
    """What a table's schema has to say for `keep_summary`."""
    return dict(
        zip(_ABOUT, (one.encode() for one in (flowsweep_version, analysis, str(journal_bytes))), strict=True)
    )


def keep_summary(part: Folder, table: pa.Table) -> KeptSummary:
    """Write the file, on disk on return; files of other analyses go.

    Args:
        part: Folder of the part.
        table: The summary's rows, with RECORDED_SCHEMA, and `about` in its schema.

    Raises:
        ArchiveError: The disk does not take it, or the table does not say what it is.
    """
    with disk.reported(part.path, "its summary cannot be kept"):
        part.remove(_UNFINISHED_FILE)
        with new_parquet(part, _UNFINISHED_FILE, table.schema) as writer:
            writer.write_table(table)
        file = kept_summary_file(in_name(writer.digest))
        if part.has_file(file) and is_as_written(part, file):
            part.remove(_UNFINISHED_FILE)
        else:
            part.remove(file)
            part.rename(_UNFINISHED_FILE, file)
        for name in part.all_names():
            if _NAME.fullmatch(name) and name != file:
                part.remove(name)
        part.sync()
        kept = _read_about(part, file)
    if kept is None:
        raise ArchiveError(f"{part.path / file}: does not say what summed it up")
    return kept


def kept_summaries(part: Folder) -> Iterator[KeptSummary]:
    """The files of a part, as far as they can be read: one, unless a process was killed between two."""
    for name in part.all_names():
        if _NAME.fullmatch(name) and (kept := _read_about(part, name)) is not None:
            yield kept


def damaged_summaries(part: Folder) -> Iterator[str]:
    """Names of the files of a part that have changed since they were written.

    Raises:
        ArchiveError: One cannot be read.
    """
    for name in part.all_names():
        if _NAME.fullmatch(name) and not _has_its_digest(name, _bytes(part, name)):
            yield name


def is_as_written(part: Folder, file: str) -> bool:
    """Whether a file can be read and has the SHA-256 that its name ends in; all of it is read."""
    try:
        return _has_its_digest(file, _bytes(part, file))
    except ArchiveError:
        return False


def kept_rows(part: Folder, file: str, columns: list[str] | None = None) -> pa.Table:
    """Read the file: all of its columns, or those of some that it has.

    Raises:
        ArchiveError: It is missing, has changed since it was written, or has more than a row for each trial.
    """
    import pyarrow.parquet as pq

    data = _bytes(part, file)
    if not _has_its_digest(file, data):
        raise has_changed(part.path / file, "its name")
    try:
        with pq.ParquetFile(pa.BufferReader(data)) as parquet:
            _refuse_too_many(part, file, parquet.metadata)
            there = parquet.schema_arrow.names
            wanted = None if columns is None else [name for name in columns if name in there]
            # Not by threads of Arrow, which would have bytes of Python's: see `opened_parquet`.
            return parquet.read(wanted, use_threads=False)
    except (pa.ArrowException, KeyError) as error:
        raise ArchiveError(f"{part.path / file}: cannot be read: {' '.join(str(error).split())}") from error


def summary_alone(part: Folder, analysis: str) -> KeptSummary | None:
    """The file of a part, if it can stand for the part without a look at the rest.

    Args:
        part: Folder of the part.
        analysis: Which one is wanted as long as samples are there; without them any has to do.

    Raises:
        ArchiveError: The journal cannot be read.
    """
    journal_bytes = part.file_bytes(JOURNAL_FILE)
    for kept in kept_summaries(part):
        if kept.journal_bytes > journal_bytes:
            continue
        since = [one.entry for one in JournalFollower(part, kept.journal_bytes).records()]
        named = any(isinstance(entry, RetiredEntry) and entry.file == kept.file for entry in since)
        if named or (not since and kept.analysis == analysis):
            return kept
    return None


def _refuse_too_many(part: Folder, file: str, about: "pq.FileMetaData") -> None:
    """Refuse rows that no journal of the part's size can have trials of: some MB decode to any number."""
    groups = [about.row_group(number) for number in range(about.num_row_groups)]
    rows, size = (sum(getattr(one, name) for one in groups) for name in ("num_rows", "total_byte_size"))
    most = part.file_bytes(JOURNAL_FILE) // _RECORD_BYTES_LEAST
    if max(rows, about.num_rows) > most:
        raise ArchiveError(
            f"{part.path / file}: has {rows} rows, and the journal beside it can have {most} trials at most"
        )
    if size > _FEW_ROWS_BYTES_MAX + rows * _ROW_BYTES_MAX:
        raise ArchiveError(f"{part.path / file}: has {size} bytes in {rows} rows, which no summary has")


def _bytes(part: Folder, file: str) -> bytes:
    with disk.reported(part.path / file, "cannot be read"):
        return part.read(file, at_most=_BYTES_MAX)


def _has_its_digest(file: str, data: bytes) -> bool:
    found = _NAME.fullmatch(file)
    return found is not None and hashlib.sha256(data).hexdigest().startswith(found[1])


def _read_about(part: Folder, file: str) -> KeptSummary | None:
    try:
        with opened_parquet(part, file) as parquet:
            said = parquet.schema_arrow.metadata or {}
            version, analysis, journal_bytes = (said[key].decode() for key in _ABOUT)
            return KeptSummary(file, version, analysis, int(journal_bytes), parquet.metadata.num_rows)
    except (pa.ArrowException, OSError, KeyError, ValueError):
        return None
