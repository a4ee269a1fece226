"""Runs slots, as many at the same time as their plan lets."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from flowsweep.schedule.packing import Job, Packing


async def run_packed(
    packing: Packing,
    run: Callable[[Job], Awaitable[None]],
    *,
    may_begin: Callable[[Job], bool] = lambda _: True,
) -> bool:
    """Run all jobs, each as soon as it may; the first that raises ends the others, and is raised.

    Args:
        packing: which jobs there are, and which may begin.
        run: runs one to its end.
        may_begin: asked before each; once it says no, nothing more begins.

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
            over, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for task in over:
                packing.over(running.pop(task))
                task.result()
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
