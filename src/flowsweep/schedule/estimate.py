"""What a campaign will cost: time and bytes, before any of it runs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from flowsweep import defaults
from flowsweep.plan.hosts.expansion import HostPair
from flowsweep.plan.links.model import Link
from flowsweep.plan.searching.model import BestSearch, OfPlateau, first_windows
from flowsweep.schedule.parameters import Parameters
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
    is_about: bool = False
    """Whether it may be more: sources send by time."""


def estimate(slots: Iterable[Slot], links: Sequence[Link]) -> Estimate:
    """Estimate what slots will take over the links of a lab, if there is one."""
    trials = duration_ns = total_bytes = unbounded = 0
    is_about = False
    for slot in slots:
        trials += slot.trial_count
        duration_ns += slot_duration_ns(slot) * slot.whole_steps
        for trial in slot.trials:
            sent = [sent_by(one, links) for one in (trial, *slot.alternatives)]
            is_about |= any(one.is_about for of_trial in sent for one in of_trial)
            bounds = list(map(_added, sent))
            known = [bound for bound in bounds if bound is not None]
            unbounded += slot.steps if len(known) < len(bounds) else 0
            spared_bytes = _spared_bytes(slot, [own for own, *_ in sent])
            is_about |= spared_bytes > 0
            total_bytes += max(known, default=0) * slot.whole_steps - spared_bytes
    return Estimate(trials, duration_ns, None if unbounded else total_bytes, unbounded, is_about)


def _spared_bytes(slot: Slot, sent: Sequence["Sent"]) -> int:
    """How much less a search sends than its trials could, as `at_most.bytes` ends it."""
    search = slot.search
    if not isinstance(search, OfPlateau | BestSearch) or search.bytes_max is None:
        return 0
    each = max((one.bytes_at_most for one in sent if one.bytes_at_most is not None), default=0)
    # Nothing is known before the first round, which is not bounded.
    first = len(slot.planned) if isinstance(search, BestSearch) else first_windows(search)
    within = max(min(first, slot.whole_steps) * each, search.bytes_max)
    return max(0, slot.whole_steps * each - within)


def goodput_at_most_bps(trial: Trial, links: Sequence[Link]) -> int | None:
    """What a trial itself carries at most over the links of a lab, if there is one; None without a bound.

    Unlike its bytes, it has no part of what is left in buffers when sources stop.
    """
    trial = largest_step(trial)
    parameters, pairs = trial.parameters, trial.pairs
    bounds = [carried_bps(links, pairs, parameters.paths)]
    if parameters.bound_bps is not None:
        bounds.append(parameters.bound_bps * parameters.flows * len(pairs))
    return min((bound for bound in bounds if bound is not None), default=None)


def slot_duration_ns(slot: Slot) -> int:
    """Return how long a slot occupies its hosts; of a search, each step of it."""
    return max(trial.span_ns for trial in slot.planned) + defaults.TRIAL_OVERHEAD_NS


@dataclass(frozen=True, slots=True)
class Sent:
    """What some of the hosts of a trial send: those that it is about, or one with background traffic."""

    parameters: Parameters
    pairs: tuple[HostPair, ...]
    pad_ns: int
    bytes_at_most: int | None
    """Application bytes of all pairs together, as if they had their links alone; None without a bound."""
    is_about: bool
    """Whether it may be more: sources send by time."""

    def bytes_over(self, pairs: int, rate_bps: int | None) -> int | None:
        """What some of the pairs send at most over a link of some rate."""
        return self.parameters.bytes_at_most(pairs, rate_bps, self.pad_ns)


def sent_by(trial: Trial, links: Sequence[Link]) -> tuple[Sent, ...]:
    """What is sent in a trial, and as background traffic beside it; of a search in the largest step."""
    trial = largest_step(trial)
    senders = [(trial.parameters, trial.pairs)]
    senders += [
        (background.parameters, ((background.src, background.dst),)) for background in trial.background
    ]
    return tuple(_sent(parameters, pairs, trial.pad_ns, links) for parameters, pairs in senders)


def _sent(parameters: Parameters, pairs: tuple[HostPair, ...], pad_ns: int, links: Sequence[Link]) -> Sent:
    links_bps = carried_bps(links, pairs, parameters.paths)
    return Sent(parameters, pairs, pad_ns, *parameters.bytes_bound(len(pairs), links_bps, pad_ns))


def _added(sent: Iterable[Sent]) -> int | None:
    """Application bytes of a trial and its background traffic; None if nothing in the plan bounds them."""
    sizes = [one.bytes_at_most for one in sent]
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None
