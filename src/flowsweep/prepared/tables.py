"""The tables that a prepared statement starts from, filled with those of an archive."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa

from flowsweep.archive.background_rows import NUMBERED, OF_BACKGROUND
from flowsweep.archive.file_paths import without_patterns
from flowsweep.archive.format_2 import COLUMNS
from flowsweep.archive.parquet import KEY_FIELDS, LATER_FIELDS, NEEDED_FIELDS
from flowsweep.tests import facts_of

if TYPE_CHECKING:
    from flowsweep.archive.entries import Key

DATAGRAM_TRIALS = "datagram_trials"
"""Stands for a table that has rows where a trial sends datagrams."""


def fill_tables(
    connection: duckdb.DuckDBPyConnection,
    trials: pa.Table,
    facts: Mapping[str, Sequence[str] | pa.Table],
    left_out: "Sequence[Key]",
    *,
    few: bool,
) -> frozenset[str] | None:
    """Put an archive's rows in the place of empty tables.

    Args:
        connection: With the empty tables, as the statement was made for them.
        trials: Rows of `trials`.
        facts: The other tables that have rows, by name: Parquet files, or rows; with all attempts and with
            background traffic.
        left_out: Attempts that do not count.
        few: Rows are so few that all are read from their files at once: several steps ask for most tables.

    Returns:
        Names of the tables that have rows now, and DATAGRAM_TRIALS. None if one has other columns than the
        statement is for: what an engine did not record is null, as everywhere in the analysis, and more than
        is known is left out.
    """
    connection.from_arrow(trials).insert_into("trials")
    keys = [dict(zip((field.name for field in KEY_FIELDS), key, strict=True)) for key in left_out]
    connection.from_arrow(pa.Table.from_pylist(keys, schema=pa.schema(KEY_FIELDS))).create("left_out")
    with_background = any(trials["background"].to_pylist())
    filled = {"trials"}
    if any(facts_of(test).datagrams for test in set(trials["test"].to_pylist())):
        filled.add(DATAGRAM_TRIALS)
    for name, rows in facts.items():
        columns = _columns(connection, name, rows, few=few)
        if columns is None:
            return None
        if left_out:
            columns += " ANTI JOIN left_out USING (trial_id, attempt)"
        condition = None
        if with_background and name in NUMBERED:
            columns += " JOIN (SELECT trial_id, flows AS own_flows FROM trials) USING (trial_id)"
            condition = _own(name)
        _replace(connection, name, columns, condition)
        filled.add(name)
        if condition and name in OF_BACKGROUND:
            _replace(connection, f"background_{name}", columns, f"NOT {condition}")
            filled.add(f"background_{name}")
    return frozenset(filled)


def _columns(
    connection: duckdb.DuckDBPyConnection, name: str, rows: Sequence[str] | pa.Table, *, few: bool
) -> str | None:
    """Make `all_NAME`, and say what to select from it; None if it has not what it needs."""
    expected = connection.table(name)
    if isinstance(rows, pa.Table):
        found = connection.from_arrow(rows)
    else:
        paths = [without_patterns(path) for path in rows]
        found = connection.read_parquet(paths, union_by_name=len(paths) > 1, hive_partitioning=False)
    if few or isinstance(rows, pa.Table):
        found.create(f"all_{name}")
    else:
        found.create_view(f"all_{name}")
    types = dict(zip(found.columns, found.types, strict=True))
    columns = []
    for column, kind in zip(expected.columns, expected.types, strict=True):
        formers = [former for former, today in COLUMNS.get(name, {}).items() if today == column]
        names = [one for one in (column, *formers) if one in types]
        may_lack = name in NEEDED_FIELDS or column in LATER_FIELDS.get(name, ())
        if any(types[one] != kind for one in names) or not (names or may_lack):
            return None
        quoted = [f'"{one}"' for one in names] or [f"NULL::{kind}"]
        value = quoted[0] if len(quoted) == 1 else f"COALESCE({', '.join(quoted)})"
        columns.append(f'{value} AS "{column}"')
    return f"SELECT {', '.join(columns)} FROM all_{name}"


def _own(name: str) -> str:
    """The condition for rows of a trial's own flows, whose numbers come before those of other traffic."""
    own = f"{NUMBERED[name]} < own_flows"
    return f"({own} OR kind <> 'thread')" if name == "cpu" else f"({own})"


def _replace(connection: duckdb.DuckDBPyConnection, name: str, query: str, condition: str | None) -> None:
    connection.execute(f"DROP TABLE {name}")
    connection.execute(f"CREATE VIEW {name} AS {query}{f' WHERE {condition}' if condition else ''}")
