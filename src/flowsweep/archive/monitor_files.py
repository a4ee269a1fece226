"""What monitors told, in files of an archive's folder `monitors` that are written once.

A file's name has the numbers of the first and last part in it and the beginning of its SHA-256:
`0000001-0000060.0f3a….parquet`. So these files need no record in the journal, whose writer waits for nothing
here: a part is there as a whole or not at all, a file that covers others takes their place while they are
still there, and what is missing or has changed is seen from the names alone.
"""

import os
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from threading import Lock

import pyarrow as pa

from flowsweep.archive import disk
from flowsweep.archive.data_files import new_parquet, opened_parquet
from flowsweep.archive.digests import IN_NAME, has_changed, in_name
from flowsweep.archive.entries import MONITORS_FOLDER
from flowsweep.archive.folder import UNFINISHED, Folder
from flowsweep.archive.readers import wait_for_readers
from flowsweep.defaults import MONITORS_BYTES_MAX
from flowsweep.errors import ArchiveError, ArchiveFullError
from flowsweep.monitors.reading import MONITORS_SCHEMA, Poll, monitors_table

_NAME = re.compile(rf"(\d{{7,9}})-(\d{{7,9}})\.({IN_NAME})\.parquet")
_MERGED_BYTES_MAX = 32 << 20
"""A file that is as large as this is merged with no others."""
_FILE_BYTES_MAX = 256 << 20
_FILE_ROWS_MAX = 64_000_000
"""Half a byte each of a file that is merged with no others; they have some."""


@dataclass(frozen=True, slots=True, order=True)
class MonitorFile:
    """A file of what was told between two calls of `keep`, or of several such parts that were merged."""

    first: int
    """Number of the first part in it."""
    last: int
    digest: str
    """The beginning of its SHA-256, as its name has it."""

    @property
    def name(self) -> str:
        """From the archive's folder."""
        return f"{MONITORS_FOLDER}/{self.first:07}-{self.last:07}.{self.digest}.parquet"


class MonitorFiles:
    """Writes such files, for the one process that writes the archive; calls may come from several threads."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._lock = Lock()
        self._ready = False
        self._bytes = 0

    def keep(self, polls: Sequence[Poll]) -> None:
        """Keep polls as a part; on disk on return.

        Raises:
            ArchiveFullError: There are as many as are kept of monitors.
            ArchiveError: The disk does not take them.
        """
        with self._lock, disk.reported(self._folder.path / MONITORS_FOLDER, "cannot be written"):
            self._make_ready()
            if self._bytes >= MONITORS_BYTES_MAX:
                raise ArchiveFullError(
                    f"{self._folder.path / MONITORS_FOLDER}: has {MONITORS_BYTES_MAX >> 30} GiB, "
                    "which is all that is kept of monitors: nothing more is"
                )
            number = max((file.last for file in all_files(self._folder)), default=0) + 1
            file = _written(self._folder, number, number, monitors_table(polls))
            self._bytes += self._folder.file_bytes(file.name)

    def merge(self) -> None:
        """Put small files together, then remove them unless somebody reads them.

        Raises:
            ArchiveError: A file has changed since it was written: it stays, and those before and behind it
                are put together. Or the disk does not take another.
        """
        with self._lock, disk.reported(self._folder.path / MONITORS_FOLDER, "cannot be written"):
            if not self._folder.names(MONITORS_FOLDER):
                return
            self._make_ready()
            problems = [problem for run in self._small_runs() for problem in self._put_together(run)]
            self._remove_covered()
        if problems:
            raise problems[0]

    def _put_together(self, run: Sequence[MonitorFile]) -> list[ArchiveError]:
        """Returns why some files of a run stay as they are."""
        problems: list[ArchiveError] = []
        pieces: list[list[tuple[MonitorFile, pa.Table]]] = [[]]
        for file in run:
            try:
                pieces[-1].append((file, _read(self._folder, file, None)))
            except ArchiveError as error:
                problems.append(error)
                pieces.append([])
        for piece in pieces:
            if len(piece) > 1:
                (first, _), (last, _) = piece[0], piece[-1]
                table = pa.concat_tables([table for _, table in piece])
                _written(self._folder, first.first, last.last, table)
        return problems

    def _make_ready(self) -> None:
        """Remove what a killed process left half written."""
        if self._ready:
            return
        self._folder.make_folder(MONITORS_FOLDER)
        for name in self._folder.names(MONITORS_FOLDER):
            if name.endswith(UNFINISHED):
                self._folder.remove(f"{MONITORS_FOLDER}/{name}")
        self._bytes = monitors_bytes(self._folder)
        self._ready = True

    def _small_runs(self) -> Iterator[list[MonitorFile]]:
        """Neighbours that are merged: together no larger than one file should be."""
        run: list[MonitorFile] = []
        size = 0
        for file in files_that_count(self._folder):
            own = self._folder.file_bytes(file.name)
            if run and (size + own > _MERGED_BYTES_MAX or file.first != run[-1].last + 1):
                if len(run) > 1:
                    yield run
                run, size = [], 0
            run.append(file)
            size += own
        if len(run) > 1:
            yield run

    def _remove_covered(self) -> None:
        counting = set(files_that_count(self._folder))
        covered = [file for file in all_files(self._folder) if file not in counting]
        if not covered or (held := wait_for_readers(self._folder)) is None:
            return
        try:
            for file in covered:
                self._folder.remove(file.name)
            self._folder.sync(MONITORS_FOLDER)
        finally:
            os.close(held)
        self._bytes = monitors_bytes(self._folder)


def _written(folder: Folder, first: int, last: int, table: pa.Table) -> MonitorFile:
    unfinished = f"{MONITORS_FOLDER}/{first:07}-{last:07}{UNFINISHED}"
    folder.remove(unfinished)
    with new_parquet(folder, unfinished, table.schema) as writer:
        writer.write_table(table)
    file = MonitorFile(first, last, in_name(writer.digest))
    folder.rename(unfinished, file.name)
    folder.sync(MONITORS_FOLDER)
    return file


def write_monitors(folder: Folder, table: pa.Table) -> None:
    """Write the table `monitors` of an archive that has none.

    Raises:
        ArchiveError: The disk does not take it.
    """
    with disk.reported(folder.path / MONITORS_FOLDER, "cannot be written"):
        folder.make_folder(MONITORS_FOLDER)
        _written(folder, 1, 1, table)


def all_files(folder: Folder) -> list[MonitorFile]:
    """All files, in the order of their parts."""
    found = (_NAME.fullmatch(name) for name in folder.names(MONITORS_FOLDER))
    return sorted(MonitorFile(int(name[1]), int(name[2]), name[3]) for name in found if name is not None)


def has_files_only(folder: Folder) -> bool:
    """Whether nothing but files of monitors is in their folder, if it is there."""
    names = folder.names(MONITORS_FOLDER)
    return all(_NAME.fullmatch(name) or name.endswith(UNFINISHED) for name in names)


def files_that_count(folder: Folder) -> list[MonitorFile]:
    """Files without those that others cover, in the order of their parts."""
    kept: list[MonitorFile] = []
    for file in sorted(all_files(folder), key=lambda file: (file.first, -file.last)):
        if not kept or file.last > kept[-1].last:
            kept.append(file)
    return kept


def monitors_bytes(folder: Folder) -> int:
    """How large all files are together."""
    return sum(folder.file_bytes(file.name) for file in all_files(folder))


def read_monitors(
    folder: Folder, counters: Collection[str] | None = None, span_us: tuple[int, int] | None = None
) -> pa.Table:
    """The table `monitors` of an archive, in the order in which it was told; empty where there is none.

    Args:
        folder: The archive's.
        counters: Which rows are wanted, by their `counter`; all, if absent.
        span_us: From when to when, since 1970 UTC: files without rows of that time are not read. All, if
            absent.

    Raises:
        ArchiveError: A file has changed since it was written, or cannot be read; says which.
    """
    with disk.reported(folder.path / MONITORS_FOLDER, "cannot be read"):
        files = [one for one in files_that_count(folder) if span_us is None or _is_of(folder, one, span_us)]
        tables = [_read(folder, file, counters) for file in files]
    table = pa.concat_tables(tables) if tables else MONITORS_SCHEMA.empty_table()
    return table if span_us is None else table.filter(_within(table, span_us))


def problems_of_monitors(folder: Folder) -> list[str]:
    """What is damaged or missing, in sentences."""
    problems = []
    expected = 1
    for file in files_that_count(folder):
        if file.first > expected:
            where = folder.path / MONITORS_FOLDER
            problems.append(f"{where}: parts {expected} to {file.first - 1} are missing")
        expected = file.last + 1
        try:
            _read(folder, file, None)
        except ArchiveError as error:
            problems.append(str(error))
    return problems


def _within(table: pa.Table, span_us: tuple[int, int]) -> pa.ChunkedArray:
    import pyarrow.compute as pc

    first_us, last_us = span_us
    return pc.and_(pc.greater_equal(table["at_us"], first_us), pc.less_equal(table["at_us"], last_us))


def _is_of(folder: Folder, file: MonitorFile, span_us: tuple[int, int]) -> bool:
    """Whether a file may have rows of a time, by what it says of itself; one that says nothing may."""
    try:
        with opened_parquet(folder, file.name) as parquet:
            about = parquet.metadata
        column = about.schema.names.index("at_us")
        groups = [about.row_group(number).column(column) for number in range(about.num_row_groups)]
    except (pa.ArrowException, ValueError):
        return True  # whoever reads it says what is wrong
    if not all(group.is_stats_set and group.statistics.has_min_max for group in groups):
        return True
    first_us, last_us = span_us
    return any(group.statistics.min <= last_us and group.statistics.max >= first_us for group in groups)


def _read(folder: Folder, file: MonitorFile, counters: Collection[str] | None) -> pa.Table:
    import pyarrow.compute as pc

    path = folder.path / file.name
    if folder.file_bytes(file.name) > _FILE_BYTES_MAX:
        raise ArchiveError(f"{path}: has more than {_FILE_BYTES_MAX} bytes, which none should have")
    if not folder.digest(file.name).startswith(file.digest):
        raise has_changed(path, "its name")
    try:
        with opened_parquet(folder, file.name) as parquet:
            if parquet.metadata.num_rows > _FILE_ROWS_MAX:
                raise ArchiveError(f"{path}: has more than {_FILE_ROWS_MAX} rows, which none should have")
            names = MONITORS_SCHEMA.names
            table = parquet.read(columns=names).select(names).cast(MONITORS_SCHEMA)
    except (pa.ArrowException, KeyError, ValueError) as error:
        raise ArchiveError(f"{path}: cannot be read: {' '.join(str(error).split())}") from error
    if counters is None:
        return table
    return table.filter(pc.is_in(table["counter"], pa.array(sorted(counters))))
