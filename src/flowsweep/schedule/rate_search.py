"""The steps of a search for the highest rate that is carried, as trials."""

from collections.abc import Mapping

from flowsweep.schedule.halving import next_rate_bps
from flowsweep.schedule.tests.udp import UdpParameters
from flowsweep.schedule.trial import Slot, Trial


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
