"""An event loop whose clock jumps to whatever happens next: deadlines pass without waiting."""

import asyncio
import selectors


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """For what only waits for itself: no processes, no threads, no sockets."""

    def __init__(self) -> None:
        self._selector_of_jumps = JumpingSelector()
        super().__init__(self._selector_of_jumps)
        # Months from its begin a float does not tell nanoseconds, the machine's resolution, apart.
        self._clock_resolution = 1e-6

    def time(self) -> float:
        return self._selector_of_jumps.elapsed_s


class JumpingSelector(selectors.DefaultSelector):
    """In place of waiting, counts how long it would have waited."""

    def __init__(self) -> None:
        super().__init__()
        self.elapsed_s = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        assert timeout is not None, "nothing will ever happen"
        self.elapsed_s += timeout
        return super().select(0)
