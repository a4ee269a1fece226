"""The search for the highest rate, in whichever way a plan asks for it."""

from flowsweep import defaults
from flowsweep.plan.searching.keys import KNEE, RateRange
from flowsweep.plan.searching.model import RateSearch
from flowsweep.plan.sweeps.table import SweepTable


def rate_search_of(sweep: SweepTable) -> RateSearch | None:
    """Return what a sweep searches, if it does, and its keys do not contradict that."""
    asked, rates = sweep.rate_search, sweep.rate_sum
    if asked is not None:
        return RateSearch(
            low_bps=asked.low,
            high_bps=asked.high,
            resolution_bps=asked.resolution,
            loss_max=asked.loss_max,
            delay_max_ns=asked.delay_max,
        )
    if sweep.find != KNEE or not isinstance(rates, RateRange):
        return None
    return RateSearch(
        low_bps=rates.low,
        high_bps=rates.high,
        resolution_bps=max(round(rates.low * sweep.precision), defaults.RATE_RESOLUTION_MIN_BPS),
        loss_max=defaults.LOSS_LIMIT,
        delay_max_ns=sweep.delay_max,
    )
