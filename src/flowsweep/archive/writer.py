"""Writing an archive: the recorder of a running campaign."""

import json
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import pyarrow as pa

from flowsweep.archive import disk
from flowsweep.archive.campaign import (
    FORMAT,
    Campaign,
    open_folder,
    read_campaign,
    refuse_what_is_there,
    write_campaign,
)
from flowsweep.archive.compaction import ROWS_PER_FILE, merge
from flowsweep.archive.data_files import write_attempt
from flowsweep.archive.entries import (
    MERGED_FOLDER,
    OF_TESTS,
    TRIALS_FOLDER,
    ContinuedEntry,
    DroppedEntry,
    Entry,
    FinishedEntry,
    HostsEntry,
    ImportedEntry,
    MissedEntry,
    StartedEntry,
    folder_of,
)
from flowsweep.archive.file_paths import refuse_unreadable
from flowsweep.archive.folder import Folder, sync_above
from flowsweep.archive.imported import ImportedOutcome, ImportedTrial
from flowsweep.archive.journal import JOURNAL_FILE, JournalFile, lock_archive
from flowsweep.archive.leftovers import clear_up, remove_stale
from flowsweep.archive.monitor_files import MonitorFiles
from flowsweep.archive.parquet import keyed_tables, keyed_tables_of_imported
from flowsweep.archive.part_folders import opened_part, part_numbers
from flowsweep.archive.parts import ImportedBefore, begin_part, remove_unfinished_parts
from flowsweep.archive.recovery import Recovery, recover
from flowsweep.archive.retired_samples import PartsOver
from flowsweep.archive.state import State, state_of
from flowsweep.archive.totals import TotalsKeeper
from flowsweep.archive.unbegun import Made, take_back
from flowsweep.run.outcome import FinishedTrial, Missed, TrialOutcome
from flowsweep.version import __version__


def create_archive(
    folder: Path, *, plan_json: str, seed: int, created_at: datetime | None = None
) -> "ArchiveWriter":
    """Make an archive in a folder that is empty or not there yet, and open it for writing.

    Args:
        folder: Where; folders above it are made.
        plan_json: The checked plan, a JSON object.
        seed: Of the order of trials.
        created_at: Aware time; now, if absent.

    Raises:
        ArchiveError: Something is there already, the disk does not take it, or the path is not UTF-8.
    """
    campaign = Campaign(
        format=FORMAT,
        flowsweep_version=__version__,
        created_at=created_at or datetime.now(UTC),
        seed=seed,
        plan=json.loads(plan_json),
    )
    refuse_unreadable(folder)
    with disk.reported(folder, "no archive can be made there"):
        new: Made = "archive" if folder.exists() else "folder"
        folder.mkdir(parents=True, exist_ok=True)
        opened = Folder(folder)
        refuse_what_is_there(opened)
        journal = JournalFile(opened, new=True)
        try:
            # Again, under the lock: another process may have been faster.
            refuse_what_is_there(opened)
            write_campaign(opened, campaign)
            sync_above(folder)
            return ArchiveWriter(opened, campaign, journal, State(brief=True), Recovery((), None), new=new)
        except BaseException:
            journal.close()
            raise


def open_archive_for_writing(folder: Path) -> "ArchiveWriter":
    """Open an archive to go on with its campaign. Nothing in it changes before something is added.

    Raises:
        ArchiveError: It is no archive, cannot be read, or another process is writing it.
    """
    with disk.reported(folder, "cannot be gone on with"):
        opened = open_folder(folder)
        campaign = read_campaign(opened)
        number = part_numbers(opened)[-1]
        lock = None if number == 1 else lock_archive(opened)
        try:
            part = opened_part(opened, number)
            journal = JournalFile(part)
            try:
                content = journal.take_content()
                state = state_of(content.payloads, part.path / JOURNAL_FILE, brief=True)
                recovery = recover(part, state, content, roll_forward=True)
                return ArchiveWriter(opened, campaign, journal, state, recovery, part=(number, part, lock))
            except BaseException:
                journal.close()
                raise
        except BaseException:
            if lock is not None:
                os.close(lock)
            raise


class ArchiveWriter:
    """An archive open for writing, by this process only. Implements `flowsweep.run.outcome.Recorder`."""

    def __init__(
        self,
        opened: Folder,
        campaign: Campaign,
        journal: JournalFile,
        state: State,
        recovery: Recovery,
        *,
        part: tuple[int, Folder, int | None] | None = None,
        new: Made | None = None,
    ) -> None:
        self.folder = opened.path
        self.campaign = campaign
        self.losses = recovery.losses
        """What is damaged and lost, in sentences."""
        self.monitor_files = MonitorFiles(opened)
        """Keeps what monitors tell, beside the journal."""
        self.parts_over = PartsOver(opened, self._journal_of)
        """Keeps summaries of parts that are over, and retires their samples."""
        self._whole = opened
        self._imported_before = ImportedBefore(opened)
        self.part, self._opened, self._lock = part or (1, opened, None)
        """Number of the part that is written: the newest."""
        self._journal = journal
        self._first: JournalFile | None = None
        """Of the first part, which has the lock, once another is written."""
        self._totals = TotalsKeeper(opened)
        self._state = state
        self._recovery = recovery
        self._ready = False
        self._new = new

    @property
    def plan_json(self) -> str:
        """The plan the campaign was made with, as compact JSON."""
        return self.campaign.plan_json

    @property
    def seed(self) -> int:
        """Seed of the order of trials."""
        return self.campaign.seed

    @property
    def done(self) -> Mapping[str, FinishedTrial]:
        """The last finished attempt of each trial, by trial_id; of the newest part."""
        return self._state.done

    @property
    def finished_count(self) -> int:
        """How many trials are finished, of all parts."""
        return self._state.finished_count

    @property
    def settled_before(self) -> Mapping[str, int]:
        """By sweep, up to which number its times are settled by the parts before the newest."""
        return {} if self._state.before is None else self._state.before.settled

    @property
    def part_begun_at(self) -> datetime:
        """When the newest part was begun."""
        return self.campaign.created_at if self._state.before is None else self._state.before.at

    @property
    def imported(self) -> Mapping[str, ImportedTrial]:
        """Trials of other tools, by trial_id; of all parts."""
        return {**self._imported_before.part(self.part), **self._state.imported}

    @property
    def attempts(self) -> dict[str, int]:
        """How often each trial was started so far, by trial_id; of the newest part."""
        return dict(self._state.attempts)

    @property
    def attempts_with_data(self) -> int:
        """How many attempts of the newest part have data."""
        return len(self._state.entries)

    @property
    def loose_attempts(self) -> int:
        """How many of them have files of their own, which `compact` merges."""
        return len(self._state.loose)

    def data_bytes(self) -> int:
        """How large all data files of the newest part are together."""
        with disk.reported(self.folder, "cannot be read"):
            files = (file for files in self._state.files.values() for file in files)
            return sum(self._opened.file_bytes(file) for file in files)

    def make_ready(self) -> tuple[str, ...]:
        """Clear up what a killed process left half done; done before the first record, if nobody asks for it.

        Returns:
            What nobody understands and was put aside, in sentences.

        Raises:
            ArchiveError: The disk does not take it.
        """
        if self._ready:
            if self._state.continued_in is not None:
                self._move_on()
            return ()
        for entry in (
            self._recovery.adopted,
            *(DroppedEntry(folder=name) for name in self._recovery.dropped),
        ):
            if entry is not None:
                self._journal.append(entry.model_dump_json().encode())
        with disk.reported(self.folder, "cannot be gone on with"):
            for name in (TRIALS_FOLDER, MERGED_FOLDER):
                self._opened.make_folder(name)
            self._opened.sync()
            kept_aside = clear_up(self._opened, self._state)
            remove_unfinished_parts(self._whole)
        self._ready = True
        if self._state.continued_in is not None:
            self._move_on()  # its end was recorded, and then the process was killed
        return kept_aside

    def begin_part(self) -> None:
        """Go on in a new part: what is so far stays as it is, and is not kept in memory any more.

        Nothing may be under way: no trial of the times that are begun runs again.

        Raises:
            ArchiveError: The disk did not take it; the next record goes where it can.
        """
        before = self.part
        self.make_ready()
        if self.part == before:
            self._keep_in_part(ContinuedEntry(part=before + 1))
            self._move_on()

    def _move_on(self) -> None:
        """Make the part in which the newest one says that it goes on, and write there from now on."""
        number = self.part + 1
        with disk.reported(self.folder, "cannot be gone on with"):
            made = begin_part(self._whole, self.campaign, number, self._state, self._totals.totals())
        journal = JournalFile(made)
        content = journal.take_content()
        if self.part == 1:
            self._first = self._journal
        else:
            self._journal.close()
        self.part, self._opened, self._journal = number, made, journal
        self._state = state_of(content.payloads, made.path / JOURNAL_FILE, brief=True)
        with disk.reported(self.folder, "cannot be gone on with"):
            for name in (TRIALS_FOLDER, MERGED_FOLDER):
                made.make_folder(name)
            made.sync()

    def keep_totals(self) -> None:
        """Have what `flowsweep status` says kept from now on, in short; of a campaign with times."""
        with disk.reported(self.folder, "cannot be read"):
            self._totals.begin()

    def hosts(self, facts: dict[str, dict[str, Any]]) -> None:
        """Keep what the engines see of their hosts, by host name; the last word about a host counts."""
        self._keep(HostsEntry(facts=facts))

    def started(self, trial_id: str, attempt: int, at: datetime) -> None:
        """Keep that an attempt begins. On disk on return."""
        self._keep(StartedEntry(trial_id=trial_id, attempt=attempt, at=at))

    def finished(self, outcome: TrialOutcome) -> None:
        """Keep a finished attempt: its data first, then that it is there. On disk on return.

        Raises:
            ArchiveError: The disk did not take it.
        """
        record = outcome.record
        folder = folder_of(record.trial_id, record.attempt)
        self._keep(
            FinishedEntry(
                record=record,
                sample_rows=outcome.samples.num_rows,
                flow_rows=outcome.flows.num_rows,
                cpu_rows=outcome.cpu.num_rows,
                counter_rows=outcome.counters.num_rows,
                link_rows=outcome.links.num_rows,
                rows_of_tests={name: table.num_rows for name, table in outcome.of_tests.items()},
                sha256=self._write(folder, keyed_tables(outcome)),
            )
        )

    def missed(self, missed: Missed) -> None:
        """Keep that a sweep did not run when it was due. On disk on return."""
        self._keep(MissedEntry(missed=missed))

    @property
    def all_missed(self) -> Sequence[Missed]:
        """Times at which sweeps were due and did not run, as far as the newest part tells."""
        return self._state.missed

    def take_in(self, outcomes: Sequence[ImportedOutcome]) -> None:
        """Keep trials of other tools together; those that are there already stay as they are.

        On disk on return. The more at once, the fewer files and waits for the disk.

        Raises:
            ArchiveError: The disk did not take them, or rows of one are there whose record is lost.
        """
        there = self.imported
        kept = [*{one.record.trial_id: one for one in outcomes if one.record.trial_id not in there}.values()]
        if not kept:
            return
        self._state.refuse_lost([outcome.record.trial_id for outcome in kept], self.folder)
        tables = keyed_tables_of_imported(kept)
        rows = {name: table.num_rows for name, table in tables.items()}
        self._keep(
            ImportedEntry(
                records=tuple(outcome.record for outcome in kept),
                sample_rows=rows.get("samples", 0),
                flow_rows=rows.get("flows", 0),
                rows_of_tests={name: count for name, count in rows.items() if name in OF_TESTS},
                sha256=self._write(folder_of(kept[0].record.trial_id, 1), tables),
            )
        )

    def compact(self, *, rows_per_file: int = ROWS_PER_FILE) -> None:
        """Merge the files of all attempts into few, then remove the small ones; not those of monitors.

        Readable at any moment: new files are written beside the old, the journal switches, the old go. Where
        somebody still reads the old ones after 2 s, they go when the archive is next merged.

        Raises:
            ArchiveError: The disk did not take it, or a file has changed since it was written; the archive
                is as before.
        """
        self.make_ready()
        if self._state.loose:
            with disk.reported(self.folder / MERGED_FOLDER, "cannot be written"):
                entry = merge(self._opened, self._state, rows_per_file=rows_per_file)
            self._keep(entry)
        remove_stale(self._opened, self._state, whole=self._whole)

    def take_back(self, *, with_attempts: bool = False) -> None:
        """Remove it if this process made it and nothing began (`with_attempts`: ended); no record follows."""
        state = self._state
        trials = state.finished_count if with_attempts else len(state.attempts)
        if self._new and not (self.part > 1 or trials or state.imported or state.missed):
            take_back(self._opened, self._journal.descriptor, with_folder=self._new == "folder")

    def close(self) -> None:
        """Let others write the archive. Everything is on disk already."""
        self._journal.close()
        if self._first is not None:
            self._first.close()
        if self._lock is not None:
            os.close(self._lock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _journal_of(self, number: int) -> JournalFile:
        """The journal of a part that is over; of the first this process has the lock."""
        lock = self._lock if self._first is None else self._first.descriptor
        return JournalFile(opened_part(self._whole, number), locked=lock if number == 1 else None)

    def _keep(self, entry: Entry) -> None:
        self.make_ready()
        self._keep_in_part(entry)

    def _keep_in_part(self, entry: Entry) -> None:
        self._journal.append(entry.model_dump_json().encode())
        self._state.apply(entry)
        self._totals.count(entry, self._opened, self._journal.end)

    def _write(self, folder: str, tables: Mapping[str, pa.Table]) -> dict[str, str]:
        self.make_ready()
        with disk.reported(self.folder / folder, "cannot be written"):
            return write_attempt(self._opened, folder, tables)
