"""Reading an archive, also while a campaign is still running."""

import itertools
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from flowsweep.archive import disk
from flowsweep.archive.campaign import Campaign, open_folder, read_campaign
from flowsweep.archive.data_files import check_digest, check_file
from flowsweep.archive.file_paths import refuse_unreadable
from flowsweep.archive.folder import Folder
from flowsweep.archive.format_2 import FORMAT_2
from flowsweep.archive.journal import JOURNAL_BYTES_MAX, JOURNAL_FILE, has_writer, parse
from flowsweep.archive.leftovers import data_folders, not_understood
from flowsweep.archive.monitor_files import read_monitors
from flowsweep.archive.part_folders import missing_parts, opened_part, part_numbers
from flowsweep.archive.parts import WholeState
from flowsweep.archive.readers import ReadersLock
from flowsweep.archive.recovery import missing_files, recover
from flowsweep.archive.state import State, state_of
from flowsweep.archive.trials import trials_table
from flowsweep.errors import ArchiveError
from flowsweep.run.outcome import TrialRecord
from flowsweep.schedule import planned_links

if TYPE_CHECKING:
    import pyarrow as pa

    from flowsweep.archive.backends import Backend
    from flowsweep.archive.tables import Tables

CHECKED_BYTES_MAX = 256 << 20
"""Of an archive whose files are compared with their SHA-256 whenever it is read: it takes 0.2 s at most."""
_ONE_THREAD_BYTES_MAX = 4 << 20
"""Of data that one thread reads sooner than several agree on who does."""
_TRIES = 25
_TRIES_BESIDE_A_WRITER = 500


def read_archive(folder: Path, *, part: int | None = None, missing_told: bool = False) -> "Archive":
    """Read what an archive's journal says; the tables are read when asked for.

    Args:
        folder: The archive's.
        part: Read this part alone, by its number; all of them, if absent.
        missing_told: Each file that the journal names and that is missing is among `losses`, and no error.

    What is read is a snapshot: a process that writes the archive keeps the files that it names until the
    result is closed, or neither it nor tables of it are in use any more.

    Raises:
        ArchiveError: It is no archive, is damaged, or lacks a file that its journal names.
    """
    with disk.reported(folder, "cannot be read"):
        opened = open_folder(folder)
        campaign = read_campaign(opened)
        hold = ReadersLock(opened)
        parts: list[ReadPart] = []
        losses: tuple[str, ...] = ()
        if part is None:
            losses += missing_parts(opened)
        for number in part_numbers(opened) if part is None else (part,):
            own = opened_part(opened, number)
            state, journal_bytes, lost = _settled(own, missing_told=missing_told)
            parts.append(ReadPart(number, own, state, journal_bytes))
            losses += lost
    whole = (
        parts[0].state
        if [one.number for one in parts] == [1]
        else WholeState([(one.number, one.state) for one in parts])
    )
    return Archive(opened, campaign, whole, losses, hold, parts)


def _settled(folder: Folder, *, missing_told: bool) -> tuple[State, int, tuple[str, ...]]:
    """What the journal says, where the last record that it says it by ends, and what is lost.

    Read again for a moment while a record is being written: where a process has the archive open for writing,
    for some seconds, since a busy machine may hold it up between an attempt's data and its record.
    """
    path = folder.path / JOURNAL_FILE
    for tries in itertools.count(1):
        there = data_folders(
            folder
        )  # before the journal: what is there has its record already, or gets it now
        content = parse(folder.read(JOURNAL_FILE, at_most=JOURNAL_BYTES_MAX), str(path))
        state = state_of(content.payloads, path)
        if not (content.tail_bytes or not_understood(there, state) or missing_files(folder, state)):
            break
        if tries >= _TRIES and not (tries < _TRIES_BESIDE_A_WRITER and has_writer(folder)):
            break
        time.sleep(disk.PAUSE_S)
    losses = recover(
        folder,
        state,
        content,
        roll_forward=False,
        checked_bytes_max=CHECKED_BYTES_MAX,
        missing_told=missing_told,
    ).losses
    if unnamed := not_understood(there, state):
        losses += (f"{folder.path}: no record names {unnamed[0]}{_and_others(unnamed)}; it is left out",)
    return state, content.whole_bytes, losses


def _and_others(names: Sequence[str]) -> str:
    return f" and {len(names) - 1} more like it" if len(names) > 1 else ""


class ReadPart(NamedTuple):
    """A part of an archive, as it was when it was read."""

    number: int
    folder: Folder
    state: State
    """What its own journal's records add up to."""
    journal_bytes: int
    """Where the last of them ends in the journal."""


class Archive:
    """An archive as it was when it was read."""

    def __init__(
        self,
        opened: Folder,
        campaign: Campaign,
        state: State,
        losses: tuple[str, ...],
        hold: ReadersLock,
        parts: Sequence[ReadPart] = (),
    ) -> None:
        self.folder = opened.path
        self.campaign = campaign
        self.losses = losses
        """What is damaged and left out, in sentences."""
        self.opened = opened
        self.state = state
        """What the records of all parts' journals add up to."""
        self.parts = tuple(parts)
        """In their order."""
        self._hold = hold

    @property
    def host_facts(self) -> Mapping[str, Mapping[str, Any]]:
        """What the engines saw of their hosts, by host name."""
        return self.state.host_facts

    @property
    def records(self) -> Mapping[str, TrialRecord]:
        """The last finished attempt of each trial, by trial_id."""
        return self.state.records

    @property
    def has_writer(self) -> bool:
        """Whether a process has the archive open for writing; False where there are no locks to tell by."""
        return has_writer(self.opened)

    def of_parts(self, parts: Sequence[ReadPart]) -> "Archive":
        """The archive as if it had some of its parts only; trials keep their places in the order of all."""
        state = WholeState([(one.number, one.state) for one in parts])
        state.attempts = self.state.attempts
        return Archive(self.opened, self.campaign, state, self.losses, self._hold, parts)

    @property
    def sampled(self) -> "Archive":
        """The archive as if there were no trials whose samples were retired; itself, if there are none."""
        # One that kept itself would keep its files until somebody looks for cycles.
        return self._sampled if self.state.retired_at else self

    @cached_property
    def _sampled(self) -> "Archive":
        return self.of_parts([one for one in self.parts if one.state.retired is None])

    def asked(self) -> "pa.Table":
        """All trials: the table `trials` of `tables`, with those whose samples were retired."""
        return trials_table(
            self.state.records.values(),
            self.state.imported.values(),
            attempts=self.state.attempts,
            links=planned_links(self.campaign.plan),
        )

    @cached_property
    def data_bytes(self) -> int:
        """Size of all files of data together.

        Raises:
            ArchiveError: One cannot be looked at.
        """
        with disk.reported(self.folder, "cannot be read"):
            return sum(self.opened.file_bytes(file) for files in self.state.files.values() for file in files)

    @property
    def is_small(self) -> bool:
        """Whether one thread reads it sooner than several agree on who does."""
        return self.data_bytes <= _ONE_THREAD_BYTES_MAX

    def tables(self) -> "Tables":
        """The campaign as Ibis tables on DuckDB; only the last finished attempt of each trial is in them.

        Trials whose samples were retired are in none of them, as if they were not there: `asked` has them,
        and the summary.

        Raises:
            ArchiveError: A file of data cannot be read, or has changed since it was written; says which.
        """
        return self._tables

    @cached_property
    def _tables(self) -> "Tables":
        from flowsweep.archive.backends import backend

        if self.sampled is not self:
            return self.sampled.tables()
        return self.tables_in(backend(one_thread=self.is_small))

    def tables_in(self, backend: "Backend") -> "Tables":
        """The same in another backend.

        Raises:
            ArchiveError: A file of data cannot be read, or has changed since it was written; says which.
        """
        from flowsweep.archive.tables import tables_of_files

        if self.sampled is not self:
            return self.sampled.tables_in(backend)
        self.check_small_files()
        backend.hold(self._hold)
        with self.damage_named():
            return tables_of_files(
                self.state.records.values(),
                imported=self.state.imported.values(),
                attempts=self.state.attempts,
                superseded=self.state.left_out,
                files={
                    table: [str(self.folder / file) for file in files]
                    for table, files in self.state.files.items()
                },
                links=planned_links(self.campaign.plan),
                backend=backend,
                former=self.campaign.format == FORMAT_2,
            )

    def monitors(self, counters: Collection[str] | None = None) -> "pa.Table":
        """What monitors told, as PyArrow has it: of some counters, or all; empty where there were none.

        Raises:
            ArchiveError: A file of it cannot be read, or has changed since it was written; says which.
        """
        return read_monitors(self.opened, counters)

    @contextmanager
    def damage_named(self) -> Iterator[None]:
        """Say which file is at fault if a query in the block fails: much of one is only read then.

        Raises:
            ArchiveError: In place of DuckDB's error.
        """
        import duckdb

        try:
            yield
        except duckdb.Error as error:
            for file in itertools.chain(*self.state.files.values()):
                check_file(self.opened, file, self.state.digests.get(file))
            raise ArchiveError(f"{self.folder}: its data cannot be read: {error}") from error

    def close(self) -> None:
        """Let a process that writes the archive remove files that were merged since."""
        self._hold.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def check_small_files(self) -> None:
        """Compare files with their SHA-256, unless they are so large that only `verify` does.

        Raises:
            ArchiveError: One has changed since it was written, and which; or the path is not UTF-8.
        """
        digests = self.state.digests
        refuse_unreadable(self.folder)
        with disk.reported(self.folder, "cannot be read"):
            if sum(map(self.opened.file_bytes, digests)) <= CHECKED_BYTES_MAX:
                for file, digest in digests.items():
                    check_digest(self.opened, file, digest)
