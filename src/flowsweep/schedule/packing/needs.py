"""What a slot has for itself while it runs: its hosts, and a place on each named link between them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from flowsweep.plan.model import Plan
from flowsweep.schedule.path import links_of
from flowsweep.schedule.trial import Slot


class Need(NamedTuple):
    """A host, or a link."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True)
class Sharing:
    """How many slots may run at the same time, and what they may not share."""

    at_once: int = 1
    needs: Callable[[Slot], frozenset[Need]] = lambda slot: frozenset(_hosts(slot))
    more_places: Mapping[Need, int] = field(default_factory=dict)
    """How many slots may have a need at the same time, where it is not one."""

    def places(self, need: Need) -> int:
        """How many slots may have it at the same time."""
        return self.more_places.get(need, 1)


ONE_AT_A_TIME = Sharing()


def sharing_of(plan: Plan) -> Sharing:
    """What slots of a plan may not share.

    They are hosts; emulated links, which bear one slot each; named links of real paths, which bear as many as
    they say. A sweep that the plan lets run beside others needs nothing.
    """
    beside = {sweep.name for sweep in plan.sweeps if not sweep.exclusive}

    def needs(slot: Slot) -> frozenset[Need]:
        if all(trial.sweep in beside for trial in slot.trials):
            return frozenset()
        return frozenset((*_hosts(slot), *_links(slot, plan)))

    places = {Need("link", link.name): link.concurrent for link in plan.named_links}
    return Sharing(plan.campaign.concurrent, needs, places)


def _hosts(slot: Slot) -> Iterator[Need]:
    return (Need("host", host) for trial in slot.trials for host in trial.hosts)


def _links(slot: Slot, plan: Plan) -> Iterator[Need]:
    for trial in slot.trials:
        for src, dst in (*trial.pairs, *((one.src, one.dst) for one in trial.background)):
            for name, _ in links_of((src, dst), plan.links, None):
                yield Need("link", name)
            for link in plan.named_links:
                if link.joins(src, dst):
                    yield Need("link", link.name)
