"""Looking whether an archive is as it was written: its journal, and every byte of its data."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from flowsweep.archive.data_files import check_file
from flowsweep.archive.entries import file_of
from flowsweep.archive.folder import ASIDE_FOLDER, Folder
from flowsweep.archive.kept_summary import damaged_summaries, kept_rows
from flowsweep.archive.monitor_files import problems_of_monitors
from flowsweep.archive.notes import damaged_notes
from flowsweep.archive.reader import read_archive
from flowsweep.archive.state import State
from flowsweep.errors import ArchiveError


@dataclass(frozen=True, slots=True)
class Verified:
    """What was found in an archive."""

    problems: tuple[str, ...]
    """What is damaged or lost, in sentences; empty if all is as it was written."""
    files: int
    """Files of data that were read to their end."""
    data_bytes: int
    """How long these are together."""
    without_digest: int
    """Those of them of which no SHA-256 was kept: versions before kept none."""
    retired: int
    """Trials whose samples were retired: of them there is their summary."""
    aside: tuple[str, ...]
    """Names of what was put aside when it was found, from the archive's folder."""


def verify_archive(folder: Path, progress: Callable[[int, int], None] = lambda done, of: None) -> Verified:
    """Read all of an archive and compare it with what its journal says. Nothing is changed.

    Args:
        folder: The archive's.
        progress: Is called after each file with how many bytes were read, and of how many, of all parts.

    Raises:
        ArchiveError: It is no archive, or cannot be read at all.
    """
    with read_archive(folder, missing_told=True) as archive:
        sizes = [_sizes(one.folder, one.state) for one in archive.parts]
        of, read = sum(sum(each.values()) for each in sizes), 0

        def file_read(size: int) -> None:
            nonlocal read
            read += size
            progress(read, of)

        found = [
            _verified(one.folder, one.state, each, file_read)
            for one, each in zip(archive.parts, sizes, strict=True)
        ]
        aside = tuple(f"{ASIDE_FOLDER}/{name}" for name in archive.opened.names(ASIDE_FOLDER))
        notes = damaged_notes(archive.opened)
    return Verified(
        archive.losses + tuple(problem for one in found for problem in one.problems) + notes,
        sum(one.files for one in found),
        sum(one.data_bytes for one in found),
        sum(one.without_digest for one in found),
        sum(one.retired for one in found),
        aside + tuple(name for one in found[1:] for name in one.aside),
    )


def _sizes(folder: Folder, state: State) -> dict[str, int]:
    """How many bytes each file of data has that is not missing."""
    named = (file for files in state.files.values() for file in files)
    return {file: folder.file_bytes(file) for file in named if folder.has_file(file)}


def _verified(
    folder: Folder, state: State, sizes: Mapping[str, int], file_read: Callable[[int], None]
) -> Verified:
    problems: list[str] = []
    digests = state.digests
    rows: dict[str, int] = {}
    for file, size in sizes.items():
        try:
            rows[file] = check_file(folder, file, digests.get(file))
        except ArchiveError as error:
            problems.append(str(error))
        file_read(size)
    problems += _miscounted(folder, state, rows)
    problems += _problems_of_summary(folder, state)
    problems += problems_of_monitors(folder)
    aside = tuple(f"{ASIDE_FOLDER}/{name}" for name in folder.names(ASIDE_FOLDER))
    return Verified(
        tuple(problems),
        len(sizes),
        sum(sizes.values()),
        len(sizes.keys() - digests.keys()),
        len(state.retired_at),
        aside,
    )


def _problems_of_summary(folder: Folder, state: State) -> list[str]:
    """Whether the kept summary is as it was written; where samples were retired, with their trials."""
    try:
        if state.retired is None:
            return [
                f"{folder.path / file}: is damaged: it has changed since it was written, and is not used. "
                "The samples of its trials are there, which are summed up again; the file may be removed"
                for file in damaged_summaries(folder)
            ]
        rows = kept_rows(folder, state.retired.file, ["trial_id"])["trial_id"].to_pylist()
    except ArchiveError as error:
        return [str(error)]
    where = folder.path / state.retired.file
    trials = state.retired_at.keys()
    if len(rows) != state.retired.trials:
        return [f"{where}: has {len(rows)} rows, and the journal says {state.retired.trials}"]
    if missing := sorted(trials - set(rows)):
        return [f"{where}: has no row of trial {missing[0]}, which the journal has"]
    return []


def _miscounted(folder: Folder, state: State, rows: Mapping[str, int]) -> list[str]:
    """Whether files that could be read have as many rows as the journal says."""
    expected = {
        f"{folder.path / file}": (rows[file], count)
        for entry in state.loose.values()
        for table, count in entry.rows.items()
        if (file := file_of(entry, table)) in rows
    }
    for table, files in state.merged.files.items() if state.merged and not state.orphans else ():
        merged = [entry for name, entry in state.entries.items() if name not in state.loose]
        if all(file in rows for file in files):
            count = sum(entry.rows.get(table, 0) for entry in merged)
            expected[f"{folder.path}: {table}"] = (sum(rows[file] for file in files), count)
    return [
        f"{where}: has {found} rows, and the journal says {count}"
        for where, (found, count) in expected.items()
        if found != count
    ]
