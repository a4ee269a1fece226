"""Parts of an archive that are over: their summaries are kept, and in time their samples are retired.

For the one process that writes the archive. Samples go in three steps, and a process may be killed between
any two: the summary is on disk; then the part's journal says that it is what is left; then folders of data
are removed, once nobody reads the archive. Everything is checked before the second step, and a part in which
anything is missing or has changed stays as it is.
"""

from collections.abc import Callable, Collection, Iterator
from datetime import datetime

import pyarrow as pa

from flowsweep.archive import disk
from flowsweep.archive.entries import BeginsEntry, RetiredEntry
from flowsweep.archive.folder import Folder
from flowsweep.archive.follow import JournalFollower
from flowsweep.archive.journal import JOURNAL_BYTES_MAX, JOURNAL_FILE, JournalFile, parse
from flowsweep.archive.kept_summary import (
    KeptSummary,
    is_as_written,
    keep_summary,
    kept_rows,
    summary_alone,
)
from flowsweep.archive.leftovers import data_folders, remove_stale
from flowsweep.archive.part_folders import opened_part, part_numbers
from flowsweep.archive.recovery import recover
from flowsweep.archive.state import State, state_of
from flowsweep.errors import ArchiveError


class PartsOver:
    """Those of one archive.

    Args:
        whole: The archive's folder.
        journal: Opens the journal of a part that is over, for appending.
    """

    def __init__(self, whole: Folder, journal: Callable[[int], JournalFile]) -> None:
        self.archive = whole.path
        self._whole = whole
        self._journal = journal
        self._over_at: dict[int, datetime] = {}
        self._summed: set[int] = set()
        """Parts of which a summary is known to be there."""
        self._bare: set[int] = set()
        """Parts without data."""
        self._left: set[int] = set()

    def not_summed(self, analysis: str, besides: Collection[int] = ()) -> int | None:
        """The first part that has data and no summary by an analysis, besides some.

        Raises:
            ArchiveError: Something cannot be read.
        """
        with disk.reported(self._whole.path, "cannot be read"):
            for number in self._with_data({*self._summed, *besides}):
                if self._whole_summary(number, analysis) is None:
                    return number
                self._summed.add(number)
        return None

    def over_before(self, moment: datetime, analysis: str) -> int | None:
        """The first part that was over before a moment, has data, and has a summary by an analysis.

        Raises:
            ArchiveError: Something cannot be read.
        """
        with disk.reported(self._whole.path, "cannot be read"):
            for number in self._with_data():
                if self._over(number) >= moment:
                    return None
                if self._whole_summary(number, analysis) is not None:
                    return number
                self._summed.discard(number)
        return None

    def leave(self, number: int) -> None:
        """Do not name a part, until `leave_none`."""
        self._left.add(number)

    def leave_none(self) -> None:
        """Name those again that were left alone."""
        self._left.clear()

    def keep_summary(self, number: int, table: pa.Table) -> None:
        """Keep the summary of a part, as `flowsweep.archive.kept_summary.keep_summary` does."""
        keep_summary(self._part(number), table)
        self._summed.add(number)

    def retire(self, number: int, analysis: str, at: datetime) -> bool:
        """Let the samples of a part go whose summary is kept.

        Args:
            number: Of the part.
            analysis: Which made the summary.
            at: Now.

        Returns:
            Whether its data are gone; not while somebody reads the archive: then asking again removes them.

        Raises:
            ArchiveError: The part is damaged, or has no summary that fits it; it is as before.
        """
        part = self._part(number)
        with disk.reported(part.path, "cannot be retired"):
            state = _checked_state(part)
            if state.retired is None:
                entry = _retired(part, state, summary_alone(part, analysis), at)
                journal = self._journal(number)
                try:
                    journal.append(entry.model_dump_json().encode())
                finally:
                    journal.close()
                state.apply(entry)
            gone = remove_stale(part, state, whole=self._whole)
        if gone:
            self._bare.add(number)
        return gone

    def data_bytes(self, number: int) -> int:
        """How large all data of a part are together."""
        part = self._part(number)
        with disk.reported(part.path, "cannot be read"):
            files = (f"{folder}/{name}" for folder in data_folders(part) for name in part.names(folder))
            return sum(map(part.file_bytes, files))

    def _part(self, number: int) -> Folder:
        return opened_part(self._whole, number)

    def _whole_summary(self, number: int, analysis: str) -> KeptSummary | None:
        """The summary of a part, if no byte of it has changed; else it is as if there were none."""
        part = self._part(number)
        kept = summary_alone(part, analysis)
        return kept if kept is not None and is_as_written(part, kept.file) else None

    def _with_data(self, known: Collection[int] = ()) -> Iterator[int]:
        """Parts that have data, but for those that are known, or left alone."""
        for number in part_numbers(self._whole)[:-1]:
            if number not in self._bare and number not in self._left and number not in known:
                if data_folders(self._part(number)):
                    yield number
                else:
                    self._bare.add(number)

    def _over(self, number: int) -> datetime:
        """When a part was over: the next one begins with that."""
        if number not in self._over_at:
            following = opened_part(self._whole, number + 1)
            first = next((one.entry for one in JournalFollower(following).records()), None)
            if not isinstance(first, BeginsEntry):
                raise ArchiveError(f"{following.path / JOURNAL_FILE}: does not say when it was begun")
            self._over_at[number] = first.at
        return self._over_at[number]


def _checked_state(part: Folder) -> State:
    """What a part's journal says, if nothing of the part is missing or has changed.

    Raises:
        ArchiveError: Something is.
    """
    content = parse(part.read(JOURNAL_FILE, at_most=JOURNAL_BYTES_MAX), str(part.path / JOURNAL_FILE))
    state = state_of(content.payloads, part.path / JOURNAL_FILE, brief=True)
    losses = recover(part, state, content, roll_forward=False).losses
    if losses:
        raise ArchiveError(f"{part.path}: its samples are not retired: {losses[0]}")
    if state.continued_in is None:
        raise ArchiveError(f"{part.path}: its journal does not say that it is over")
    return state


def _retired(part: Folder, state: State, kept: KeptSummary | None, at: datetime) -> RetiredEntry:
    trials = state.done.keys() | state.imported.keys()
    if kept is None:
        raise ArchiveError(f"{part.path}: its samples are not retired: its summary is not kept")
    rows = kept_rows(part, kept.file, ["trial_id"])["trial_id"].to_pylist()
    if len(rows) != len(trials) or set(rows) != trials:
        raise ArchiveError(
            f"{part.path}: its samples are not retired: {kept.file} has {len(rows)} trials, which are not "
            f"the {len(trials)} of its journal"
        )
    return RetiredEntry(at=at, file=kept.file, flowsweep_version=kept.flowsweep_version, trials=len(rows))
