"""Calls that write to an archive: in a thread, one at a time, each to its end."""

import asyncio
from collections.abc import Callable


class Keeper:
    """Has the recorder called by one at a time."""

    def __init__(self) -> None:
        self._turns = asyncio.Lock()

    async def keep(self, call: Callable[[], None]) -> None:
        """Call it in a thread; no cancellation, nor another after it, leaves it half done."""
        async with self._turns:
            task = asyncio.create_task(asyncio.to_thread(call))
            cancelled = False
            while not task.done():
                try:
                    await asyncio.wait([task])
                except asyncio.CancelledError:
                    cancelled = True
            task.result()
            if cancelled:
                raise asyncio.CancelledError
