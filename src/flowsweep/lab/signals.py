"""Signals while a lab stands: whatever ends the controller, the lab is taken down first."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

ENDING = (signal.SIGTERM, signal.SIGHUP)
ALL = (signal.SIGINT, *ENDING)
Handler = Callable[[int, FrameType | None], None]


@contextmanager
def ended_in_order() -> Iterator[None]:
    """Turn SIGTERM and SIGHUP into SystemExit, unless the program has handlers of its own or ignores them."""
    unhandled = tuple(number for number in ENDING if signal.getsignal(number) is signal.SIG_DFL)
    with handled_by(_leave, unhandled):
        yield


@contextmanager
def signals_held() -> Iterator[None]:
    """Let nothing interrupt the block: signals that come meanwhile are delivered after it."""
    held: list[int] = []
    try:
        with handled_by(lambda number, _frame: held.append(number), ALL):
            yield
    finally:
        for number in dict.fromkeys(held):
            signal.raise_signal(number)


@contextmanager
def handled_by(handler: Handler, numbers: tuple[signal.Signals, ...]) -> Iterator[None]:
    """Have signals handled by a function while the block runs."""
    if threading.current_thread() is not threading.main_thread():
        # Handlers run in the main thread only: nothing interrupts this one.
        yield
        return
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, previous in before.items():
            # None: installed by something other than Python, which cannot be put back.
            signal.signal(number, signal.SIG_DFL if previous is None else previous)


def _leave(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
