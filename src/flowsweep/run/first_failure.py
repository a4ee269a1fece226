"""Waiting for several things at once, so that none goes on once one of them has failed."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from typing import Any


async def all_of(coroutines: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Wait for all; the first failure ends the others, and is raised."""
    await until_over(coroutines, lambda: None)


async def until_over(
    coroutines: Iterable[Coroutine[Any, Any, None]], patience_s: Callable[[], float | None]
) -> None:
    """Wait for all, or until patience is at its end; the first failure ends the others, and is raised.

    Args:
        coroutines: what to wait for.
        patience_s: asked whenever one is over: how long to wait for the others from then on; absent: for as
            long as it takes. Once it has set a time, it is not asked again.
    """
    waiting = {asyncio.ensure_future(coroutine) for coroutine in coroutines}
    tasks = tuple(waiting)
    clock = asyncio.get_running_loop().time
    until: float | None = None
    try:
        while waiting:
            timeout_s = None if until is None else max(0.0, until - clock())
            over, waiting = await asyncio.wait(
                waiting, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED
            )
            if not over:
                return
            for task in tasks:
                if task in over:
                    task.result()
            if until is None and (patience := patience_s()) is not None:
                until = clock() + patience
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
