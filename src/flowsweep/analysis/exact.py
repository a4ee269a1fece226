"""Integer arithmetic that is exact on every backend.

Ibis writes `a // b` as the floor of a floating-point quotient, which is wrong near whole numbers beyond 2⁵³.
Here the remainder, which is exact everywhere, is taken off first, so that rounding the quotient can only be
right.
"""

import ibis
import ibis.expr.types as ir

_HALF_BITS = 20


def quotient(dividend: ir.IntegerValue, divisor: ir.IntegerValue) -> ir.IntegerValue:
    """Divide and round down. Both are nonnegative, the divisor is not 0, the result is below 2⁵¹."""
    exact = (dividend - dividend % divisor).cast("float64") / divisor
    return exact.round().cast("int64")


def share(total: ir.IntegerValue, part: ir.IntegerValue, whole: ir.IntegerValue) -> ir.IntegerValue:
    """Return ⌊total · part / whole⌋ for 0 ≤ part ≤ whole, 0 < whole < 2⁴¹ (as nanoseconds: 36 minutes).

    The product itself may not fit 64 bits, so this is a long division by hand: `total` and `part` are split
    into what fits.
    """
    per_unit, rest = quotient(total, whole), total % whole
    high, low = quotient(part, ibis.literal(1 << _HALF_BITS, "int64")), part % (1 << _HALF_BITS)
    high_product = rest * high
    low_dividend = (high_product % whole) * (1 << _HALF_BITS) + rest * low
    return per_unit * part + quotient(high_product, whole) * (1 << _HALF_BITS) + quotient(low_dividend, whole)
