"""The summary of nearly every campaign, by the statement in `summary.sql`."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa

from flowsweep.analysis.tests import path
from flowsweep.archive.parquet import keyed_tables
from flowsweep.archive.trials import trials_table
from flowsweep.prepared.statement import Statement, statement
from flowsweep.prepared.tables import fill_tables
from flowsweep.run.outcome import TrialOutcome
from flowsweep.schedule import planned_links

if TYPE_CHECKING:
    from flowsweep.archive import Archive
    from flowsweep.archive.entries import Key

DATA_BYTES_MAX = 32 << 20
"""Of an archive's files. Beyond that the summary of all trials at once may take much memory."""


def summary_of_archive(archive: "Archive") -> pa.Table | None:
    """Sum up each trial of an archive, as `flowsweep.analysis.summarised` does.

    Returns:
        None where the statement is not for it: the archive is large, or of a version with other columns; a
        file cannot be read; or the analysis has changed since.

    Raises:
        ArchiveError: A file of data has changed since it was written; says which.
    """
    state, found = archive.state, statement()
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
    found = statement()
    if found is None:
        return None
    pieces: dict[str, list[pa.Table]] = {}
    for outcome in outcomes:
        for name, table in keyed_tables(outcome).items():
            pieces.setdefault(name, []).append(table)
    facts = {name: pa.concat_tables(tables, promote_options="default") for name, tables in pieces.items()}
    trials = trials_table([outcome.record for outcome in outcomes], attempts={})
    return _summed_up(found, trials, facts, (), few=True)


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
        if not filled.isdisjoint(path.COLUMNS_OF_TABLES):
            _add_path_facts(connection)
        for step in found.steps:
            connection.execute(step.sql if filled.issuperset(step.needs) else step.table)
        return connection.sql("FROM summary ORDER BY order_index").to_arrow_table()


def _add_path_facts(connection: duckdb.DuckDBPyConnection) -> None:
    """Fill the one table that no statement fills: what is said of paths is worked out in Python."""
    tables = {
        name: connection.table(name).select(*columns).to_arrow_table()
        for name, columns in path.COLUMNS_OF_TABLES.items()
    }
    connection.from_arrow(path.facts_rows(path.path_facts_of(**tables))).insert_into("path_facts")
