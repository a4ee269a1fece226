"""What packing comes to if trials take as long as expected, and what no order could do better."""

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from flowsweep.schedule.packing.needs import Need, Sharing
from flowsweep.schedule.packing.rule import Job, Packing

_ENDS_OF_A_PATH = 2


@dataclass(frozen=True, slots=True)
class Packed:
    """Jobs by their expected times."""

    begins_ns: dict[Job, int]
    """From the begin of the first one."""
    lasts_ns: int
    """Until the last one is over."""
    bound_ns: int
    """No order takes less."""

    @property
    def most_at_once(self) -> int:
        """How many run at the same time, at most."""
        return self._most(lambda _: 1)

    @property
    def most_trials_at_once(self) -> int:
        """How many trials that is: two of each slot that has both directions at once."""
        return self._most(lambda job: len(job.slot.trials))

    def _most(self, counts: Callable[[Job], int]) -> int:
        moments = [(begin_ns, counts(job)) for job, begin_ns in self.begins_ns.items()]
        moments += [(begin_ns + job.lasts_ns, -counts(job)) for job, begin_ns in self.begins_ns.items()]
        return max(accumulate((change for _, change in sorted(moments)), initial=0))


def packed(jobs: Sequence[Job], sharing: Sharing) -> Packed:
    """Run jobs in virtual time."""
    packing = Packing(jobs, sharing)
    begins_ns: dict[Job, int] = {}
    running: list[tuple[int, int, Job]] = []
    now_ns = 0
    while True:
        for job in packing.begin(now_ns):
            heapq.heappush(running, (now_ns + job.lasts_ns, len(begins_ns), job))
            begins_ns[job] = now_ns
        if not running:
            return Packed(begins_ns, now_ns, bound_ns(jobs, sharing))
        now_ns = running[0][0]
        while running and running[0][0] == now_ns:
            packing.over(heapq.heappop(running)[2])


def bound_ns(jobs: Sequence[Job], sharing: Sharing) -> int:
    """A lower bound of how long jobs take, whatever their order.

    It is the longest job, what one host or link has to bear, or how many can run at the same time: of jobs
    that need two hosts each, half of the hosts.
    """
    if not jobs:
        return 0
    hosts = {need for job in jobs for need in job.needs if need.kind == "host"}
    of_two = all(sum(need.kind == "host" for need in job.needs) >= _ENDS_OF_A_PATH for job in jobs)
    at_once = min(sharing.at_once, max(1, len(hosts) // _ENDS_OF_A_PATH)) if of_two else sharing.at_once
    left_ns: dict[Need, int] = {}
    for job in jobs:
        for need in job.needs:
            left_ns[need] = left_ns.get(need, 0) + job.lasts_ns
    of_needs = (-(-left // sharing.places(need)) for need, left in left_ns.items())
    longest_ns = max(job.lasts_ns for job in jobs)
    return max([longest_ns, -(-sum(job.lasts_ns for job in jobs) // at_once), *of_needs])
