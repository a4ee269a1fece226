"""A step of a search for the highest rate that is carried, as a trial."""

from flowsweep.schedule.tests.udp import UdpParameters
from flowsweep.schedule.trial import Trial


def at_rate(trial: Trial, rate_sum_bps: int) -> Trial:
    """Return a trial of datagrams with another rate of all its flows."""
    if not isinstance(trial.parameters, UdpParameters):
        raise TypeError(f"a trial of {trial.test} has no rate of all flows")
    paced = {"rate_sum_bps": rate_sum_bps, "rate_bps": rate_sum_bps // trial.total_flows}
    return trial.model_copy(update={"parameters": trial.parameters.model_copy(update=paced)})
