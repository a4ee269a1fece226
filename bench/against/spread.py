"""Medians and quartiles over the rounds of a benchmark."""

from collections.abc import Sequence
from statistics import median, quantiles


def spread(values: Sequence[float]) -> dict[str, float]:
    """As a result has them."""
    low, _, high = quantiles(values, n=4)
    return {"low": round(low, 3), "median": round(median(values), 3), "high": round(high, 3)}


def seconds_spread(seconds: Sequence[float]) -> str:
    """As a table has them: `1.00 s (0.90 to 1.10)`."""
    low, _, high = quantiles(seconds, n=4)
    return f"{median(seconds):.2f} s ({low:.2f} to {high:.2f})"
