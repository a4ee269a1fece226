"""What the records of a journal add up to."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from flowsweep.archive.entries import (
    TABLES,
    BeginsEntry,
    CompactedEntry,
    ContinuedEntry,
    Data,
    DataEntry,
    DroppedEntry,
    Entry,
    FinishedEntry,
    HostsEntry,
    ImportedEntry,
    Key,
    MissedEntry,
    RetiredEntry,
    StartedEntry,
    entry_of,
    file_of,
    generation_folder,
)
from flowsweep.archive.imported import ImportedTrial
from flowsweep.archive.problems import first_problem
from flowsweep.errors import ArchiveError
from flowsweep.run.outcome import FinishedTrial, Missed, TrialRecord


@dataclass
class State:
    """A campaign, as far as the journal tells of it."""

    brief: bool = False
    """Whether records are left out, and only what a writer needs is kept: it goes on for long."""

    host_facts: dict[str, dict[str, Any]] = field(default_factory=dict)
    attempts: dict[str, int] = field(default_factory=dict)
    """How often each trial was started, in the order of their first starts."""
    records: dict[str, TrialRecord] = field(default_factory=dict)
    """The last finished attempt of each trial; empty if that is left out."""
    done: dict[str, FinishedTrial] = field(default_factory=dict)
    """The same in short."""
    imported: dict[str, ImportedTrial] = field(default_factory=dict)
    """Trials of other tools, by trial_id."""
    superseded: list[Key] = field(default_factory=list)
    """Finished attempts that a later one took the place of; their data are kept."""
    orphans: set[Key] = field(default_factory=set)
    """Attempts that have rows, and whose record is lost: they do not count."""
    entries: dict[str, Data] = field(default_factory=dict)
    """All attempts with data, by folder."""
    loose: dict[str, Data] = field(default_factory=dict)
    """Those of them whose data are not merged yet."""
    merged: CompactedEntry | None = None
    missed: list[Missed] = field(default_factory=list)
    """Times at which sweeps were due and did not run, in the order in which that was recorded."""
    stale: set[str] = field(default_factory=set)
    """Folders whose data were merged since."""

    before: BeginsEntry | None = None
    """What went before, in a part that is not the first."""
    continued_in: int | None = None
    """The part in which it goes on."""
    retired: RetiredEntry | None = None
    """That its samples are gone, and what is left of them."""

    def apply(self, entry: Entry) -> None:
        """Take the next record into account."""
        match entry:
            case BeginsEntry() | ContinuedEntry() | RetiredEntry():
                self._go_on(entry)
            case HostsEntry():
                self.host_facts.update(entry.facts)
            case StartedEntry():
                self._count(entry.trial_id, entry.attempt)
            case FinishedEntry():
                self._finish(entry.record)
                self._take_data(entry)
            case ImportedEntry():
                for imported in entry.records:
                    self._count(imported.trial_id, 1)
                    self.imported[imported.trial_id] = imported
                self._take_data(entry)
            case MissedEntry():
                self.missed.append(entry.missed)
            case DroppedEntry():
                self.drop(entry.folder)
            case CompactedEntry():
                self.take_merged(entry, holding=tuple(self.loose))

    def _go_on(self, entry: BeginsEntry | ContinuedEntry | RetiredEntry) -> None:
        """What concerns a part as a whole."""
        match entry:
            case BeginsEntry():
                self.before = entry
            case ContinuedEntry():
                self.continued_in = entry.part
            case RetiredEntry():
                self._retire(entry)

    def take_merged(self, merged: CompactedEntry, *, holding: Iterable[str]) -> None:
        """Let merged files count, in the place of the folders whose data they hold and of those before."""
        for folder in holding:
            self.entries[folder] = replace(self.loose.pop(folder), sha256={})
            self.stale.add(folder)
        if self.merged is not None:
            self.stale.add(generation_folder(self.merged.generation))
        self.stale.discard(generation_folder(merged.generation))
        self.merged = merged
        self.leave_out(merged.orphans)

    def _retire(self, entry: RetiredEntry) -> None:
        """Let no data count any more; trials stay, with what became of them."""
        self.stale |= self.folders
        self.entries.clear()
        self.loose.clear()
        self.orphans.clear()
        self.superseded.clear()
        self.merged, self.retired = None, entry

    def drop(self, folder: str) -> None:
        """Let data not count that are not merged yet: its trials are as if they had never finished."""
        dropped = self.loose.pop(folder, None)
        if dropped is None:
            return
        del self.entries[folder]
        for trial_id, attempt in dropped.keys:
            self.imported.pop(trial_id, None)
            if trial_id in self.done and self.done[trial_id].attempt == attempt:
                del self.done[trial_id]
                self.records.pop(trial_id, None)

    def leave_out(self, orphans: Iterable[Key]) -> None:
        """Let rows not count whose record is lost; no later attempt gets one of their numbers."""
        for trial_id, attempt in orphans:
            self._count(trial_id, attempt)
            self.orphans.add((trial_id, attempt))

    def refuse_lost(self, imported: Iterable[str], folder: Path) -> None:
        """Refuse trials of other tools whose rows are there without their record.

        Raises:
            ArchiveError: One is among them.
        """
        lost = [trial_id for trial_id in imported if (trial_id, 1) in self.orphans]
        if lost:
            raise ArchiveError(
                f"{folder}: the record of trial {lost[0]} was damaged, and its rows cannot be told from "
                "those of another import: import the files into a new archive"
            )

    def _finish(self, record: TrialRecord) -> None:
        self._count(record.trial_id, record.attempt)
        earlier = self.done.get(record.trial_id)
        if earlier is not None and earlier.attempt != record.attempt:
            self.superseded.append((record.trial_id, earlier.attempt))
        self.done[record.trial_id] = FinishedTrial.of(record)
        if not self.brief:
            self.records[record.trial_id] = record

    def _take_data(self, entry: DataEntry) -> None:
        self.entries[entry.folder] = self.loose[entry.folder] = Data.of(entry)

    def _count(self, trial_id: str, attempt: int) -> None:
        self.attempts[trial_id] = max(attempt, self.attempts.get(trial_id, 0))

    @property
    def settled(self) -> dict[str, int]:
        """By sweep, the highest number of a time that ran, if only in part, or was missed, so far."""
        found = {} if self.before is None else dict(self.before.settled)
        for trial in self.done.values():
            found[trial.sweep] = max(found.get(trial.sweep, 0), trial.repeat)
        for missed in self.missed:
            found[missed.sweep] = max(found.get(missed.sweep, 0), missed.last)
        return found

    @property
    def finished_count(self) -> int:
        """How many trials are finished, with those of the parts before."""
        return len(self.done) + (0 if self.before is None else self.before.trials)

    @property
    def retired_at(self) -> Mapping[str, datetime]:
        """When samples were retired, by trial_id; of all trials whose samples were."""
        at = None if self.retired is None else self.retired.at
        return {} if at is None else dict.fromkeys((*self.done, *self.imported), at)

    @property
    def left_out(self) -> list[Key]:
        """Attempts whose rows do not count."""
        return [*self.superseded, *sorted(self.orphans)]

    @property
    def keys(self) -> set[Key]:
        """All attempts whose record is there."""
        return {key for entry in self.entries.values() for key in entry.keys}

    @property
    def files(self) -> dict[str, list[str]]:
        """Parquet files of each of TABLES, from the archive's folder."""
        return {
            table: [
                *(self.merged.files[table] if self.merged else ()),
                *(file_of(entry, table) for entry in self.loose.values() if table in entry.rows),
            ]
            for table in TABLES
        }

    @property
    def digests(self) -> Mapping[str, str]:
        """SHA-256 of files, as far as they were kept."""
        merged = self.merged.sha256 if self.merged else {}
        loose = {
            file_of(entry, table): digest
            for entry in self.loose.values()
            for table, digest in entry.sha256.items()
        }
        return {**merged, **loose}

    @property
    def folders(self) -> set[str]:
        """Folders of data that count."""
        generation = {generation_folder(self.merged.generation)} if self.merged else set[str]()
        return self.loose.keys() | generation


def state_of(payloads: Iterable[bytes], journal: Path, *, brief: bool = False) -> State:
    """Add up a journal's records; `brief`: as a writer needs it.

    Raises:
        ArchiveError: A record is none that this Flowsweep knows.
    """
    state = State(brief)
    for number, payload in enumerate(payloads, start=1):
        try:
            state.apply(entry_of(payload))
        except ValidationError as error:
            raise ArchiveError(
                f"{journal}: record {number} is none that this Flowsweep knows: {first_problem(error)}"
            ) from error
    return state
