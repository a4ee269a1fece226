"""Jobs that belong together, as those of one time: they begin in time, or what is left does not begin."""

from collections.abc import Callable
from dataclasses import dataclass, field

from flowsweep.schedule.packing.rule import Job, Packing


@dataclass(slots=True, eq=False)
class Batch:
    """What runs at one time of a sweep, or all of a campaign without times."""

    jobs: tuple[Job, ...]
    in_time: Callable[[Job], bool] = lambda _: True
    """Says whether a job may still begin."""
    stopped: bool = field(default=False, init=False)
    """Whether a job was too late, so that none of the others begins."""
    left: set[Job] = field(init=False)
    """Those that wait or run."""

    def __post_init__(self) -> None:
        self.left = set(self.jobs)


class Batches:
    """Batches that wait and run side by side; pure, whoever asks says what time it is.

    A batch stops when it is the turn of a job of it that is too late; before anything of it began, once its
    first job is too late, so that nothing is kept any longer for what will not run.
    """

    def __init__(self, packing: Packing) -> None:
        self._packing = packing
        self._of: dict[Job, Batch] = {}
        self._not_begun: dict[Batch, None] = {}

    def add(self, batch: Batch) -> None:
        """Let a batch wait behind those that wait already."""
        self._packing.add(batch.jobs)
        self._of.update(dict.fromkeys(batch.jobs, batch))
        if batch.jobs:
            self._not_begun[batch] = None

    def begin(self, now_ns: int) -> list[tuple[Job, Batch]]:
        """Stop what is too late, and take the jobs that may begin now; they run until they are `over`."""
        for batch in [one for one in self._not_begun if not one.in_time(one.jobs[0])]:
            self.stop(batch)
        begun: list[tuple[Job, Batch]] = []
        while taken := self._packing.begin(now_ns):
            for job in taken:
                batch = self._of[job]
                if not batch.stopped and batch.in_time(job):
                    self._not_begun.pop(batch, None)
                    begun.append((job, batch))
                    continue
                self._packing.progressed(job, job.lasts_ns)
                self.over(job)
                self.stop(batch)
        return begun

    def over(self, job: Job) -> None:
        """Give back what a job had."""
        self._packing.over(job)
        self._of.pop(job).left.discard(job)

    def stop(self, batch: Batch) -> None:
        """Begin none of a batch any more."""
        batch.stopped = True
        self._not_begun.pop(batch, None)
        for job in batch.jobs:
            if job in self._packing.waiting:
                self._packing.withdraw(job)
                self._of.pop(job).left.discard(job)
