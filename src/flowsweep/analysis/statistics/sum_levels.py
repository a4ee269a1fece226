"""Sums over flows that were asked for, as trials have them: some numbers of flows do not divide them."""

from collections.abc import Mapping, Sequence

SUMS = frozenset({"window_sum_bytes", "rate_sum_bps"})
"""A value times flows: a sum that was asked for comes out a little short where flows do not divide it."""


def sum_levels(rows: Sequence[Mapping[str, object]], axis: str) -> dict[float, float]:
    """The sum that was asked for, by each that came out: less than the highest number of flows apart is one.

    Args:
        rows: Of one sweep, with flows.
        axis: One of `SUMS`.
    """
    short = max((count for row in rows if isinstance(count := row["flows"], int)), default=1) or 1
    found = {value for row in rows if isinstance(value := row.get(axis), int | float)}
    levels: dict[float, float] = {}
    above: float | None = None
    for value in sorted(found, reverse=True):
        above = value if above is None or above - value >= short else above
        levels[value] = above
    return levels
