"""The analysis can be written for another backend, and its integers are exact."""

from dataclasses import fields

import ibis
import ibis.expr.types as ir
import pyarrow as pa
import pytest

from analysis_support import make_campaign
from flowsweep.analysis import bins, cells, flow_states, intervals, points
from flowsweep.analysis.binning.alignment import kept_starts
from flowsweep.analysis.binning.byte_balance import balance
from flowsweep.analysis.binning.shorter_durations import durations_cut
from flowsweep.analysis.expressions import quotient, share
from flowsweep.analysis.summarising.samples import sampled
from flowsweep.analysis.summarising.summary import concluded
from flowsweep.analysis.tests.path import path_facts
from flowsweep.analysis.tests.tcp.slow_start import slow_starts
from flowsweep.archive import Tables, tables_of
from long_tests import long_after

pytestmark = pytest.mark.whole


@pytest.mark.parametrize("dialect", long_after(0, of=["duckdb", "clickhouse"]))
def test_the_whole_analysis_compiles(dialect: str) -> None:
    """The summary in steps, as a backend other than DuckDB takes them."""
    bound = tables_of(make_campaign(flows=(1,), window_sums=(1 << 18,)))
    names = [field.name for field in fields(Tables)]
    tables = Tables(**{name: ibis.table(getattr(bound, name).schema(), name=name) for name in names})
    kept: list[ir.Table] = []

    def keep(name: str, table: ir.Table) -> ir.Table:
        kept.append(table)
        return ibis.table(table.schema(), name=name)

    summary = concluded(tables, sampled(tables, None, keep), path_facts(bound), keep)
    asked = points(keep("summary", summary), tables.trials)
    checked = balance(tables.flows, tables.samples, bins(tables.samples, tables.trials, tables.flows))
    states = flow_states(tables.samples, tables.trials, tables.flows)
    totals = intervals(bins(tables.samples, tables.trials, tables.flows), tables.trials)
    cut = durations_cut(totals, tables.trials)
    reached = slow_starts(tables.samples, tables.trials, kept_starts(tables), asked)
    for expression in (*kept, asked, cells(asked), checked, states, cut, reached):
        sql = ibis.to_sql(expression, dialect=dialect)
        assert "SELECT" in sql
        assert "FLOOR" not in sql.upper(), "a floored quotient of floats is not exact"


@pytest.mark.parametrize("dividend", [0, 1, 2**53 - 1, 2**53 + 1, 2**62 + 3])
@pytest.mark.parametrize("divisor", [3, 7, 10**9, 2**53 + 1])
def test_quotients_are_exact(dividend: int, divisor: int) -> None:
    if dividend // divisor >= 2**51:
        dividend //= 2**11
    rows = ibis.duckdb.connect().create_table("numbers", pa.table({"a": [dividend], "b": [divisor]}))
    assert quotient(rows.a, rows.b).to_pyarrow().to_pylist() == [dividend // divisor]


@pytest.mark.parametrize("whole", [1, 7, 10**9, 40 * 60 * 10**9, 2 * 24 * 3600 * 10**9, 2**49 - 1])
@pytest.mark.parametrize("total", [0, 1, 2**31 + 1, 2**50 + 1])
def test_shares_are_exact_for_samples_of_any_length(total: int, whole: int) -> None:
    parts = sorted({0, 1, whole // 3, whole // 2 + 1, whole - 1, whole})
    table = pa.table({"part": parts, "total": [total] * len(parts), "whole": [whole] * len(parts)})
    rows = ibis.duckdb.connect().create_table("numbers", table)
    found = share(rows.total, rows.part, rows.whole).to_pyarrow().to_pylist()
    assert found == [total * part // whole for part in parts]
