"""Functions of DuckDB's own, for where those that every backend has take several times as long."""

import ibis
import ibis.expr.datatypes as dt
import ibis.expr.types as ir
from ibis.expr.operations import DatabaseTable


def is_duckdb(value: ir.Value) -> bool:
    """Whether the value is of tables in DuckDB; what is of no table may be computed anywhere."""
    return {table.source.name for table in value.op().find(DatabaseTable)} == {"duckdb"}


# Ibis has no types for its decorators of user-defined functions.
@ibis.udf.scalar.builtin  # type: ignore[untyped-decorator]
def divide(dividend: dt.int64, divisor: dt.int64) -> dt.int64:
    """Divide and round towards 0."""


@ibis.udf.agg.builtin  # type: ignore[untyped-decorator]
def arg_min(values: dt.int64, order: dt.int64) -> dt.int64:
    """Take the value of the row that comes first; nulls are passed over."""


@ibis.udf.agg.builtin  # type: ignore[untyped-decorator]
def arg_max(values: dt.int64, order: dt.int64) -> dt.int64:
    """Take the value of the row that comes last; nulls are passed over."""


@ibis.udf.agg.builtin  # type: ignore[untyped-decorator]
def quantile_disc(values: dt.int64, share: dt.float64) -> dt.int64:
    """Take the quantile by nearest rank; exact."""


@ibis.udf.scalar.builtin(name="getvariable")  # type: ignore[untyped-decorator]
def variable(called: dt.string) -> dt.string:
    """Read a variable of the connection."""
