"""The kinds of records that the journal has, and the names of the files that they speak of."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from sys import intern
from typing import Annotated, Any, Literal, Self

from pydantic import Field, TypeAdapter, model_validator

from flowsweep.archive.digests import IN_NAME
from flowsweep.archive.format_2 import with_keys_of_today
from flowsweep.archive.imported import ImportedTrial
from flowsweep.frozen import Frozen
from flowsweep.hosts.columns import COLUMNS
from flowsweep.run.outcome import Missed, TrialRecord

_OF_ALL = ("samples", "cpu")
"""Tables of the engines that every test may have."""
OF_TESTS = tuple(name for name in COLUMNS if name not in _OF_ALL)
"""Tables that only some tests fill."""
TABLES = ("samples", "flows", "cpu", "counters", "links", *OF_TESTS)
"""The tables that have files; `trials` is made from the journal."""

TRIALS_FOLDER = "trials"
MERGED_FOLDER = "merged"
PARTS_FOLDER = "parts"
MONITORS_FOLDER = "monitors"
ALARMS_FILE = "alarms"
"""What of alarms was delivered, beside the journal."""

TRIAL_ID = re.compile(r"[0-9a-f]{12}")
TrialId = Annotated[str, Field(pattern=rf"^{TRIAL_ID.pattern}$")]
Attempt = Annotated[int, Field(ge=1, le=2**15 - 1)]
Rows = Annotated[int, Field(ge=0, le=2**62)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
TableName = Annotated[str, Field(pattern=f"^({'|'.join(TABLES)})$")]
TableOfTest = Annotated[str, Field(pattern=f"^({'|'.join(OF_TESTS)})$")]
Part = Annotated[int, Field(ge=2, le=10**6)]
"""Number of a part; the first is the archive's own folder."""
Key = tuple[str, int]
"""Of an attempt: trial_id and attempt."""


class HostsEntry(Frozen):
    """What the engines saw of their hosts."""

    kind: Literal["hosts"] = "hosts"
    facts: dict[str, dict[str, Any]]


class StartedEntry(Frozen):
    """An attempt began."""

    kind: Literal["started"] = "started"
    trial_id: TrialId
    attempt: Attempt
    at: datetime


class FinishedEntry(Frozen):
    """An attempt ended; its data lie in its folder under trials/. A table without rows has no file."""

    kind: Literal["finished"] = "finished"
    record: TrialRecord
    sample_rows: Rows
    flow_rows: Rows
    cpu_rows: Rows = 0
    counter_rows: Rows = 0
    link_rows: Rows = 0
    rows_of_tests: dict[TableOfTest, Rows] = Field(default_factory=dict)
    """Of those of `OF_TESTS` that have rows."""
    sha256: dict[TableName, Sha256] = Field(default_factory=dict)
    """Of each table's file; versions before kept none."""

    @model_validator(mode="after")
    def _named_by_pattern(self) -> Self:
        _check_key(self.record.trial_id, self.record.attempt)
        return self

    @property
    def rows(self) -> dict[str, int]:
        """Rows of its tables that have some, and thus a file, by name."""
        rows = {
            "samples": self.sample_rows, "flows": self.flow_rows,
            "cpu": self.cpu_rows, "counters": self.counter_rows, "links": self.link_rows,
            **self.rows_of_tests,
        }  # fmt: skip
        return {name: count for name, count in rows.items() if count}

    @property
    def folder(self) -> str:
        """Folder of the attempt's data, from the archive's."""
        return folder_of(self.record.trial_id, self.record.attempt)

    @property
    def keys(self) -> tuple[Key, ...]:
        """The attempt that its rows are of."""
        return ((self.record.trial_id, self.record.attempt),)


class ImportedEntry(Frozen):
    """Trials of other tools were taken in; their data lie in one folder under trials/, likewise."""

    kind: Literal["imported"] = "imported"
    records: Annotated[tuple[ImportedTrial, ...], Field(min_length=1)]
    sample_rows: Rows
    flow_rows: Rows
    rows_of_tests: dict[TableOfTest, Rows] = Field(default_factory=dict)
    """Of those of `OF_TESTS` that have rows."""
    sha256: dict[TableName, Sha256] = Field(default_factory=dict)
    """Of each table's file; versions before kept none."""

    @model_validator(mode="after")
    def _named_by_pattern(self) -> Self:
        for record in self.records:
            _check_key(record.trial_id, 1)
        return self

    @property
    def rows(self) -> dict[str, int]:
        """Rows of its tables that have some, and thus a file, by name; of all its trials together."""
        rows = {"samples": self.sample_rows, "flows": self.flow_rows, **self.rows_of_tests}
        return {name: count for name, count in rows.items() if count}

    @property
    def folder(self) -> str:
        """Folder of the trials' data, from the archive's; named after the first of them."""
        return folder_of(self.records[0].trial_id, 1)

    @property
    def keys(self) -> tuple[Key, ...]:
        """The attempts that its rows are of."""
        return tuple((record.trial_id, 1) for record in self.records)


class CompactedEntry(Frozen):
    """All data so far lie in these files now, and nowhere else."""

    kind: Literal["compacted"] = "compacted"
    generation: Annotated[int, Field(ge=1, le=2**31)]
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
    subflows: tuple[str, ...] = ()
    quic: tuple[str, ...] = ()
    streams: tuple[str, ...] = ()
    storage: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    sha256: dict[str, Sha256] = Field(default_factory=dict)
    """By file; versions before kept none."""
    orphans: tuple[tuple[TrialId, Attempt], ...] = ()
    """Attempts with rows in the files, of which the journal has lost the record: they do not count."""

    @model_validator(mode="after")
    def _files_by_pattern(self) -> Self:
        named = [(table, file) for table, files in self.files.items() for file in files]
        for table, file in named:
            if merged_table(file, self.generation) != table:
                raise ValueError(f"{file!r} is no file of {table} in generation {self.generation}")
        if len(set(named)) < len(named) or not self.sha256.keys() <= {file for _, file in named}:
            raise ValueError("a file is named twice, or has a hash and is not named")
        return self

    @property
    def files(self) -> dict[str, tuple[str, ...]]:
        """Files by the name of their table."""
        return {table: getattr(self, table) for table in TABLES}


class MissedEntry(Frozen):
    """A sweep did not run when it was due."""

    kind: Literal["missed"] = "missed"
    missed: Missed


class BeginsEntry(Frozen):
    """The first record of a part of an archive that is not its first: what went before."""

    kind: Literal["begins"] = "begins"
    part: Part
    at: datetime
    settled: dict[str, Annotated[int, Field(ge=1)]]
    """By sweep, the highest number of a time that ran or was missed before: none up to it runs again."""
    trials: Annotated[int, Field(ge=0)]
    """Finished in the parts before."""


class ContinuedEntry(Frozen):
    """The last record of a part: what follows is in the next one."""

    kind: Literal["continued"] = "continued"
    part: Part


class RetiredEntry(Frozen):
    """What was measured in this part, which is over, is not kept any longer: a summary is what is left."""

    kind: Literal["retired"] = "retired"
    at: datetime
    file: Annotated[str, Field(pattern=rf"^summary\.{IN_NAME}\.parquet$")]
    """The kept summary, from the part's folder; its name ends in the first 128 bits of its SHA-256."""
    flowsweep_version: str
    """Which summed the trials up."""
    trials: Rows


class DroppedEntry(Frozen):
    """Data of an attempt, or of imported trials, have changed since they were written: they do not count."""

    kind: Literal["dropped"] = "dropped"
    folder: Annotated[str, Field(pattern=rf"^{TRIALS_FOLDER}/{TRIAL_ID.pattern}-[0-9]{{1,5}}$")]


Entry = (
    DroppedEntry
    | HostsEntry
    | StartedEntry
    | FinishedEntry
    | ImportedEntry
    | CompactedEntry
    | MissedEntry
    | BeginsEntry
    | ContinuedEntry
    | RetiredEntry
)
DataEntry = FinishedEntry | ImportedEntry
_ENTRY: TypeAdapter[Entry] = TypeAdapter(Annotated[Entry, Field(discriminator="kind")])


@dataclass(frozen=True, slots=True)
class Data:
    """What a record says of data, and no more: there may be a million."""

    folder: str
    """From the archive's."""
    keys: tuple[Key, ...]
    """The attempts that its rows are of."""
    rows: Mapping[str, int]
    """Of its tables that have some, by name."""
    sha256: Mapping[str, str]
    """Of each table's file, as far as they were kept."""

    @classmethod
    def of(cls, entry: DataEntry) -> "Data":
        """Of a whole record."""
        rows = {intern(table): count for table, count in entry.rows.items()}
        digests = {intern(table): digest for table, digest in entry.sha256.items()}
        return cls(entry.folder, entry.keys, rows, digests)


def file_of(entry: Data | DataEntry, table: str) -> str:
    """File of a table of an attempt, from the archive's folder."""
    return f"{entry.folder}/{table}.parquet"


def folder_of(trial_id: str, attempt: int) -> str:
    """Folder of an attempt's data, from the archive's."""
    return f"{TRIALS_FOLDER}/{trial_id}-{attempt}"


def part_folder(part: int) -> str:
    """Folder of a part that is not the first, from the archive's."""
    return f"{PARTS_FOLDER}/{part}"


def generation_folder(generation: int) -> str:
    """Folder of a generation of merged files, from the archive's."""
    return f"{MERGED_FOLDER}/{generation}"


def kept_summary_file(digest: str) -> str:
    """File of the kept summary of a part, from the part's folder, by the first 128 bits of its SHA-256."""
    return f"summary.{digest}.parquet"


def merged_table(file: str, generation: int) -> str | None:
    """The table that a file of a generation has rows of, by its name; None if it is named like none."""
    found = re.fullmatch(rf"{MERGED_FOLDER}/{generation}/([a-z]+)-[0-9]{{4,9}}\.parquet", file)
    return found.group(1) if found and found.group(1) in TABLES else None


def entry_of(payload: bytes) -> Entry:
    """Read a record of the journal.

    Raises:
        ValidationError: It is none that this Flowsweep knows.
    """
    return _ENTRY.validate_json(with_keys_of_today(payload))


def is_key(trial_id: object, attempt: object) -> bool:
    """Whether an attempt can be called that."""
    named = isinstance(trial_id, str) and TRIAL_ID.fullmatch(trial_id) is not None
    return named and isinstance(attempt, int) and 1 <= attempt < 2**15


def _check_key(trial_id: str, attempt: int) -> None:
    if not is_key(trial_id, attempt):
        raise ValueError(f"{trial_id!r}, attempt {attempt}: no trial is called that")
