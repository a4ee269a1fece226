"""A step of a search for the highest rate that is carried, as a trial."""

from flowsweep.schedule.trial import Trial


def at_rate(trial: Trial, rate_sum_bps: int) -> Trial:
    """Return a trial of datagrams with another rate of all its flows."""
    paced = trial.parameters.at_rate_sum(rate_sum_bps, trial.total_flows)
    return trial.model_copy(update={"parameters": paced})
