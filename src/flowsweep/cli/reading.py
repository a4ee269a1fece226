"""How far the reading of an archive is: what takes long is told on standard error, in a terminal."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer

from flowsweep.cli.terminal import Screen
from flowsweep.defaults import SECOND_NS
from flowsweep.wording import format_duration, format_size

SHOWN_AFTER_S = 2.0
"""What is over sooner is not worth a word."""


@contextmanager
def told_if_long(words: str, console: Screen | None = None, after_s: float = SHOWN_AFTER_S) -> Iterator[None]:
    """Say what goes on while the block runs, once that takes long.

    Args:
        words: As in "summing up the archive".
        console: Where to; standard error, if none is given.
        after_s: How long nothing is said.
    """
    console = console or Screen(stderr=True)
    if not console.is_terminal or console.is_dumb_terminal:
        yield
        return
    status = console.status(words)
    later = Timer(after_s, status.start)
    later.daemon = True
    later.start()
    try:
        yield
    finally:
        later.cancel()
        later.join()
        status.stop()


def bytes_read(
    say: Callable[[str], object], clock: Callable[[], float] = time.monotonic
) -> Callable[[int, int], None]:
    """Make a listener that is told how many bytes were read, and of how many: it says so, with time left."""
    began_s = clock()

    def tell(done: int, of: int) -> None:
        read = f"{format_size(float(done))} of {format_size(float(of))} read"
        if done:
            left_s = (clock() - began_s) / done * (of - done)
            read += f", {format_duration(round(left_s) * SECOND_NS)} left"
        say(read)

    return tell
