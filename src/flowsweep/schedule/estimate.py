"""What a campaign will cost: time and bytes, before any of it runs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from flowsweep import defaults
from flowsweep.plan.model import Link
from flowsweep.schedule.parameters import PathParameters, UdpParameters
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
    return max(_sending_ns(trial) + _drain_ns(trial) for trial in slot.trials) + defaults.TRIAL_OVERHEAD_NS


def _sending_ns(trial: Trial) -> int:
    return trial.parameters.duration_ns + trial.pad_ns


def _drain_ns(trial: Trial) -> int:
    """A sink of datagrams waits for its whole drain, one of a connection only as long as it must."""
    return trial.parameters.wait_ns if isinstance(trial.parameters, UdpParameters) else 0


def _bytes_at_most(trial: Trial, links: Sequence[Link]) -> int | None:
    if isinstance(trial.parameters, PathParameters):
        return trial.parameters.bytes_at_most
    per_flow = trial.parameters.bound_bps
    bounds = [_links_bps(trial, links), per_flow and per_flow * trial.total_flows]
    known = [bound for bound in bounds if bound is not None]
    if not known:
        return None
    return min(known) * _sending_ns(trial) // (8 * defaults.SECOND_NS)


def _links_bps(trial: Trial, links: Sequence[Link]) -> int | None:
    """Add up what the links let through at most: a switch as much as the fewer of its ports, in or out."""
    carried: dict[tuple[str, int], list[tuple[str, str]]] = {}
    for pair in trial.pairs:
        ways = ((link.name, link.direction(*pair)) for link in links)
        name, way = next(((name, way) for name, way in ways if way is not None), ("", None))
        if way is None or way.rate_bps is None:
            return None
        carried.setdefault((name, way.rate_bps), []).append(pair)
    return sum(
        rate_bps * min(len({src for src, _ in pairs}), len({dst for _, dst in pairs}))
        for (_, rate_bps), pairs in carried.items()
    )
