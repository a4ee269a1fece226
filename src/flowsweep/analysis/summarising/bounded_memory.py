"""The summary of archives of any size, in bounded memory."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields

import ibis.expr.types as ir
from ibis.backends import BaseBackend
from ibis.expr.operations import DatabaseTable
from ibis.util import gen_name

from flowsweep.analysis.binning.alignment import kept_starts
from flowsweep.analysis.expressions import getvariable
from flowsweep.analysis.summarising.samples import Sampled, sampled
from flowsweep.analysis.summarising.summary import concluded
from flowsweep.analysis.tests.path import path_facts
from flowsweep.archive import Tables
from flowsweep.archive.backends import computed_by_spark

ROWS_AT_A_TIME = 25_000_000
"""Rows of samples that are summed up together. Fewer would take less memory and more planning."""
_FIRST, _LAST = "first_of_part", "last_of_part"
_FACTS = tuple(field.name for field in fields(Tables))


def summarised(
    tables: Tables, *, paths: ir.Table | None = None, rows_at_a_time: int = ROWS_AT_A_TIME
) -> ir.Table:
    """Sum up each trial, now and once, so that several expressions may start from it.

    Args:
        tables: In any backend.
        paths: From `path_facts`; if absent it is computed.
        rows_at_a_time: How many samples DuckDB sums up together. Trials are summed up one by one, so that it
            does not matter which of them are together. Spark has ways of its own to go beyond its memory.

    Returns:
        As `flowsweep.analysis.summary`, in the backend of `tables`.
    """
    paths = path_facts(tables) if paths is None else paths
    connection = tables.trials.get_backend()
    if connection.name != "duckdb":
        return _in_steps(tables, paths)
    found, sum_up = _prepared(tables, rows_at_a_time)
    with ThreadPoolExecutor(1) as pool:
        summing = pool.submit(sum_up)
        try:
            # DuckDB sums up while Python writes the statement for what comes of it.
            whole = concluded(tables, found, paths)
            statement = connection.compile(whole)
            summing.result()
        except BaseException:
            connection.con.interrupt()
            raise
    name = gen_name("summarised")
    rows = connection.create_table(name, schema=whole.schema())
    connection.raw_sql(f'INSERT INTO "{name}" BY NAME {statement}')
    return rows


def _in_steps(tables: Tables, paths: ir.Table) -> ir.Table:
    """Sum up, table by table: in one query, most would be computed for each that starts from them."""

    def keep(_: str, table: ir.Table) -> ir.Table:
        return computed_by_spark(table)

    return computed_by_spark(concluded(tables, sampled(tables, None, keep), paths, keep))


def _prepared(tables: Tables, rows_at_a_time: int) -> tuple[Sampled, Callable[[], None]]:
    """Make empty tables of what samples say, and what fills them: the trials of one part after the other.

    The long expressions are compiled once, for trials between two variables of the connection.
    """
    connection = tables.trials.get_backend()
    all_starts = kept_starts(tables)
    connection.create_view("starts_of_all", all_starts, overwrite=True)
    starts = connection.create_table("starts", schema=all_starts.schema(), overwrite=True)
    _narrow(connection, "", "")
    facts = {name: getattr(tables, name) for name in _FACTS} | {"starts": starts}
    views = {
        name: connection.create_view(
            f"{name}_of_part",
            table.filter(table.trial_id.between(getvariable(_FIRST), getvariable(_LAST))),
            overwrite=True,
        )
        for name, table in facts.items()
    }
    steps: list[str] = []
    needed_until: dict[str, str] = {}
    """Of each step that others start from, the last of them."""

    def keep(name: str, table: ir.Table) -> ir.Table:
        connection.create_view(f"{name}_of_part", table, overwrite=True)
        sources = {source.name for source in table.op().find(DatabaseTable)}
        needed_until.update({step: name for step in steps if f"{step}_kept" in sources})
        steps.append(name)
        return connection.create_table(f"{name}_kept", schema=table.schema(), overwrite=True)

    found = sampled(Tables(**{name: views[name] for name in _FACTS}), views["starts"], keep)

    def sum_up() -> None:
        connection.raw_sql("INSERT INTO starts BY NAME FROM starts_of_all")
        for first, last in _parts(tables.trials, starts, rows_at_a_time):
            _narrow(connection, first, last)
            # Ibis would look up and write the same statements for each part anew.
            for name in steps:
                connection.raw_sql(f'INSERT INTO "{name}_kept" BY NAME FROM "{name}_of_part"')
                for over in (step for step, end in needed_until.items() if end == name):
                    connection.raw_sql(f'TRUNCATE "{over}_kept"')

    return found, sum_up


def _narrow(connection: BaseBackend, first: str, last: str) -> None:
    """Choose the trials of the views: from `first` to `last`."""
    for name, trial_id in ((_FIRST, first), (_LAST, last)):
        connection.con.execute(f"SET VARIABLE {name} = ?", [trial_id])


def _parts(trials: ir.Table, starts: ir.Table, rows_at_a_time: int) -> list[tuple[str, str]]:
    """First and last trial_id of each part: whole trials, one at least."""
    counts = starts.group_by("trial_id").aggregate(rows=starts["rows"].sum())
    sizes = dict.fromkeys(trials.trial_id.to_pyarrow().to_pylist(), 0)
    sizes |= {row["trial_id"]: row["rows"] for row in counts.to_pyarrow().to_pylist()}
    parts: list[tuple[str, str]] = []
    room = 0
    for trial_id, rows in sorted(sizes.items()):
        if rows > room or not parts:
            parts.append((trial_id, trial_id))
            room = rows_at_a_time
        parts[-1] = (parts[-1][0], trial_id)
        room -= rows
    return parts
