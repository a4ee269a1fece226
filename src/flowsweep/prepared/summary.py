"""The summary of nearly every campaign, by the statement in `summary.sql`."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa

from flowsweep.archive.parquet import keyed_tables
from flowsweep.archive.trials import trials_table
from flowsweep.prepared.statement import Statement, statement
from flowsweep.prepared.tables import fill_tables
from flowsweep.run.outcome import TrialOutcome, TrialRecord
from flowsweep.schedule import planned_links
from flowsweep.tests import facts_of

if TYPE_CHECKING:
    from flowsweep.archive import Archive
    from flowsweep.archive.entries import Key

DATA_BYTES_MAX = 32 << 20
"""Of an archive's files. Beyond that the summary of all trials at once may take much memory."""


def summary_of_archive(archive: "Archive") -> pa.Table | None:
    """Sum up each trial of an archive, as `flowsweep.analysis.summarised` does.

    Returns:
        None where the statement is not for it: the archive is large, of a version with other columns, or has
        measurements that no statement sums up; a file cannot be read; or the analysis has changed since.

    Raises:
        ArchiveError: A file of data has changed since it was written; says which.
    """
    state = archive.state
    found = _statement_for(state.records.values())
    files = {name: listed for name, listed in state.files.items() if listed}
    if found is None or archive.data_bytes > DATA_BYTES_MAX:
        return None
    archive.check_small_files()
    trials = trials_table(
        state.records.values(),
        state.imported.values(),
        attempts=state.attempts,
        links=planned_links(archive.campaign.plan),
    )
    facts = {name: [str(archive.folder / file) for file in listed] for name, listed in files.items()}
    try:
        return _summed_up(found, trials, facts, state.left_out, few=archive.is_small)
    except duckdb.Error:
        return None  # The analysis says which file it is.


def summary_of_outcomes(outcomes: Sequence[TrialOutcome]) -> pa.Table | None:
    """Sum up trials that no archive keeps; None where the statement is not for these, as above."""
    records = [outcome.record for outcome in outcomes]
    found = _statement_for(records)
    if found is None:
        return None
    pieces: dict[str, list[pa.Table]] = {}
    for outcome in outcomes:
        for name, table in keyed_tables(outcome).items():
            pieces.setdefault(name, []).append(table)
    facts = {name: pa.concat_tables(tables, promote_options="default") for name, tables in pieces.items()}
    return _summed_up(found, trials_table(records, attempts={}), facts, (), few=True)


def _statement_for(records: Iterable[TrialRecord]) -> Statement | None:
    if any(facts_of(record.trial.test).beyond_statements for record in records):
        return None
    return statement()


def _summed_up(
    found: Statement,
    trials: pa.Table,
    facts: Mapping[str, Sequence[str] | pa.Table],
    left_out: "Sequence[Key]",
    *,
    few: bool,
) -> pa.Table | None:
    threads = {"threads": 1} if few else {}
    with duckdb.connect(config={"temp_directory": "", **threads}) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(found.tables)
        filled = fill_tables(connection, trials, facts, left_out)
        if filled is None:
            return None
        for step in found.steps:
            connection.execute(step.sql if filled.issuperset(step.needs) else step.table)
        return connection.sql("FROM summary ORDER BY order_index").to_arrow_table()
