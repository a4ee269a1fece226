"""Rows of the summary, many times over: Ibis takes longer to write its statement than DuckDB to run it."""

from dataclasses import fields
from typing import Any

import ibis.expr.types as ir
from ibis import Schema
from ibis.expr.operations import DatabaseTable
from ibis.util import gen_name

from analysis_support import SECOND_NS, make_flows, make_record, make_samples, make_trial
from flowsweep.analysis import summary
from flowsweep.analysis.tests.path import path_facts
from flowsweep.archive import Archive, Tables, tables_of
from flowsweep.prepared.summary import summary_of_archive, summary_of_outcomes
from flowsweep.run.outcome import TrialOutcome

Row = dict[str, Any]

_statements: dict[object, tuple[str, Schema]] = {}
"""By names and columns of the tables: nothing else does a statement depend on."""


def summed(*outcomes: TrialOutcome) -> list[Row]:
    """Sum up trials that no archive keeps, by the prepared statement where there is one, as commands do."""
    prepared = summary_of_outcomes(outcomes)
    return summary_rows(tables_of(outcomes)) if prepared is None else prepared.to_pylist()


def archive_rows(archive: Archive) -> list[Row]:
    """Sum up an archive, by the prepared statement where it is for it, as commands do."""
    prepared = summary_of_archive(archive)
    return summary_rows(archive.tables()) if prepared is None else prepared.to_pylist()


def summary_rows(tables: Tables) -> list[Row]:
    """The rows of `summary_table`."""
    return summary_table(tables).to_pyarrow().to_pylist()


def summary_table(tables: Tables) -> ir.Table:
    """Run what `flowsweep.analysis.summary` writes for tables in DuckDB, once for all that starts from it."""
    paths = path_facts(tables)
    sources = [getattr(tables, field.name) for field in fields(Tables)]
    if not all(isinstance(source.op(), DatabaseTable) for source in sources):
        return summary(tables, paths=paths).cache()
    columns = tuple(_columns(source) for source in (*sources, paths))
    connection = tables.trials.get_backend()
    if columns not in _statements:
        rows = summary(tables, paths=paths)
        _statements[columns] = connection.compile(rows), rows.schema()
    statement, schema = _statements[columns]
    name = gen_name("summed")
    table = connection.create_table(name, schema=schema)
    connection.raw_sql(f'INSERT INTO "{name}" BY NAME {statement}')
    return table


def _columns(source: ir.Table) -> object:
    return source.get_name(), tuple(source.schema().items())


def uneven(counts: list[int], *, flows: int = 1, **parameters: Any) -> TrialOutcome:
    """Make a trial whose flows each carry so many bytes in each second, in samples of a second."""
    parameters = {"duration_ns": len(counts) * SECOND_NS, "omit_ns": 0} | parameters
    trial = make_trial(flows=flows, **parameters)
    rows = [
        {"role": role, "flow": flow, "start_ns": k * SECOND_NS, "end_ns": (k + 1) * SECOND_NS, "bytes": count}
        for role in ("source", "sink")
        for flow in range(flows)
        for k, count in enumerate(counts)
    ]
    ends = [
        {"role": role, "flow": flow, "bytes": sum(counts)}
        for role in ("source", "sink")
        for flow in range(flows)
    ]
    return TrialOutcome(make_record(trial), make_samples(rows), make_flows(ends))
