"""The search for the highest rate that is carried: which rate is tried next. Pure; whoever runs it asks.

As the throughput test of RFC 2544, section 26.1, by halving, with a limit in place of no loss at all. The
rates are those of a grid, so that a search that was broken off goes on with the same trials.
"""

from collections.abc import Mapping

from flowsweep.plan.model import RateSearch
from flowsweep.schedule.parameters import UdpParameters
from flowsweep.schedule.trial import Slot, Trial


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


def followed(slot: Slot, carried: Mapping[str, bool]) -> tuple[int, Slot | None]:
    """Follow a search as far as it is known: how many steps that is, and the next one, None at its end.

    Args:
        slot: The first step.
        carried: Whether the rates of trials were carried, by trial_id; others than its own may be in it.
    """
    (first,), search = slot.trials, slot.search
    rates: dict[int, bool] = {}
    while search is not None and (rate_bps := next_rate_bps(search, rates)) is not None:
        step = at_rate(first, rate_bps)
        if step.trial_id not in carried:
            return len(rates), Slot(trials=(step,))
        rates[rate_bps] = carried[step.trial_id]
    return len(rates), None


def at_rate(trial: Trial, rate_sum_bps: int) -> Trial:
    """Return a trial of datagrams with another rate of all its flows."""
    if not isinstance(trial.parameters, UdpParameters):
        raise TypeError(f"a trial of {trial.test} has no rate of all flows")
    paced = {"rate_sum_bps": rate_sum_bps, "rate_bps": rate_sum_bps // trial.total_flows}
    return trial.model_copy(update={"parameters": trial.parameters.model_copy(update=paced)})


def _rate_bps(search: RateSearch, index: int) -> int:
    steps = (1 << search.trials) - 2
    return search.low_bps + index * (search.high_bps - search.low_bps) // steps
