"""The rates of a search for the highest one that is carried: which is tried next. Pure; whoever runs it asks.

As the throughput test of RFC 2544, section 26.1, by halving, with a limit in place of no loss at all. The
rates are those of a grid, so that a search that was broken off goes on with the same trials.
"""

from collections.abc import Mapping

from flowsweep.plan.searching.model import RateSearch


def first_rate_bps(search: RateSearch) -> int:
    """Return the rate that every search begins with, that in the middle."""
    rate_bps = next_rate_bps(search, {})
    return search.low_bps if rate_bps is None else rate_bps


def next_rate_bps(search: RateSearch, carried: Mapping[int, bool]) -> int | None:
    """Return the rate to try next, or None at the end of the search.

    Args:
        search: Its bounds, resolution and limit.
        carried: Whether each rate that was tried was carried.
    """
    below, above = -1, (1 << search.trials) - 1
    while above - below > 1:
        middle = (below + above) // 2
        rate_bps = _rate_bps(search, middle)
        if rate_bps not in carried:
            return rate_bps
        below, above = (middle, above) if carried[rate_bps] else (below, middle)
    return None


def _rate_bps(search: RateSearch, index: int) -> int:
    steps = (1 << search.trials) - 2
    return search.low_bps + index * (search.high_bps - search.low_bps) // steps
