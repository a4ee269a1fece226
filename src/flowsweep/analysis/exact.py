"""Integer arithmetic that is exact on every backend.

Ibis writes `a // b` as the floor of a floating-point quotient, which is wrong near whole numbers beyond 2⁵³.
Here the remainder, which is exact everywhere, is taken off first, so that rounding the quotient can only be
right.
"""

import ibis
import ibis.expr.types as ir

_DIGIT_BITS = 13
_DIGITS = 4


def quotient(dividend: ir.IntegerValue, divisor: ir.IntegerValue) -> ir.IntegerValue:
    """Divide and round down. Both are nonnegative, the divisor is not 0, the result is below 2⁵¹."""
    exact = (dividend - dividend % divisor).cast("float64") / divisor
    return exact.round().cast("int64")


def share(total: ir.IntegerValue, part: ir.IntegerValue, whole: ir.IntegerValue) -> ir.IntegerValue:
    """Return ⌊total · part / whole⌋ for 0 ≤ part ≤ whole, 0 < whole < 2⁴⁹ (as nanoseconds: 6 days).

    No trial lasts that long. The product itself may not fit 64 bits, so this is a long division by hand: one
    digit of `part` after the other, each with what the last one left over. No value on the way reaches
    2 · 2⁴⁹ · 2¹³ = 2⁶³.
    """
    per_unit, rest = quotient(total, whole), total % whole
    found = per_unit * part
    left_over: ir.IntegerValue | None = None
    for place in reversed(range(_DIGITS)):
        weight = ibis.literal(1 << (_DIGIT_BITS * place), "int64")
        dividend = rest * (quotient(part, weight) % (1 << _DIGIT_BITS))
        if left_over is not None:
            dividend = left_over * (1 << _DIGIT_BITS) + dividend
        found = found + quotient(dividend, whole) * weight
        left_over = dividend % whole
    return found
