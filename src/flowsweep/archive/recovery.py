"""What can be known of data whose record the journal has lost.

Merging moves all data into new files, which one record names. Where that record is lost, the files themselves
say whose rows they hold: a generation that has every row of every attempt whose own files are gone is what
the record named. Rows of attempts that the journal does not know any more are left out.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import pyarrow as pa

from flowsweep.archive.data_files import opened_parquet
from flowsweep.archive.entries import (
    MERGED_FOLDER,
    TABLES,
    CompactedEntry,
    ContinuedEntry,
    Data,
    HostsEntry,
    Key,
    MissedEntry,
    RetiredEntry,
    file_of,
    generation_folder,
    is_key,
    merged_table,
)
from flowsweep.archive.folder import Folder
from flowsweep.archive.follow import JournalFollower
from flowsweep.archive.journal import JOURNAL_FILE, Content
from flowsweep.archive.kept_summary import KeptSummary, kept_rows, kept_summaries
from flowsweep.archive.losses import lost_of_journal
from flowsweep.archive.state import State
from flowsweep.defaults import SECOND_NS
from flowsweep.errors import ArchiveError
from flowsweep.wording import counted

_KEY_COLUMNS = ("trial_id", "attempt")
_GENERATION = re.compile("[1-9][0-9]{0,8}")
_GENERATIONS_TRIED = 8
_OF_NO_TRIAL = (HostsEntry, MissedEntry, CompactedEntry, ContinuedEntry, RetiredEntry)
"""Records after which rows of a summary are as they were."""

RowCounts = Mapping[str, Counter[Key]]
"""Rows of each attempt, by table."""


@dataclass(frozen=True, slots=True)
class Recovery:
    """What was lost, and what was found instead."""

    losses: tuple[str, ...]
    """Sentences."""
    adopted: CompactedEntry | None
    """What takes the place of a record that the journal lacks, where all data lie in it.

    The state has it already.
    """
    dropped: tuple[str, ...] = ()
    """Folders of attempts whose data have changed; the state has them no more."""


def recover(
    folder: Folder,
    state: State,
    content: Content,
    *,
    roll_forward: bool,
    checked_bytes_max: float = math.inf,
    missing_told: bool = False,
) -> Recovery:
    """Complete the state of a campaign by what its files say, where the journal has lost something.

    Args:
        folder: The archive's.
        state: Of the journal's whole records; what is found is added.
        content: Of the journal.
        roll_forward: For a process that goes on with the archive: look for merged files that no record names
            although nothing seems to be lost, which one leaves that is killed just before it writes the
            record. A summary that was kept does not take the place of data then, unless the part is over.
        checked_bytes_max: Files that are not merged yet are compared with their hash if all data together are
            no longer than this.
        missing_told: Each missing file is a loss, and no error.

    Raises:
        ArchiveError: A file of data is missing, and there is no summary that was kept; or it is no file of
            the archive's own.
    """
    is_over = state.continued_in is not None
    losses = _losses(folder, content, is_over=is_over)
    missing = missing_files(folder, state)
    found = _unnamed_generation(folder, state, missing) if missing or roll_forward else None
    if found is not None:
        merged, held = found
        state.take_merged(merged, holding=held)
        if missing:
            where = generation_folder(merged.generation)
            losses += (
                f"{folder.path}: the record of what lies in {where} is lost; the files say it themselves",
            )
        missing = missing_files(folder, state)
    elif content.damaged and state.merged is not None and not missing:
        state.leave_out(_orphans(_rows_of(folder, state.merged.files), state.keys))
    may_stand = is_over or not roll_forward
    if missing and may_stand and (retired := _unnamed_summary(folder, state)) is not None:
        state.apply(retired)
        where = f"{folder.path}: {missing[0]}, which its journal names, is missing"
        losses += (f"{where}; of its trials there is the summary that was kept ({retired.file})",)
        missing = []
    losses += _lost_files(folder, missing, told=missing_told)
    if state.orphans:
        losses += (
            f"{folder.path}: rows of {counted(len(state.orphans), 'attempt')} without a record are left out",
        )
    whole = found is not None and not state.loose
    dropped = _changed(folder, state, set(missing), checked_bytes_max)
    for name in dropped:
        state.drop(name)
        losses += (f"{folder.path / name}: has changed since it was written, and does not count any more",)
    return Recovery(losses, state.merged if whole else None, dropped)


def _changed(
    folder: Folder, state: State, missing: Collection[str], checked_bytes_max: float
) -> tuple[str, ...]:
    """Folders of attempts that are not merged yet and have a file whose hash is another than it was."""
    digests = {file: digest for file, digest in state.digests.items() if file not in missing}
    if not state.loose or sum(map(folder.file_bytes, digests)) > checked_bytes_max:
        return ()
    return tuple(
        name
        for name, entry in state.loose.items()
        if any(
            folder.digest(file) != digests[file]
            for file in (file_of(entry, table) for table in entry.sha256)
            if file in digests
        )
    )


def _lost_files(folder: Folder, missing: Sequence[str], *, told: bool) -> tuple[str, ...]:
    """A loss for each missing file; an ArchiveError that names the first, unless they are to be told."""
    if missing and not told:
        raise ArchiveError(
            f"{folder.path}: not a whole archive: its journal names {missing[0]}, which is missing"
        )
    return tuple(
        f"{folder.path / file}: is missing, and the journal names it. Nothing was altered; restore the file "
        "from a copy."
        for file in missing
    )


def missing_files(folder: Folder, state: State) -> list[str]:
    """Files of data that count and are not there."""
    return [file for files in state.files.values() for file in files if not folder.has_file(file)]


def _losses(folder: Folder, content: Content, *, is_over: bool) -> tuple[str, ...]:
    """What the journal has lost.

    Behind the end of a part only that samples are retired is ever recorded: what is torn there was not
    acknowledged, and nothing was removed yet.
    """
    tail_bytes = 0 if is_over else content.tail_bytes
    return lost_of_journal(folder.path / JOURNAL_FILE, content.damaged, tail_bytes)


def _unnamed_summary(folder: Folder, state: State) -> RetiredEntry | None:
    """A record for the kept summary of a part whose data are missing, if it is of the same trials."""
    trials = state.done.keys() | state.imported.keys()
    for kept in kept_summaries(folder):
        try:
            if not _is_of_last_trials(folder, kept):
                continue
            found = kept_rows(folder, kept.file, ["trial_id"])["trial_id"].to_pylist()
        except ArchiveError:
            continue
        stamp = folder.stamp(kept.file)
        if stamp is not None and len(found) == len(trials) and set(found) == trials:
            at = datetime.fromtimestamp(stamp[1] / SECOND_NS, UTC)
            version = kept.flowsweep_version
            return RetiredEntry(at=at, file=kept.file, flowsweep_version=version, trials=len(found))
    return None


def _is_of_last_trials(folder: Folder, kept: KeptSummary) -> bool:
    """Whether no trial was recorded after those that a summary is of, such as another attempt of one."""
    since = JournalFollower(folder, kept.journal_bytes)
    return all(isinstance(one.entry, _OF_NO_TRIAL) for one in since.records()) and not since.not_understood


def _unnamed_generation(
    folder: Folder, state: State, missing: Collection[str]
) -> tuple[CompactedEntry, list[str]] | None:
    """The newest generation that is newer than the one that the journal names, and has all that is missing.

    Returns:
        It, and the folders under trials/ whose data it holds; None if there is none.
    """
    named = state.merged.generation if state.merged else 0
    there = (int(name) for name in folder.names(MERGED_FOLDER) if _GENERATION.fullmatch(name))
    for generation in sorted((number for number in there if number > named), reverse=True)[
        :_GENERATIONS_TRIED
    ]:
        files = _files_of(folder, generation)
        try:
            rows = {} if files is None else _rows_of(folder, files)
        except (ArchiveError, OSError):
            continue  # it was not written to its end
        held = {name for name, entry in state.entries.items() if files and _holds(rows, entry)}
        needed = {name for name, entry in state.entries.items() if name not in state.loose}
        needed |= {name for name in state.loose if any(file.startswith(f"{name}/") for file in missing)}
        others = {key for name, entry in state.entries.items() if name not in held for key in entry.keys}
        if files is None or not held or not needed <= held or others & _keys(rows):
            continue
        digests = {file: folder.digest(file) for names in files.values() for file in names}
        orphans = tuple(sorted(_orphans(rows, state.keys)))
        merged = CompactedEntry(generation=generation, **files, sha256=digests, orphans=orphans)
        return merged, [name for name in state.loose if name in held]
    return None


def _files_of(folder: Folder, generation: int) -> dict[str, tuple[str, ...]] | None:
    """Files of a generation by table; None if something else is among them, or nothing is there."""
    inside = generation_folder(generation)
    names = [f"{inside}/{name}" for name in folder.names(inside)]
    tables = [merged_table(name, generation) for name in names]
    if not names or None in tables:
        return None
    return {
        table: tuple(name for name, of in zip(names, tables, strict=True) if of == table) for table in TABLES
    }


def _rows_of(folder: Folder, files: Mapping[str, Iterable[str]]) -> RowCounts:
    """Count the rows of each attempt in files, by table."""
    counts: dict[str, Counter[Key]] = {}
    for table, names in files.items():
        counts[table] = Counter()
        for name in names:
            try:
                for key, rows in _keys_in(folder, name):
                    counts[table][key] += rows
            except (pa.ArrowException, KeyError, ValueError) as error:
                raise ArchiveError(
                    f"{folder.path / name}: is damaged: it does not say whose rows it has. "
                    "Nothing was altered; restore the file from a copy."
                ) from error
    return counts


def _keys_in(folder: Folder, name: str) -> Iterator[tuple[Key, int]]:
    """Attempts that a file has rows of, and how many; each as often as pieces of it have such rows."""
    with opened_parquet(folder, name) as parquet:
        for batch in parquet.iter_batches(columns=list(_KEY_COLUMNS)):
            keys = pa.Table.from_batches([batch]).group_by(_KEY_COLUMNS)
            for row in keys.aggregate([([], "count_all")]).to_pylist():
                if not is_key(row["trial_id"], row["attempt"]):
                    raise ValueError("no attempt is called that")
                yield (row["trial_id"], row["attempt"]), row["count_all"]


def _holds(rows: RowCounts, entry: Data) -> bool:
    """Whether all rows of an attempt are there, and no more."""
    return all(sum(rows[table][key] for key in entry.keys) == entry.rows.get(table, 0) for table in TABLES)


def _orphans(rows: RowCounts, known: set[Key]) -> set[Key]:
    """Attempts that have rows and are not known."""
    return _keys(rows) - known


def _keys(rows: RowCounts) -> set[Key]:
    return {key for counts in rows.values() for key in counts}
