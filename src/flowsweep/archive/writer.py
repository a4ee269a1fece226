"""Writing an archive: the recorder of a running campaign."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import pyarrow as pa

from flowsweep.archive import disk
from flowsweep.archive.campaign import (
    CAMPAIGN_FILE,
    FORMAT,
    JOURNAL_FILE,
    Campaign,
    read_campaign,
    write_campaign,
)
from flowsweep.archive.compaction import ROWS_PER_FILE, merge
from flowsweep.archive.entries import (
    MERGED_FOLDER,
    OF_TESTS,
    TRIALS_FOLDER,
    Entry,
    FinishedEntry,
    HostsEntry,
    ImportedEntry,
    StartedEntry,
    state_of,
)
from flowsweep.archive.imported import ImportedOutcome, ImportedTrial
from flowsweep.archive.journal import JournalFile
from flowsweep.archive.parquet import keyed_tables, keyed_tables_of_imported, write_attempt
from flowsweep.errors import ArchiveError
from flowsweep.run.outcome import TrialOutcome, TrialRecord
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
        ArchiveError: Something is there already, or the disk does not take it.
    """
    campaign = Campaign(
        format=FORMAT,
        flowsweep_version=__version__,
        created_at=created_at or datetime.now(UTC),
        seed=seed,
        plan=json.loads(plan_json),
    )
    with disk.reported(folder, "no archive can be made there"):
        folder.mkdir(parents=True, exist_ok=True)
        _refuse_what_is_there(folder)
        journal = JournalFile(folder / JOURNAL_FILE)
        try:
            # Again, under the lock: another process may have been faster.
            _refuse_what_is_there(folder)
            write_campaign(folder, campaign)
            disk.sync(folder.absolute().parent)
            return ArchiveWriter(folder, campaign, journal)
        except BaseException:
            journal.close()
            raise


def open_archive_for_writing(folder: Path) -> "ArchiveWriter":
    """Open an archive to go on with its campaign; what a killed process left half done is removed.

    Raises:
        ArchiveError: It is no archive, cannot be read, or another process is writing it.
    """
    with disk.reported(folder, "cannot be gone on with"):
        campaign = read_campaign(folder)
        journal = JournalFile(folder / JOURNAL_FILE)
        try:
            writer = ArchiveWriter(folder, campaign, journal)
            writer.remove_leftovers()
        except BaseException:
            journal.close()
            raise
    return writer


class ArchiveWriter:
    """An archive open for writing, by this process only. Implements `flowsweep.run.outcome.Recorder`."""

    def __init__(self, folder: Path, campaign: Campaign, journal: JournalFile) -> None:
        self.folder = folder
        self.campaign = campaign
        self._journal = journal
        self._state = state_of(journal.payloads, folder / JOURNAL_FILE)
        (folder / TRIALS_FOLDER).mkdir(exist_ok=True)
        disk.sync(folder)

    @property
    def plan_json(self) -> str:
        """The plan the campaign was made with, as compact JSON."""
        return self.campaign.plan_json

    @property
    def seed(self) -> int:
        """Seed of the order of trials."""
        return self.campaign.seed

    @property
    def records(self) -> Mapping[str, TrialRecord]:
        """The last finished attempt of each trial, by trial_id."""
        return self._state.records

    @property
    def imported(self) -> Mapping[str, ImportedTrial]:
        """Trials of other tools, by trial_id."""
        return self._state.imported

    @property
    def attempts(self) -> dict[str, int]:
        """How often each trial was started so far, by trial_id."""
        return dict(self._state.attempts)

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
        entry = FinishedEntry(
            record=outcome.record,
            sample_rows=outcome.samples.num_rows,
            flow_rows=outcome.flows.num_rows,
            cpu_rows=outcome.cpu.num_rows,
            counter_rows=outcome.counters.num_rows,
            link_rows=outcome.links.num_rows,
            rows_of_tests={name: table.num_rows for name, table in outcome.of_tests.items()},
        )
        with disk.reported(self.folder / entry.folder, "cannot be written"):
            write_attempt(self.folder / entry.folder, keyed_tables(outcome))
        self._keep(entry)

    def take_in(self, outcomes: Sequence[ImportedOutcome]) -> None:
        """Keep trials of other tools together; those that are there already stay as they are.

        On disk on return. The more at once, the fewer files and waits for the disk.

        Raises:
            ArchiveError: The disk did not take them.
        """
        new = {outcome.record.trial_id: outcome for outcome in outcomes}
        kept = [outcome for trial_id, outcome in new.items() if trial_id not in self._state.imported]
        if not kept:
            return
        tables = keyed_tables_of_imported(kept)
        entry = ImportedEntry(
            records=tuple(outcome.record for outcome in kept),
            sample_rows=_rows(tables, "samples"),
            flow_rows=_rows(tables, "flows"),
            rows_of_tests={name: table.num_rows for name, table in tables.items() if name in OF_TESTS},
        )
        with disk.reported(self.folder / entry.folder, "cannot be written"):
            write_attempt(self.folder / entry.folder, tables)
        self._keep(entry)

    def compact(self, *, rows_per_file: int = ROWS_PER_FILE) -> None:
        """Merge the files of all attempts into few, then remove the small ones.

        Readable at any moment: new files are written beside the old, the journal switches, the old go.

        Raises:
            ArchiveError: The disk did not take it; the archive is as before.
        """
        if not self._state.loose:
            return
        with disk.reported(self.folder / MERGED_FOLDER, "cannot be written"):
            entry = merge(self.folder, self._state, rows_per_file=rows_per_file)
        self._keep(entry)
        self.remove_leftovers()

    def remove_leftovers(self) -> None:
        """Remove folders of data that the journal does not name.

        Raises:
            ArchiveError: One of them cannot be removed; the archive is whole all the same.
        """
        named = self._state.folders
        with disk.reported(self.folder, "left-over data cannot be removed"):
            for parent in (TRIALS_FOLDER, MERGED_FOLDER):
                for path in sorted((self.folder / parent).glob("*/")):
                    if f"{parent}/{path.name}" not in named:
                        disk.remove_folder(path)

    def close(self) -> None:
        """Let others write the archive. Everything is on disk already."""
        self._journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _keep(self, entry: Entry) -> None:
        self._journal.append(entry.model_dump_json().encode())
        self._state.apply(entry)


def _rows(tables: Mapping[str, pa.Table], name: str) -> int:
    return tables[name].num_rows if name in tables else 0


def _refuse_what_is_there(folder: Path) -> None:
    """Refuse a folder that has anything in it but what a creation that was killed leaves."""
    if (folder / CAMPAIGN_FILE).exists():
        raise ArchiveError(
            f"{folder}: holds an archive already. Add --resume to go on with it, or choose another folder."
        )
    journal = folder / JOURNAL_FILE
    unfinished = {f"{CAMPAIGN_FILE}.tmp"} | (
        {JOURNAL_FILE} if journal.is_file() and not journal.stat().st_size else set()
    )
    if found := sorted({entry.name for entry in folder.iterdir()} - unfinished):
        raise ArchiveError(
            f"{folder}: holds {', '.join(found[:5])}{', …' if len(found) > 5 else ''}, but no archive. "
            "Choose a folder that is empty or not there yet; --resume goes on with an archive that exists."
        )
