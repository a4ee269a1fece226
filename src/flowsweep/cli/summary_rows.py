"""Rows of summaries: by the prepared statement if it is for these trials, else by Ibis."""

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, cast

from flowsweep.analysis.summarising.columns import STABLE_COLUMNS
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.analysis.tests.registry import COLUMNS_OF_TESTS
from flowsweep.errors import ArchiveError
from flowsweep.run.outcome import TrialOutcome

if TYPE_CHECKING:
    from flowsweep.archive import Archive

ONE_TRIAL_COLUMNS = {test: (*STABLE_COLUMNS, *columns) for test, columns in COLUMNS_OF_TESTS.items()}
"""Columns that a trial of each test has, whose commands need no plan."""
LATENCY_COLUMNS = (
    "rtt_idle_ms", "rtt_loaded_ms", "rtt_loaded_p99_ms", "rtt_after_ms", "rtt_loaded_loss",
    "responsiveness_rpm",
)  # fmt: skip
"""Those of one with probes beside it, too."""


def rows_of_archive(archive: "Archive") -> list[TrialRow]:
    """One row per trial.

    Raises:
        ArchiveError: A file of data cannot be read; says which.
    """
    from flowsweep.prepared.whole_summary import summary_table

    return cast("list[TrialRow]", summary_table(archive).to_pylist())


def rows_at_end(archive: "Archive") -> list[TrialRow]:
    """The same of a campaign that is over; they are kept in the archive for whoever reads it next.

    Raises:
        ArchiveError: A file of data cannot be read; says which.
    """
    from flowsweep.prepared.recorded import keep_at_end
    from flowsweep.prepared.whole_summary import summary_table

    table = summary_table(archive)
    with suppress(ArchiveError):  # Without it the next reader sums up: all that is lost is time.
        keep_at_end(archive, table)
    return cast("list[TrialRow]", table.to_pylist())


def whole_trials(archive: "Archive") -> frozenset[str]:
    """The trials that need not run again, by trial_id.

    Raises:
        ArchiveError: A file of data cannot be read; says which.
    """
    return frozenset(row["trial_id"] for row in rows_of_archive(archive) if row["status"] == "ok")


def row_of_outcomes(outcomes: Sequence[TrialOutcome]) -> TrialRow:
    """The row of the one trial that no archive keeps."""
    (row,) = rows_of_outcomes(outcomes)
    return row


def rows_of_outcomes(outcomes: Sequence[TrialOutcome]) -> list[TrialRow]:
    """One row per trial, of trials that need not be in an archive."""
    from flowsweep.prepared.summary import summary_of_outcomes

    table = summary_of_outcomes(outcomes)
    if table is None:
        from flowsweep.analysis.summarising.summary import summary
        from flowsweep.archive.tables import tables_of

        table = summary(tables_of(outcomes)).to_pyarrow()
    return cast("list[TrialRow]", table.to_pylist())
