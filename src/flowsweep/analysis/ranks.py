"""Quantiles by rank: the backends' own are approximate on some, and interpolate differently."""

import ibis
import ibis.expr.types as ir

from flowsweep.analysis.exact import quotient


def ranked(rows: ir.Table, by: str, *, groups: list[str], ties: str) -> ir.Table:
    """Add `rank` (from 0 in each group, by column `by`, equal ones by `ties`) and `count` (of the group)."""
    order = ibis.window(group_by=groups, order_by=[by, ties])
    return rows.mutate(
        rank=ibis.row_number().over(order), count=ibis._.count().over(ibis.window(group_by=groups))
    )


def tenfold_decile(rows: ir.Table, column: str, *, decile: int) -> ir.IntegerScalar:
    """Aggregate of `ranked` rows: ten times the decile, linearly interpolated, a whole number.

    With n values x₀ ≤ x₁ ≤ …, h = (n - 1) · decile / 10: x⌊h⌋ + (h - ⌊h⌋) · (x⌊h⌋₊₁ - x⌊h⌋). This is type 7
    of Hyndman & Fan, "Sample quantiles in statistical packages", 1996; decile 5 is the median.
    """
    position = (rows["count"] - 1) * decile
    below = quotient(position, ibis.literal(10, "int64"))
    tenths = position % 10
    weight = ibis.cases((rows["rank"] == below, 10 - tenths), (rows["rank"] == below + 1, tenths), else_=0)
    return (weight * rows[column]).sum().cast("int64")
