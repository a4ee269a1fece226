"""Integer arithmetic that is exact on every backend.

Ibis writes `a // b` as the floor of a floating-point quotient, which is wrong near whole numbers beyond 2⁵³.
Here the remainder, which is exact everywhere, is taken off first, so that rounding the quotient can only be
right.
"""

import ibis
import ibis.expr.types as ir

from flowsweep.analysis.duckdb_functions import divide, is_duckdb

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
