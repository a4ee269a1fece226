"""Reading an archive; needs no lock, also while a campaign is still running."""

import itertools
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import duckdb

from flowsweep.archive import disk
from flowsweep.archive.backends import Backend, backend
from flowsweep.archive.campaign import JOURNAL_FILE, Campaign, read_campaign
from flowsweep.archive.entries import State, state_of
from flowsweep.archive.journal import parse
from flowsweep.archive.parquet import check_file
from flowsweep.archive.tables import Tables, tables_of_files
from flowsweep.errors import ArchiveError
from flowsweep.run.outcome import TrialRecord
from flowsweep.schedule import planned_links


def read_archive(folder: Path) -> "Archive":
    """Read what an archive's journal says; the tables are read when asked for.

    Raises:
        ArchiveError: It is no archive, is damaged, or lacks a file that its journal names.
    """
    with disk.reported(folder, "cannot be read"):
        campaign = read_campaign(folder)
        journal = folder / JOURNAL_FILE
        content = parse(journal.read_bytes(), str(journal))
        state = state_of(content.payloads, journal)
        for file in itertools.chain(*state.files.values()):
            if not (folder / file).is_file():
                raise ArchiveError(
                    f"{folder}: not a whole archive: its journal names {file}, which is missing"
                )
    return Archive(folder, campaign, state)


@dataclass(frozen=True)
class Archive:
    """An archive as it was when it was read."""

    folder: Path
    campaign: Campaign
    _state: State

    @property
    def host_facts(self) -> Mapping[str, Mapping[str, Any]]:
        """What the engines saw of their hosts, by host name."""
        return self._state.host_facts

    @property
    def records(self) -> Mapping[str, TrialRecord]:
        """The last finished attempt of each trial, by trial_id."""
        return self._state.records

    def tables(self) -> Tables:
        """The campaign as Ibis tables on DuckDB; only the last finished attempt of each trial is in them.

        Raises:
            ArchiveError: A file of data cannot be read; says which.
        """
        return self._tables

    @cached_property
    def _tables(self) -> Tables:
        return self.tables_in(backend())

    def tables_in(self, backend: Backend) -> Tables:
        """The same in another backend.

        Raises:
            ArchiveError: A file of data cannot be read; says which.
        """
        with self.damage_named():
            return tables_of_files(
                self._state.records.values(),
                imported=self._state.imported.values(),
                attempts=self._state.attempts,
                superseded=self._state.superseded,
                files={
                    table: [str(self.folder / file) for file in files]
                    for table, files in self._state.files.items()
                },
                links=planned_links(self.campaign.plan),
                backend=backend,
            )

    @contextmanager
    def damage_named(self) -> Iterator[None]:
        """Say which file is at fault if a query in the block fails: much of one is only read then.

        Raises:
            ArchiveError: In place of DuckDB's error.
        """
        try:
            yield
        except duckdb.Error as error:
            for file in itertools.chain(*self._state.files.values()):
                check_file(self.folder / file)
            raise ArchiveError(f"{self.folder}: its data cannot be read: {error}") from error
