"""The summary of nearly every campaign, by the statement in `summary.sql`."""

from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa

from flowsweep.analysis.tests import path
from flowsweep.archive.parquet import PLANNED_PLAINLY_ROWS_MAX, keyed_tables
from flowsweep.archive.trials import trials_table
from flowsweep.prepared.statement import PATH_FACTS, Statement, statement
from flowsweep.prepared.tables import fill_tables
from flowsweep.run.outcome import TrialOutcome
from flowsweep.schedule import planned_links

if TYPE_CHECKING:
    from flowsweep.archive import Archive
    from flowsweep.archive.entries import Key

DATA_BYTES_MAX = 256 << 20
"""Of an archive's files. At 289 MB all trials at once took 0.7 GB of memory, which grows with it; what takes
over, in parts of bounded size, took 1.0 GB."""
PLANNED_PLAINLY_BYTES_MAX = 2 << 20
"""Of an archive's files, likewise (see PLANNED_PLAINLY_ROWS_MAX): of 0.9 and 1.6 MB the plain plan took
0.52 s and the better one 0.63 s, of 35 MB 2.9 s and 1.6 s."""
_SIDE_BY_SIDE = 2
"""Most steps at a time. Half of their work has to be done one after the other: more would wait."""
_PARSED: dict[str, list[duckdb.Statement]] = {}
"""Statements by their text, for the next archive of this process."""
_UTC = "SET TimeZone = 'UTC'"
_PLAINLY = f"{_UTC}; PRAGMA disable_optimizer"


@dataclass(frozen=True, slots=True)
class _Database:
    """Where trials are summed up."""

    statement: Statement
    connection: duckdb.DuckDBPyConnection
    plainly: bool
    """Whether it has so few rows that neither a better plan pays nor to read only some of them."""

    @property
    def settings(self) -> str:
        """Of this connection and of each other one to the same database."""
        return _PLAINLY if self.plainly else _UTC


def summary_of_archive(archive: "Archive") -> pa.Table | None:
    """Sum up each trial of an archive, as `flowsweep.analysis.summarised` does.

    Returns:
        None where the statement is not for it: the archive is large, or of a version with other columns; a
        file cannot be read; or the analysis has changed since.

    Raises:
        ArchiveError: A file of data has changed since it was written; says which.
    """
    if archive.data_bytes > DATA_BYTES_MAX:
        return None
    state = archive.state
    files = {name: listed for name, listed in state.files.items() if listed}
    archive.check_small_files()
    trials = trials_table(
        state.records.values(),
        state.imported.values(),
        attempts=state.attempts,
        links=planned_links(archive.campaign.plan),
    )
    facts = {name: [str(archive.folder / file) for file in listed] for name, listed in files.items()}
    try:
        plainly = archive.data_bytes <= PLANNED_PLAINLY_BYTES_MAX
        database = _opened_database(one_thread=archive.is_small, plainly=plainly)
        return None if database is None else _summed_up(database, trials, facts, state.left_out)
    except duckdb.Error:
        return None  # The analysis says which file it is.


def _opened_database(*, one_thread: bool, plainly: bool) -> _Database | None:
    """Make the statement's tables, all empty; None where the analysis has changed since it was written.

    `one_thread`: there will be so few rows that DuckDB is the faster the fewer it starts for one query.
    """
    found = statement()
    if found is None:
        return None
    connection = duckdb.connect(config={"temp_directory": "", **({"threads": 1} if one_thread else {})})
    database = _Database(found, connection, plainly)
    connection.execute(database.settings)
    _execute(found.tables, connection)
    return database


def summary_of_outcomes(outcomes: Sequence[TrialOutcome]) -> pa.Table | None:
    """Sum up trials that no archive keeps; None where the statement is not for these, as above."""
    pieces: dict[str, list[pa.Table]] = {}
    for outcome in outcomes:
        for name, table in keyed_tables(outcome).items():
            pieces.setdefault(name, []).append(table)
    facts = {name: pa.concat_tables(tables, promote_options="default") for name, tables in pieces.items()}
    rows = sum(table.num_rows for table in facts.values())
    database = _opened_database(one_thread=True, plainly=rows <= PLANNED_PLAINLY_ROWS_MAX)
    if database is None:
        return None
    trials = trials_table([outcome.record for outcome in outcomes], attempts={})
    return _summed_up(database, trials, facts, ())


def _summed_up(
    database: _Database,
    trials: pa.Table,
    facts: Mapping[str, Sequence[str] | pa.Table],
    left_out: "Sequence[Key]",
) -> pa.Table | None:
    with database.connection as connection:
        filled = fill_tables(connection, trials, facts, left_out, few=database.plainly)
        if filled is None:
            return None
        if not filled.isdisjoint(path.COLUMNS_OF_TABLES):
            _add_path_facts(connection)
            filled |= {PATH_FACTS}
        _run(database, filled)
        return connection.sql("FROM summary ORDER BY order_index").to_arrow_table()


def _run(database: _Database, filled: frozenset[str]) -> None:
    """Take the steps, side by side where none waits for the other: to plan them takes DuckDB longest."""
    left = {step.name: step for step in database.statement.steps}
    order = TopologicalSorter({name: step.after for name, step in left.items()})
    order.prepare()
    with ThreadPoolExecutor(_SIDE_BY_SIDE) as pool:
        running: dict[Future[None], str] = {}
        try:
            while order.is_active():
                for name in sorted(order.get_ready(), key=lambda name: -len(left[name].sql)):
                    step = left[name]
                    if filled.issuperset(step.needs):
                        sql = step.without({*step.shorter} - filled)
                        running[pool.submit(_take, sql, database)] = name
                        filled |= {name}
                    else:
                        order.done(name)
                for done in wait(running, return_when=FIRST_COMPLETED).done:
                    done.result()
                    order.done(running.pop(done))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _take(sql: str, database: _Database) -> None:
    with database.connection.cursor() as cursor:
        cursor.execute(database.settings)
        _execute(sql, cursor)


def _execute(sql: str, connection: duckdb.DuckDBPyConnection) -> None:
    """Execute statements that are parsed once: to parse them takes a third of what summing up takes."""
    parsed = _PARSED.get(sql)
    if parsed is None:
        parsed = _PARSED[sql] = connection.extract_statements(sql)
    for one in parsed:
        connection.execute(one)


def _add_path_facts(connection: duckdb.DuckDBPyConnection) -> None:
    """Fill the one table that no statement fills: what is said of paths is worked out in Python."""
    tables = {
        name: connection.table(name).select(*columns).to_arrow_table()
        for name, columns in path.COLUMNS_OF_TABLES.items()
    }
    connection.from_arrow(path.facts_rows(path.path_facts_of(**tables))).insert_into(PATH_FACTS)
