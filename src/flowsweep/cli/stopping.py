"""Ctrl-C, SIGTERM and SIGHUP while trials run: the first of them ends the program in order."""

import asyncio
import signal
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

from flowsweep.cli.exit_codes import EXIT_SIGNALLED
from flowsweep.lab.signals import ALL, handled_by

Result = TypeVar("Result")


class Stopped(KeyboardInterrupt):
    """A signal asked the program to end. A KeyboardInterrupt, because libraries know to let that pass."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number
        self.exit_code = EXIT_SIGNALLED + number

    def __str__(self) -> str:
        """As a person would say it: "interrupted", "ended by SIGTERM"."""
        name = signal.Signals(self.number)
        return "interrupted" if name == signal.SIGINT else f"ended by {name.name}"


class Stopper:
    """Answers the first signal. Later ones change nothing: an end in order is short, and must stay one."""

    def __init__(self) -> None:
        self.stopped: Stopped | None = None
        self._cancel: Callable[[], object] | None = None

    def run(self, main: Coroutine[Any, Any, Result]) -> Result:
        """Run a coroutine in an event loop of its own; a signal cancels it.

        Raises:
            Stopped: A signal came, even if the coroutine came to its end nevertheless.
        """
        self._cancel = _remember_only
        try:
            result = asyncio.run(self._until_signal(main))
        except asyncio.CancelledError:
            if self.stopped is None:
                raise
            raise self.stopped from None
        finally:
            self._cancel = None
        if self.stopped is not None:
            raise self.stopped
        return result

    def answer(self, number: int, _frame: FrameType | None) -> None:
        """Handle a signal: cancel what runs in the event loop, or raise Stopped where there is none."""
        if self.stopped is not None:
            return
        self.stopped = Stopped(number)
        if self._cancel is None:
            raise self.stopped
        self._cancel()

    async def _until_signal(self, main: Coroutine[Any, Any, Result]) -> Result:
        loop = asyncio.get_running_loop()
        task = asyncio.ensure_future(main)
        self._cancel = lambda: loop.call_soon_threadsafe(task.cancel)
        if self.stopped is not None:
            task.cancel()
        try:
            return await task
        finally:
            self._cancel = _remember_only


@contextmanager
def stopped_by_signals() -> Iterator[Stopper]:
    """Let signals end the block in order, but for those that whoever started the program has it ignore."""
    stopper = Stopper()
    heeded = tuple(number for number in ALL if signal.getsignal(number) is not signal.SIG_IGN)
    with handled_by(stopper.answer, heeded):
        yield stopper


def _remember_only() -> None:
    """There is an event loop, but what it is for has not begun yet, or is over."""
