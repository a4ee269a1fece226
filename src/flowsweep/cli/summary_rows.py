"""Rows of summaries, for commands that measure first: they import this once there is what to summarise."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from flowsweep.analysis import STABLE_COLUMNS, summary
from flowsweep.analysis.tests.path import PATH_COLUMNS
from flowsweep.analysis.tests.rtt.phases import RTT_COLUMNS
from flowsweep.analysis.tests.udp.datagrams import DATAGRAM_COLUMNS
from flowsweep.archive import Archive, Tables, tables_of
from flowsweep.run.outcome import TrialOutcome

Row = Mapping[str, Any]

ONE_TRIAL_COLUMNS = {
    "tcp": STABLE_COLUMNS,
    "udp": (*STABLE_COLUMNS, *DATAGRAM_COLUMNS),
    "rtt": (*STABLE_COLUMNS, *RTT_COLUMNS, "remarks"),
    "path": (*STABLE_COLUMNS, *PATH_COLUMNS, "remarks"),
}
"""Columns that a trial of each test has, whose commands need no plan."""


def rows_of_archive(archive: Archive) -> list[Row]:
    """One row per trial.

    Raises:
        ArchiveError: A file of data cannot be read; says which.
    """
    with archive.damage_named():
        return _rows(archive.tables())


def whole_trials(archive: Archive) -> frozenset[str]:
    """The trials that need not run again, by trial_id.

    Raises:
        ArchiveError: A file of data cannot be read; says which.
    """
    with archive.damage_named():
        statuses = summary(archive.tables()).select("trial_id", "status").to_pyarrow().to_pylist()
    return frozenset(row["trial_id"] for row in statuses if row["status"] == "ok")


def row_of_outcomes(outcomes: Sequence[TrialOutcome]) -> Row:
    """The row of the one trial that no archive keeps."""
    (row,) = _rows(tables_of(outcomes))
    return row


def _rows(tables: Tables) -> list[Row]:
    return cast("list[Row]", summary(tables).to_pyarrow().to_pylist())
