"""Functions of DuckDB's own, for where those that every backend has take several times as long."""

from collections.abc import Callable
from typing import Any

import ibis
import ibis.expr.datatypes as dt
import ibis.expr.types as ir
from ibis.expr.operations import DatabaseTable

_Builtin = Callable[[Callable[..., Any]], Callable[..., Any]]
# Ibis has no types for its decorators of user-defined functions.
_of_rows: _Builtin = ibis.udf.scalar.builtin
_of_groups: _Builtin = ibis.udf.agg.builtin


def is_duckdb(value: ir.Value) -> bool:
    """Whether the value is of tables in DuckDB; what is of no table may be computed anywhere."""
    return {table.source.name for table in value.op().find(DatabaseTable)} == {"duckdb"}


@_of_rows
def divide(dividend: dt.int64, divisor: dt.int64) -> dt.int64:
    """Divide and round towards 0."""


@_of_groups
def arg_min(values: dt.int64, order: dt.int64) -> dt.int64:
    """Take the value of the row that comes first; nulls are passed over."""


@_of_groups
def arg_max(values: dt.int64, order: dt.int64) -> dt.int64:
    """Take the value of the row that comes last; nulls are passed over."""


@_of_groups
def quantile_disc(values: dt.int64, share: dt.float64) -> dt.int64:
    """Take the quantile by nearest rank; exact."""


@_of_rows
def getvariable(called: dt.string) -> dt.string:
    """Read a variable of the connection."""
