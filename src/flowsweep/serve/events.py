"""What pages are told of at once: server-sent events, one queue for each page that listens."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Any

LISTENERS_MAX = 200
"""Pages that are told at a time; more are refused, and look again by themselves."""
_QUEUED_MAX = 64
_PULSE_S = 15.0
"""A connection through which nothing goes for longer may be closed by what is in between."""


class Broadcaster:
    """Tells every listener of what happened; may be told from any thread."""

    def __init__(self) -> None:
        self._queues: dict[asyncio.Queue[str | None], asyncio.AbstractEventLoop] = {}
        self.closed = False

    @property
    def listeners(self) -> int:
        """How many pages listen."""
        return len(self._queues)

    @property
    def is_full(self) -> bool:
        """Whether no other page can be told."""
        return self.closed or len(self._queues) >= LISTENERS_MAX

    def tell(self, event: Mapping[str, Any]) -> None:
        """Tell all listeners of an event."""
        self._put(f"data: {json.dumps(event, separators=(',', ':'))}\n\n")

    def close(self) -> None:
        """Let all listeners go."""
        self.closed = True
        self._put(None)

    async def stream(self) -> AsyncIterator[str]:
        """What a listener reads: events as they happen, and a pulse when nothing does."""
        queue: asyncio.Queue[str | None] = asyncio.Queue(_QUEUED_MAX)
        self._queues[queue] = asyncio.get_running_loop()
        try:
            yield "retry: 2000\n\n"
            while not self.closed:
                try:
                    text = await asyncio.wait_for(queue.get(), _PULSE_S)
                except TimeoutError:
                    text = ": still here\n\n"
                if text is None:
                    return
                yield text
        finally:
            del self._queues[queue]

    def _put(self, text: str | None) -> None:
        for queue, loop in list(self._queues.items()):
            with suppress(RuntimeError):  # the loop was closed in between
                loop.call_soon_threadsafe(_offer, queue, text)


def _offer(queue: asyncio.Queue[str | None], text: str | None) -> None:
    """A listener that does not read misses events: it asks for everything when it reads the next one."""
    if queue.full():
        queue.get_nowait()
    queue.put_nowait(text)
