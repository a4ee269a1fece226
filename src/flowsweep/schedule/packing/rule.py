"""The rule by which slots begin: in their order, and whatever fits in between.

It is conservative backfilling (Mu'alem and Feitelson, IEEE TPDS 12(6), 2001): what a slot needs that cannot
begin yet is kept for it from when all of it is expected to be free, and a later slot begins before it only if
it is expected to be over by then. So no slot waits for ever, and hosts do not idle for the sake of order.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from flowsweep.schedule.estimate import slot_duration_ns
from flowsweep.schedule.packing.needs import Need, Sharing
from flowsweep.schedule.trial import Slot

_LOOKED_AT_MAX = 10_000
"""So many of those that wait for hosts or links are looked at whenever something may begin."""


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """A slot that is to run."""

    slot: Slot
    needs: frozenset[Need]
    lasts_ns: int
    """What is expected."""


def jobs_of(slots: Iterable[Slot], sharing: Sharing) -> list[Job]:
    """Make jobs of whole slots."""
    return [Job(slot, sharing.needs(slot), slot_duration_ns(slot) * slot.whole_steps) for slot in slots]


class Packing:
    """Jobs that wait and jobs that run; pure, whoever asks says what time it is.

    Args:
        jobs: In the order in which they are to begin.
        sharing: What they may not share.
    """

    def __init__(self, jobs: Iterable[Job], sharing: Sharing) -> None:
        self._sharing = sharing
        self._waiting: dict[Job, None] = {}
        self._ends_ns: dict[Job, int] = {}
        """When those that run are expected to be over."""
        self._holders: dict[Need, list[Job]] = {}
        self._left_ns: dict[Need, int] = {}
        self._all_left_ns = 0
        self._waiting_freely: dict[Job, None] = {}
        """Those that wait and need nothing, in their order."""
        self.add(jobs)

    @property
    def waiting(self) -> Collection[Job]:
        """Those that did not begin yet, in their order."""
        return self._waiting.keys()

    def add(self, jobs: Iterable[Job]) -> None:
        """Let more jobs wait, behind those that wait already."""
        for job in jobs:
            self._waiting[job] = None
            if not job.needs:
                self._waiting_freely[job] = None
            for need in job.needs:
                self._holders.setdefault(need, [])
                self._left_ns.setdefault(need, 0)
            self._add_left(job, job.lasts_ns)

    def withdraw(self, job: Job) -> None:
        """Take back a job that did not begin."""
        self._no_longer_waiting(job)
        self._add_left(job, -job.lasts_ns)

    def begin(self, now_ns: int) -> list[Job]:
        """Take those that may begin now; they run until they are `over`."""
        begun = self._ready(now_ns)
        for job in begun:
            self._no_longer_waiting(job)
        return begun

    def over(self, job: Job) -> None:
        """Give back what a job had."""
        del self._ends_ns[job]
        for need in job.needs:
            self._holders[need].remove(job)

    def progressed(self, job: Job, by_ns: int) -> None:
        """Take off what is left to do of a job."""
        self._add_left(job, -by_ns)

    def waits_for(self, job: Job) -> list[Need]:
        """What a waiting job needs that others have, in order of names; nothing if it waits for its turn."""
        return sorted(need for need in job.needs if self._is_taken(need))

    def left_ns(self) -> int:
        """At least so long it takes from now on: for one host, for one link, or for all of them."""
        return max([self._all_left_ns // self._sharing.at_once, *map(self._left_of, self._left_ns)])

    def left_before_ns(self, job: Job) -> int:
        """At least so long those take that share a need with a job which is not among them."""
        return max(map(self._left_of, job.needs & self._left_ns.keys()), default=0)

    def _left_of(self, need: Need) -> int:
        return self._left_ns[need] // self._sharing.places(need)

    def _no_longer_waiting(self, job: Job) -> None:
        del self._waiting[job]
        self._waiting_freely.pop(job, None)

    def _add_left(self, job: Job, by_ns: int) -> None:
        self._all_left_ns += by_ns
        for need in job.needs:
            self._left_ns[need] += by_ns

    def _ready(self, now_ns: int) -> list[Job]:
        begun: list[Job] = []
        kept_for: dict[Need, tuple[int, int]] = {}
        """From when to when a need is kept for jobs that come first."""
        for job in self._looked_at():
            everything_taken = len(kept_for) == len(self._holders) > 0 and not self._waiting_freely
            full = len(self._ends_ns) >= self._sharing.at_once
            if full or everything_taken:
                break
            taken = any(self._is_taken(need) for need in job.needs)
            ends_ns = now_ns + job.lasts_ns
            if not taken and all(ends_ns <= kept_for[need][0] for need in job.needs if need in kept_for):
                begun.append(job)
                self._ends_ns[job] = ends_ns
                for need in job.needs:
                    self._holders[need].append(job)
            else:
                self._keep_for(job, now_ns, kept_for)
        return begun

    def _looked_at(self) -> Iterator[Job]:
        """Those that wait, as far as they are looked at; what needs nothing always is."""
        yield from islice(self._waiting, _LOOKED_AT_MAX)
        if len(self._waiting) > _LOOKED_AT_MAX:
            yield from (job for job in self._waiting_freely if job not in self._ends_ns)

    def _keep_for(self, job: Job, now_ns: int, kept_for: dict[Need, tuple[int, int]]) -> None:
        """Keep what a job needs from when all of it is expected to be there."""
        frees = [max(now_ns, self._free_ns(need), kept_for.get(need, (0, 0))[1]) for need in job.needs]
        begins_ns = max(frees)
        for need in job.needs:
            first_ns, _ = kept_for.get(need, (begins_ns, 0))
            kept_for[need] = first_ns, begins_ns + job.lasts_ns

    def _is_taken(self, need: Need) -> bool:
        return len(self._holders[need]) >= self._sharing.places(need)

    def _free_ns(self, need: Need) -> int:
        """When a place is expected to be free; 0 if one is."""
        return min(self._ends_ns[job] for job in self._holders[need]) if self._is_taken(need) else 0
