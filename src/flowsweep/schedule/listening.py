"""Whether hosts have ports enough for trials that may run at the same time."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from flowsweep.grouping import grouped
from flowsweep.plan.hosts.expansion import HostPair
from flowsweep.plan.model import Host, Plan
from flowsweep.schedule.grid import Point
from flowsweep.schedule.trial import Trial
from flowsweep.wording import counted


def port_remarks(plan: Plan, points: Sequence[Point]) -> Iterator[str]:
    """Find hosts with ports for each trial, but not for all that may listen there at the same time.

    Such trials fail only if they do meet at once, so that the plan is not wrong.
    """
    hosts = {host.name: host for host in plan.hosts}
    beside = {sweep.name for sweep in plan.sweeps if not sweep.exclusive}
    ranges = {name: host.ports for name, host in hosts.items() if host.ports is not None}
    if plan.campaign.concurrent == 1 or not beside or not ranges:
        return
    needs = [(point.sweep in beside, _listens(slot, hosts)) for point in points for slot in _slots(point)]
    for name, (first, last) in ranges.items():
        shared = [need[name] for is_beside, need in needs if is_beside and need[name]]
        alone = [need[name] for is_beside, need in needs if not is_beside and need[name]]
        at_once = sorted([*shared * plan.campaign.repeats, max(alone, default=0)], reverse=True)
        needed, there = sum(at_once[: plan.campaign.concurrent]), last - first + 1
        if shared and needed > there:
            yield (
                f"hosts.{name}: {counted(there, 'port')}, where trials at the same time with "
                f"exclusive = false may want up to {needed}: one that finds none fails (no_free_port); "
                "widen `ports`"
            )


def _slots(point: Point) -> Iterable[Sequence[Trial]]:
    trials = point.trials(repeat=1)
    return [trials] if point.directions == "simultaneous" else [(trial,) for trial in trials]


def _listens(trials: Sequence[Trial], hosts: Mapping[str, Host]) -> Counter[str]:
    """How many pairs of hosts each host listens for, bursts of the same traffic once."""
    found = Counter[str]()
    for trial in trials:
        bursts = grouped(trial.background, lambda one: (one.name, one.src, one.dst))
        for pair in (*trial.pairs, *((src, dst) for _, src, dst in bursts)):
            found.update(_listener(pair, hosts))
    return found


def _listener(pair: HostPair, hosts: Mapping[str, Host]) -> list[str]:
    """The end that listens, which is the sink where it can; of a server that is none of ours."""
    src, dst = (hosts[name] for name in pair)
    if src.server is not None or dst.server is not None:
        return []
    return [host.name for host in (dst, src) if host.listens][:1]
