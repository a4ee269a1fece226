"""What the tests' cache of statements gives is what Ibis writes."""

import ibis
import pyarrow as pa
import pytest
from ibis.backends import pyspark
from ibis.backends.sql import SQLBackend

import compiled_once
from analysis_support import make_campaign
from flowsweep.analysis import summary
from flowsweep.archive import tables_of

ROWS = pa.table({"name": ["a", "b"], "value": [1.5, -1.0]})


def table():
    return ibis.duckdb.connect().create_table("numbers", ROWS)


def test_all_databases_compile_once() -> None:
    assert SQLBackend.compile is compiled_once.compile_once


@pytest.mark.long
def test_a_whole_analysis_has_the_statement_that_ibis_writes() -> None:
    known, said = [], []
    for _ in range(2):
        tables = tables_of(make_campaign(flows=(1,), window_sums=(1 << 18,)))
        connection = tables.trials.get_backend()
        rows = summary(tables)
        said.append(connection.compile(rows))
        known.append(len(compiled_once._statements))
    assert said[0] == said[1] == compiled_once._compile(connection, rows)
    assert known[0] == known[1], "of the same analysis there are two"


@pytest.mark.parametrize(
    "change",
    [
        lambda rows: rows.mutate(more=rows.value + 1.0),
        lambda rows: rows.mutate(more=rows.value + 2.0),
        lambda rows: rows.mutate(more=rows.value - 1.0),
        lambda rows: rows.mutate(more=rows.value * 0.0),
        lambda rows: rows.mutate(more=rows.value * -0.0),
        lambda rows: rows.mutate(other=rows.value + 1.0),
        lambda rows: rows.filter(rows.value == -1),
        lambda rows: rows.filter(rows.value == -2),
        lambda rows: rows.filter(rows.name == "1"),
        lambda rows: rows.limit(1),
        lambda rows: rows.limit(2),
        lambda rows: rows.join(rows.view(), "name"),
        lambda rows: rows.join(ibis.memtable(ROWS), "name"),
        lambda rows: rows.join(ibis.memtable(ROWS.slice(1)), "name", how="left"),
        lambda rows: rows.value.cast("int64").sum(),
        lambda rows: rows.value.cast("int32").sum(),
    ],
)
def test_what_differs_has_a_statement_of_its_own(change) -> None:
    for _ in range(2):
        rows = change(table())
        connection = rows.get_backend()
        assert connection.compile(rows) == compiled_once._compile(connection, rows)


def test_rows_in_memory_are_those_of_the_expression() -> None:
    for value in (3, 4):
        rows = ibis.memtable(pa.table({"value": [value]}))
        assert rows.mutate(twice=rows.value * 2).to_pyarrow().to_pylist() == [
            {"value": value, "twice": 2 * value}
        ]


def test_limits_and_databases_of_another_kind_are_not_mixed_up() -> None:
    rows = table()
    connection = rows.get_backend()
    assert connection.compile(rows, limit=1) != connection.compile(rows)
    unbound = ibis.table({"value": "int64"}, name="numbers").value.sum()
    assert '"value"' in connection.compile(unbound)
    assert "`value`" in pyspark.Backend().compile(unbound)
