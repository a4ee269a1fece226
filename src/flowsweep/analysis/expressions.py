"""Expressions that are exact and alike on every backend: whole numbers, shares.

Ibis writes `a // b` as the floor of a floating-point quotient, which is wrong near whole numbers beyond 2⁵³.
Here the remainder, which is exact everywhere, is taken off first, so that rounding the quotient can only be
right.

DuckDB has functions of its own where those that every backend has take several times as long.
"""

from collections.abc import Callable, Iterable, Sequence
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


_WIDE = "decimal(38, 0)"
"""What every backend has; a product of two numbers below 2⁵¹ has 31 digits."""
_SHORT = 3_037_000_500
"""The product of two numbers below it fits 63 bits: in bytes and ns, all samples of up to 3 s."""


def quotient(dividend: ir.IntegerValue, divisor: ir.IntegerValue) -> ir.IntegerValue:
    """Divide and round down. Both are nonnegative, the divisor is not 0, the result is below 2⁵¹."""
    if is_duckdb(dividend) and dividend.type().is_integer():
        return divide(dividend, divisor)
    exact = (dividend - dividend % divisor).cast("float64") / divisor
    return exact.round().cast("int64")


def share(total: ir.IntegerValue, part: ir.IntegerValue, whole: ir.IntegerValue) -> ir.IntegerValue:
    """Return ⌊total · part / whole⌋ for 0 ≤ part ≤ whole, total < 2⁵¹, 0 < whole < 2⁴⁹ (in ns: 6 days).

    No trial lasts that long. Where the product may not fit 64 bits, it is a decimal number.
    """
    fits = (total < _SHORT) & (whole < _SHORT)
    wide = quotient(total.cast(_WIDE) * part.cast(_WIDE), whole.cast(_WIDE))
    return ibis.ifelse(fits, quotient(total * part, whole), wide)


def columns_added(rows: ir.Table, parts: Iterable[ir.Table], keys: Sequence[str]) -> ir.Table:
    """Left-join tables of other columns by keys that all of them have, in one SELECT of each column.

    Ibis lists all columns again for each join that something else stands between.
    """
    joined, of_parts = rows, []
    for number, part in enumerate(parts):
        of_part = f"{{name}}_of_{number}"
        of_parts += [of_part.format(name=key) for key in keys]
        joined = joined.left_join(part, list(keys), rname=of_part)
    return joined.drop(*of_parts)


def column_or_null(table: ir.Table, name: str) -> ir.IntegerValue:
    """Return a column of the kernel's, or null where the engine did not record it."""
    return table[name] if name in table.columns else ibis.null("int64")


def not_below_0(value: ir.IntegerValue) -> ir.IntegerValue:
    """Return the value or 0, whichever is greater; null stays null: `greatest` of some backends prefers 0."""
    return value * (value > 0).cast("int64")


def ranked(rows: ir.Table, by: str, *, groups: list[str], ties: str) -> ir.Table:
    """Add `rank` (from 0 in each group, by column `by`, equal ones by `ties`) and `count` (of the group)."""
    order = ibis.window(group_by=groups, order_by=[by, ties])
    return rows.mutate(
        rank=ibis.row_number().over(order), count=ibis._.count().over(ibis.window(group_by=groups))
    )
