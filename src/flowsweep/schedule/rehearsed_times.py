"""Which times of sweeps would run if trials lasted as long as expected: tried out in virtual time."""

import heapq
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count, pairwise

from flowsweep.schedule.packing import Batch, Batches, Job, Packing, Sharing, jobs_of, packed
from flowsweep.schedule.timetable import Occasion
from flowsweep.schedule.trial import Slot


@dataclass(frozen=True, slots=True)
class SweepRun:
    """All points of a sweep, once."""

    slots: Sequence[Slot]
    begins_ns: Sequence[int]
    """When each of them begins, from the begin of the first one, if nothing else runs."""
    duration_ns: int

    @classmethod
    def of(cls, slots: Sequence[Slot], sharing: Sharing) -> "SweepRun":
        """Try out the slots of a sweep alone."""
        jobs = jobs_of(slots, sharing)
        alone = packed(jobs, sharing)
        return cls(slots, [alone.begins_ns[job] for job in jobs], alone.lasts_ns)


@dataclass(frozen=True, slots=True)
class RehearsedTime:
    """What came of a time that a sweep is due."""

    occasion: Occasion
    ends_unix_ns: int
    """When it is over, or given up."""
    in_the_way: str | None = None
    """If it would be missed: a sweep that ran when it was too late."""
    late_ns: int = 0
    """If it would be missed: how much later than due it might have begun."""


def rehearsed_times(
    due: Iterable[Occasion], runs: Mapping[str, SweepRun], sharing: Sharing
) -> Iterator[RehearsedTime]:
    """Try out what is due, in the order of time; each is settled once it is over or too late."""
    return _one_by_one(due, runs) if sharing.at_once == 1 else _side_by_side(due, runs, sharing)


def _one_by_one(due: Iterable[Occasion], runs: Mapping[str, SweepRun]) -> Iterator[RehearsedTime]:
    """What is due begins when what ran before is over, or not at all if that is too late."""
    free_ns, running = 0, ""
    for occasion in due:
        if free_ns > occasion.latest_unix_ns:
            yield RehearsedTime(occasion, free_ns, running, free_ns - occasion.due_unix_ns)
            continue
        running = occasion.sweep
        free_ns = max(free_ns, occasion.due_unix_ns) + runs[running].duration_ns
        yield RehearsedTime(occasion, free_ns)


def _side_by_side(
    due: Iterable[Occasion], runs: Mapping[str, SweepRun], sharing: Sharing
) -> Iterator[RehearsedTime]:
    """What is due runs beside other sweeps, where hosts and links are free."""
    rehearsal = _Rehearsal(runs, sharing)
    for occasion, following in pairwise(chain(due, [None])):
        if occasion is None:
            break
        yield from rehearsal.go_on_until(occasion.due_unix_ns)
        ends_ns = occasion.due_unix_ns + runs[occasion.sweep].duration_ns
        if rehearsal.is_idle and (following is None or ends_ns <= following.due_unix_ns):
            yield RehearsedTime(occasion, ends_ns)
        else:
            yield from rehearsal.add(occasion)
    yield from rehearsal.go_on_until(None)


class _Rehearsal:
    """Sweeps that run side by side, as `flowsweep run` has them."""

    def __init__(self, runs: Mapping[str, SweepRun], sharing: Sharing) -> None:
        self._runs = runs
        self._sharing = sharing
        self._packing = Packing((), sharing)
        self._batches = Batches(self._packing)
        self._now_ns = 0
        self._ends: list[tuple[int, int, Job]] = []
        """When each job that runs is over: a heap."""
        self._numbers = count()
        self._lanes: dict[str, deque[Occasion]] = {name: deque() for name in runs}
        """By sweep: what is due and not settled; the first one waits for hosts, or runs."""
        self._first: dict[str, Batch] = {}

    @property
    def is_idle(self) -> bool:
        return not any(self._lanes.values())

    def go_on_until(self, unix_ns: int | None) -> Iterator[RehearsedTime]:
        """Let time pass to a moment, or until all is over."""
        while self._ends and (unix_ns is None or self._ends[0][0] <= unix_ns):
            self._now_ns = self._ends[0][0]
            while self._ends and self._ends[0][0] == self._now_ns:
                job = heapq.heappop(self._ends)[2]
                self._packing.progressed(job, job.lasts_ns)
                self._batches.over(job)
            yield from self._begin()
        self._now_ns = self._now_ns if unix_ns is None else unix_ns

    def add(self, occasion: Occasion) -> Iterator[RehearsedTime]:
        """Something is due now."""
        self._lanes[occasion.sweep].append(occasion)
        yield from self._begin()

    def _begin(self) -> Iterator[RehearsedTime]:
        """Begin what may, until nothing is settled by it any more."""
        while True:
            yield from self._let_wait()
            for job, _ in self._batches.begin(self._now_ns):
                heapq.heappush(self._ends, (self._now_ns + job.lasts_ns, next(self._numbers), job))
            settled = [sweep for sweep, batch in self._first.items() if not batch.left]
            if not settled:
                return
            for sweep in settled:
                yield self._settle(self._lanes[sweep].popleft(), self._first.pop(sweep))

    def _let_wait(self) -> Iterator[RehearsedTime]:
        """Let the first time of each sweep wait for hosts, if it is not too late for that."""
        for sweep, lane in self._lanes.items():
            while lane and sweep not in self._first:
                late_ns = self._now_ns - lane[0].due_unix_ns
                if lane[0].latest_unix_ns < self._now_ns:
                    yield RehearsedTime(lane.popleft(), self._now_ns, sweep, late_ns)
                else:
                    self._first[sweep] = self._batch_of(lane[0])
                    self._batches.add(self._first[sweep])

    def _batch_of(self, occasion: Occasion) -> Batch:
        run = self._runs[occasion.sweep]
        jobs = tuple(jobs_of(run.slots, self._sharing))
        begins_ns = dict(zip(jobs, run.begins_ns, strict=True))
        return Batch(jobs, lambda job: self._now_ns <= occasion.latest_unix_ns + begins_ns[job])

    def _settle(self, occasion: Occasion, batch: Batch) -> RehearsedTime:
        if not batch.stopped:
            return RehearsedTime(occasion, self._now_ns)
        needs = {need for job in batch.jobs for need in job.needs}
        running = sorted((job for _, _, job in self._ends), key=lambda job: not job.needs & needs)
        in_the_way = running[0].slot.trials[0].sweep if running else occasion.sweep
        later_ns = min(map(self._packing.left_before_ns, batch.jobs))
        late_ns = self._now_ns + later_ns - occasion.due_unix_ns
        return RehearsedTime(occasion, self._now_ns, in_the_way, late_ns)
