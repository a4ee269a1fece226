"""What the journal says: its kinds of records, and the state of a campaign they add up to."""

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from flowsweep.archive.imported import ImportedTrial
from flowsweep.errors import ArchiveError
from flowsweep.run.outcome import TrialRecord

OF_TESTS = ("datagrams", "histograms", "echoes", "hops", "trains")
"""Tables that only some tests fill."""
TABLES = ("samples", "flows", "cpu", "counters", "links", *OF_TESTS)
"""The tables that have files; `trials` is made from the journal."""

TRIALS_FOLDER = "trials"
MERGED_FOLDER = "merged"


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class HostsEntry(_Entry):
    """What the engines saw of their hosts."""

    kind: Literal["hosts"] = "hosts"
    facts: dict[str, dict[str, Any]]


class StartedEntry(_Entry):
    """An attempt began."""

    kind: Literal["started"] = "started"
    trial_id: str
    attempt: int
    at: datetime


class FinishedEntry(_Entry):
    """An attempt ended; its data lie in its folder under trials/. A table without rows has no file."""

    kind: Literal["finished"] = "finished"
    record: TrialRecord
    sample_rows: int
    flow_rows: int
    cpu_rows: int = 0
    counter_rows: int = 0
    link_rows: int = 0
    rows_of_tests: dict[str, int] = {}
    """Of those of `OF_TESTS` that have rows."""

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of its tables that have rows, and thus a file."""
        rows = {
            "samples": self.sample_rows, "flows": self.flow_rows,
            "cpu": self.cpu_rows, "counters": self.counter_rows, "links": self.link_rows,
            **self.rows_of_tests,
        }  # fmt: skip
        return tuple(name for name, count in rows.items() if count)

    @property
    def folder(self) -> str:
        """Folder of the attempt's data, from the archive's."""
        return f"{TRIALS_FOLDER}/{self.record.trial_id}-{self.record.attempt}"


class ImportedEntry(_Entry):
    """Trials of other tools were taken in; their data lie in one folder under trials/, likewise."""

    kind: Literal["imported"] = "imported"
    records: Annotated[tuple[ImportedTrial, ...], Field(min_length=1)]
    sample_rows: int
    flow_rows: int
    rows_of_tests: dict[str, int] = {}
    """Of those of `OF_TESTS` that have rows."""

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of its tables that have rows, and thus a file."""
        rows = {"samples": self.sample_rows, "flows": self.flow_rows, **self.rows_of_tests}
        return tuple(name for name, count in rows.items() if count)

    @property
    def folder(self) -> str:
        """Folder of the trials' data, from the archive's; named after the first of them."""
        return f"{TRIALS_FOLDER}/{self.records[0].trial_id}-1"


class CompactedEntry(_Entry):
    """All data so far lie in these files now, and nowhere else."""

    kind: Literal["compacted"] = "compacted"
    generation: int
    samples: tuple[str, ...]
    """Files, from the archive's folder."""
    flows: tuple[str, ...]
    cpu: tuple[str, ...] = ()
    counters: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    datagrams: tuple[str, ...] = ()
    histograms: tuple[str, ...] = ()
    echoes: tuple[str, ...] = ()
    hops: tuple[str, ...] = ()
    trains: tuple[str, ...] = ()

    @property
    def files(self) -> dict[str, tuple[str, ...]]:
        """Files by the name of their table."""
        return {table: getattr(self, table) for table in TABLES}


Entry = HostsEntry | StartedEntry | FinishedEntry | ImportedEntry | CompactedEntry
_ENTRY: TypeAdapter[Entry] = TypeAdapter(Annotated[Entry, Field(discriminator="kind")])


@dataclass
class State:
    """What the records of a journal add up to."""

    host_facts: dict[str, dict[str, Any]] = field(default_factory=dict)
    attempts: dict[str, int] = field(default_factory=dict)
    """How often each trial was started, in the order of their first starts."""
    records: dict[str, TrialRecord] = field(default_factory=dict)
    """The last finished attempt of each trial."""
    imported: dict[str, ImportedTrial] = field(default_factory=dict)
    """Trials of other tools, by trial_id."""
    superseded: list[tuple[str, int]] = field(default_factory=list)
    """Finished attempts, as trial_id and attempt, that a later one took the place of; their data are kept."""
    loose: list[FinishedEntry | ImportedEntry] = field(default_factory=list)
    """Attempts whose data are not merged yet."""
    merged: CompactedEntry | None = None

    def apply(self, entry: Entry) -> None:
        """Take the next record into account."""
        match entry:
            case HostsEntry():
                self.host_facts.update(entry.facts)
            case StartedEntry():
                self.attempts[entry.trial_id] = entry.attempt
            case FinishedEntry():
                if earlier := self.records.get(entry.record.trial_id):
                    self.superseded.append((earlier.trial_id, earlier.attempt))
                self.records[entry.record.trial_id] = entry.record
                self.loose.append(entry)
            case ImportedEntry():
                for record in entry.records:
                    self.attempts[record.trial_id] = 1
                    self.imported[record.trial_id] = record
                self.loose.append(entry)
            case CompactedEntry():
                self.loose.clear()
                self.merged = entry

    @property
    def files(self) -> dict[str, list[str]]:
        """Parquet files of each of TABLES, from the archive's folder."""
        return {
            table: [
                *(self.merged.files[table] if self.merged else ()),
                *(f"{entry.folder}/{table}.parquet" for entry in self.loose if table in entry.tables),
            ]
            for table in TABLES
        }

    @property
    def folders(self) -> set[str]:
        """Folders of data that count; all others under trials/ and merged/ are leftovers."""
        generation = {f"{MERGED_FOLDER}/{self.merged.generation}"} if self.merged else set[str]()
        return {entry.folder for entry in self.loose} | generation


def state_of(payloads: tuple[bytes, ...], journal: Path) -> State:
    """Add up a journal's records.

    Raises:
        ArchiveError: A record is none that this Flowsweep knows.
    """
    state = State()
    for number, payload in enumerate(payloads, start=1):
        try:
            state.apply(_ENTRY.validate_json(payload))
        except ValidationError as error:
            raise ArchiveError(
                f"{journal}: record {number} is none that this Flowsweep knows: {error}"
            ) from error
    return state
