"""Runs slots, as many at the same time as their plan lets."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from flowsweep.schedule.packing import Batch, Batches, Job, Need, Packing

RunJob = Callable[[Job], Awaitable[None]]
"""Runs a job to its end."""


class PackedRunner:
    """Runs batches of jobs, each job as soon as it may; one batch may be begun while others run.

    Args:
        packing: Which jobs may begin.
        waits: Is told, whenever that may have changed, which job is the first in the order that cannot begin
            yet, and what it needs that others have; nothing where it only has to wait for its turn.
        now_ns: A clock that only goes forward.
    """

    def __init__(
        self,
        packing: Packing,
        waits: Callable[[Job, Sequence[Need]], None] = lambda _job, _needs: None,
        now_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._packing = packing
        self._batches = Batches(packing)
        self._waits = waits
        self._now_ns = now_ns
        self._running: dict[Batch, _Running] = {}

    async def run(self, batch: Batch, run: RunJob) -> bool:
        """Run all jobs of a batch; the first that raises ends its others, and is raised.

        Returns:
            Whether all of them ran: none was too late.
        """
        running = self._running[batch] = _Running(run)
        self._batches.add(batch)
        self._begin()
        try:
            await running.over
            return not batch.stopped
        finally:
            self._batches.stop(batch)  # what a failure left
            await running.end()
            del self._running[batch]

    def _begin(self) -> None:
        """Begin what may begin; of a batch that was too late, perhaps nothing is left."""
        for job, batch in self._batches.begin(self._now_ns()):
            task = asyncio.ensure_future(self._carry_out(job, self._running[batch].run))
            self._running[batch].tasks.add(task)
            task.add_done_callback(partial(self._ended, batch))
        for batch, running in self._running.items():
            running.see_whether_over(batch)
        if (first := next(iter(self._packing.waiting), None)) is not None:
            self._waits(first, self._packing.waits_for(first))

    async def _carry_out(self, job: Job, run: RunJob) -> None:
        try:
            await run(job)
        finally:
            self._batches.over(job)
        self._begin()

    def _ended(self, batch: Batch, task: asyncio.Task[None]) -> None:
        running = self._running[batch]
        running.tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None and not running.over.done():
            running.over.set_exception(error)
        running.see_whether_over(batch)


class _Running:
    """A batch that runs."""

    def __init__(self, run: RunJob) -> None:
        self.run = run
        self.tasks: set[asyncio.Task[None]] = set()
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def see_whether_over(self, batch: Batch) -> None:
        if not (batch.left or self.tasks or self.over.done()):
            self.over.set_result(None)

    async def end(self) -> None:
        """End what still runs, after a failure."""
        tasks = tuple(self.tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
