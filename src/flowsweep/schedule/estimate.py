"""What a campaign will cost: time and bytes, before any of it runs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from flowsweep import defaults
from flowsweep.plan.model import Link
from flowsweep.schedule.trial import Slot, Trial


@dataclass(frozen=True, slots=True)
class Estimate:
    """What slots will take."""

    trials: int
    duration_ns: int
    """Durations, pads and what a trial takes beside them; lost sessions and slow drains are not in it."""
    bytes_at_most: int | None
    """Application bytes, for as long as links and rates bound them; None if a trial has no bound."""
    unbounded_trials: int
    """Trials whose rate nothing in the plan limits."""


def estimate(slots: Iterable[Slot], links: Sequence[Link]) -> Estimate:
    """Estimate what slots will take over the links of a lab, if there is one."""
    trials = duration_ns = total_bytes = unbounded = 0
    for slot in slots:
        trials += len(slot.trials)
        duration_ns += slot_duration_ns(slot)
        for trial in slot.trials:
            bound = _bytes_at_most(trial, links)
            unbounded += bound is None
            total_bytes += bound or 0
    return Estimate(trials, duration_ns, None if unbounded else total_bytes, unbounded)


def slot_duration_ns(slot: Slot) -> int:
    """Return how long a slot occupies its hosts."""
    return max(_sending_ns(trial) for trial in slot.trials) + defaults.TRIAL_OVERHEAD_NS


def _sending_ns(trial: Trial) -> int:
    return trial.parameters.duration_ns + trial.parameters.pad_ns


def _bytes_at_most(trial: Trial, links: Sequence[Link]) -> int | None:
    parameters = trial.parameters
    rates = [link.rate_bps for link in links if set(link.between) == {trial.src, trial.dst}]
    per_flow = [parameters.rate_bps, parameters.pacing_rate_bps]
    bounds = [*rates, *(rate and rate * parameters.flows for rate in per_flow)]
    known = [bound for bound in bounds if bound is not None]
    if not known:
        return None
    return min(known) * _sending_ns(trial) // (8 * defaults.SECOND_NS)
