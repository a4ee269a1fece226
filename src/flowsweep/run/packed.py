"""Runs slots, as many at the same time as their plan lets."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence

from flowsweep.schedule.packing import Job, Need, Packing


async def run_packed(
    packing: Packing,
    run: Callable[[Job], Awaitable[None]],
    *,
    may_begin: Callable[[Job], bool] = lambda _: True,
    waits: Callable[[Job, Sequence[Need]], None] = lambda _job, _needs: None,
) -> bool:
    """Run all jobs, each as soon as it may; the first that raises ends the others, and is raised.

    Args:
        packing: which jobs there are, and which may begin.
        run: runs one to its end.
        may_begin: asked before each; once it says no, nothing more begins.
        waits: is told, whenever that may have changed, which job is the first in the order that cannot begin
            yet, and what it needs that others have; nothing where it only has to wait for its turn.

    Returns:
        Whether all of them ran.
    """
    running: dict[asyncio.Task[None], Job] = {}
    stopped = False
    try:
        while True:
            for job in [] if stopped else packing.begin(time.monotonic_ns()):
                stopped = stopped or not may_begin(job)
                if not stopped:
                    running[asyncio.ensure_future(run(job))] = job
            if not running:
                return not stopped
            if not stopped and (first := next(iter(packing.waiting), None)) is not None:
                waits(first, packing.waits_for(first))
            over, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for task in over:
                packing.over(running.pop(task))
                task.result()
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
