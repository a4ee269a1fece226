"""Quantiles that are exact and alike on every backend.

The backends' own are approximate on some, and interpolate differently. The values of a group are collected
and sorted: a rank for each row, from a window function, would carry all rows through a sort to keep one. Of
very many rows DuckDB selects with its own quantiles, which are exact: a fifth of the time.
"""

import ibis
import ibis.expr.types as ir

from flowsweep.analysis.expressions import is_duckdb, quantile_disc, quotient


def tenfold_decile(values: ir.ArrayValue, *, decile: int) -> ir.IntegerValue:
    """Return ten times the decile of a sorted array of whole numbers, linearly interpolated: a whole number.

    With n values x₀ ≤ x₁ ≤ …, h = (n - 1) · decile / 10: x⌊h⌋ + (h - ⌊h⌋) · (x⌊h⌋₊₁ - x⌊h⌋). This is type 7
    of Hyndman & Fan, "Sample quantiles in statistical packages", 1996; decile 5 is the median. Null
    of no values, also where a backend collects an empty array of them.
    """
    last = values.length() - 1
    position = last * decile
    below, tenths = quotient(position, ibis.literal(10, "int64")), position % 10
    found = _at(values, below) * (10 - tenths) + _at(values, ibis.least(below + 1, last)) * tenths
    return ibis.cases((values.length() > 0, found))


def nearest_rank(values: ir.ArrayValue, *, decile: int) -> ir.Value:
    """Return the decile by nearest rank of a sorted array, as `nearest_percentile`."""
    return nearest_percentile(values, percent=10 * decile)


def nearest_percentile(values: ir.ArrayValue, *, percent: int, of: ir.IntegerValue | None = None) -> ir.Value:
    """Return the percentile by nearest rank of a sorted array: x_(⌈n · percent / 100⌉ - 1).

    With `of`, that many values there are, and those that the array lacks are infinitely large (RFC 2681,
    4.1): null where the percentile is one of them.
    """
    count = values.length() if of is None else of
    place = quotient(count * percent + 99, ibis.literal(100, "int64")) - 1
    return ibis.cases(((values.length() > 0) & (place < values.length()), _at(values, place)))


def middle(values: ir.ArrayValue, *, of: ir.IntegerValue | None = None) -> ir.FloatingValue:
    """Return the median of a sorted array: the value in the middle, or the mean of the two there.

    With `of`, as `nearest_percentile`.
    """
    count = values.length() if of is None else of
    last, two = count - 1, ibis.literal(2, "int64")
    above = quotient(last + 1, two)
    found = (_at(values, quotient(last, two)) + _at(values, above)) / 2
    return ibis.cases(((values.length() > 0) & (above < values.length()), found))


def for_nearest_rank(values: ir.IntegerColumn, *, decile: int) -> ir.Value:
    """Aggregate a column of very many rows for `nearest_rank_of`; null is no value."""
    return quantile_disc(values, decile / 10) if is_duckdb(values) else values.collect()


def nearest_rank_of(gathered: ir.Value, *, decile: int) -> ir.Value:
    """Return the decile by nearest rank of what `for_nearest_rank` has aggregated; null of no values."""
    if isinstance(gathered, ir.ArrayValue):
        return nearest_rank(gathered.sort(), decile=decile)
    return gathered


def for_median(values: ir.IntegerColumn) -> ir.Value:
    """Aggregate a column of very many rows for `median_of`; null is no value."""
    return values.quantile(0.5) if is_duckdb(values) else values.collect()


def median_of(gathered: ir.Value) -> ir.FloatingValue:
    """Return the median of what `for_median` has aggregated, as `middle`; null of no values."""
    if isinstance(gathered, ir.ArrayValue):
        return middle(gathered.sort())
    return gathered


def _at(values: ir.ArrayValue, index: ir.IntegerValue) -> ir.Value:
    return values[index.cast("int32")]
