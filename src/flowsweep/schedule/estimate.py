"""What a campaign will cost: time and bytes, before any of it runs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from flowsweep import defaults
from flowsweep.plan.hosts.expansion import HostPair
from flowsweep.plan.links.model import Link
from flowsweep.schedule.path import carried_bps
from flowsweep.schedule.search.steps import largest_step
from flowsweep.schedule.trial import Slot, Trial


@dataclass(frozen=True, slots=True)
class Estimate:
    """What slots will take."""

    trials: int
    duration_ns: int
    """Durations, pads and what a trial takes beside them, one slot after the other; lost sessions and slow
    drains are not in it."""
    bytes_at_most: int | None
    """Application bytes, for as long as links and rates bound them; None if a trial has no bound."""
    unbounded_trials: int
    """Trials whose rate nothing in the plan limits."""


def estimate(slots: Iterable[Slot], links: Sequence[Link]) -> Estimate:
    """Estimate what slots will take over the links of a lab, if there is one."""
    trials = duration_ns = total_bytes = unbounded = 0
    for slot in slots:
        trials += slot.trial_count
        duration_ns += slot_duration_ns(slot) * slot.whole_steps
        for trial in slot.trials:
            bounds = [bytes_at_most(one, links) for one in (trial, *slot.alternatives)]
            known = [bound for bound in bounds if bound is not None]
            unbounded += slot.steps if len(known) < len(bounds) else 0
            total_bytes += max(known, default=0) * slot.whole_steps
    return Estimate(trials, duration_ns, None if unbounded else total_bytes, unbounded)


def slot_duration_ns(slot: Slot) -> int:
    """Return how long a slot occupies its hosts; of a search, each step of it."""
    return max(_span_ns(trial) for trial in slot.planned) + defaults.TRIAL_OVERHEAD_NS


def _span_ns(trial: Trial) -> int:
    """From when the first of a trial and its background traffic starts until the last one is over."""
    own_ns = trial.parameters.duration_ns + trial.pad_ns + trial.parameters.drain_ns
    starts = [background.start_ns for background in trial.background]
    ends = [
        background.start_ns + background.parameters.duration_ns + background.parameters.drain_ns
        for background in trial.background
    ]
    return max([own_ns, *ends]) - min([0, *starts])


@dataclass(frozen=True, slots=True)
class Sent:
    """What some of the hosts of a trial send: those that it is about, or one with background traffic."""

    pairs: tuple[HostPair, ...]
    paths: int | None
    """Of links between two hosts, how many of the first ones it takes; None: all."""
    bytes_at_most: int | None
    """Application bytes of all pairs together, as if they had their links alone; None without a bound."""


def sent_by(trial: Trial, links: Sequence[Link]) -> tuple[Sent, ...]:
    """What is sent in a trial, and as background traffic beside it; of a search in the largest step."""
    trial = largest_step(trial)
    senders = [(trial.parameters, trial.pairs)]
    senders += [
        (background.parameters, ((background.src, background.dst),)) for background in trial.background
    ]
    return tuple(
        Sent(
            pairs,
            parameters.paths,
            parameters.bytes_at_most(len(pairs), carried_bps(links, pairs, parameters.paths), trial.pad_ns),
        )
        for parameters, pairs in senders
    )


def bytes_at_most(trial: Trial, links: Sequence[Link]) -> int | None:
    """Application bytes of a trial and its background traffic, each as if it had its links alone.

    Returns:
        Of a step of a search those of the step that sends most; None if nothing in the plan bounds them.
    """
    sizes = [sent.bytes_at_most for sent in sent_by(trial, links)]
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None
