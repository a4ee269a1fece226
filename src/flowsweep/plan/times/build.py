"""From the keys of a sweep and its campaign to when the sweep runs."""

from flowsweep import defaults
from flowsweep.plan.campaign import Timing
from flowsweep.plan.input import CampaignTable
from flowsweep.plan.sweeps.table import SweepTable
from flowsweep.plan.tests.registry import PLAN_TESTS
from flowsweep.plan.times.keys import TimesKeys


def times_of(campaign: CampaignTable, sweep: SweepTable) -> TimesKeys:
    """Put together the times of a sweep, each key with its own value or the campaign's.

    A sweep that says itself when it runs takes neither `every` nor `at` from the campaign; `between` is of
    `every`, whosever that is.
    """
    own = sweep.model_copy(update={"every": None}) if PLAN_TESTS[sweep.test].every_of_probes else sweep
    when = campaign if own.every is None and own.at is None else own
    return TimesKeys.model_construct(
        every=when.every,
        at=when.at,
        between=own.between or (campaign.between if when.every is not None else None),
        jitter=campaign.jitter if own.jitter is None else own.jitter,
        slip=campaign.slip if own.slip is None else own.slip,
    )


def has_times(campaign: CampaignTable, sweep: SweepTable) -> bool:
    """Whether a sweep runs more than once, also where something is wrong with when."""
    times = times_of(campaign, sweep)
    return times.every is not None or times.at is not None


def timing_of(campaign: CampaignTable, sweep: SweepTable) -> Timing | None:
    """When a sweep without problems runs; None if once."""
    if not has_times(campaign, sweep):
        return None
    times = times_of(campaign, sweep)
    usual_ns = defaults.SLIP_OF_DAY_NS if times.every is None else (times.every - (times.jitter or 0)) // 2
    return Timing(
        every_ns=times.every,
        between_minutes=times.between,
        at_minutes=tuple(sorted(times.at or ())),
        timezone=campaign.timezone,
        jitter_ns=times.jitter or 0,
        slip_ns=usual_ns if times.slip is None else times.slip,
    )
