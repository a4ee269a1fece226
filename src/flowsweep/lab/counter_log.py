"""What an emulator has counted so far, shared between the thread that reads it and those who ask."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from flowsweep import defaults

FRESH_WITHIN_S = 10 * defaults.LAB_EMULATOR_REPORT_NS / defaults.SECOND_NS
"""How long to wait for counters of now; they come every LAB_EMULATOR_REPORT_NS."""


KEPT_MAX = 36_000
"""Counters of an hour. Of a longer trial two in a row become one, so that a day of it fits into memory."""
_SINCE_BEFORE = ("queue_max_bytes", "late_max_us")
"""What is the greatest since the counters before; all else goes on."""


@dataclass(frozen=True, slots=True)
class Counters:
    """All paths of a link at one moment, in the names of schema/emulation.json."""

    at_unix_ns: int
    paths: tuple[tuple[Mapping[str, int], Mapping[str, int]], ...]
    """One at least; of each both directions, forward first."""


class CounterLog:
    """Keeps counters while somebody follows them, else only the last; knows whether more will come."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._ready = False
        self._lost: str | None = None
        self._counters: list[Counters] = []
        self._listeners: list[Callable[[], None]] = []

    @property
    def lost(self) -> str | None:
        """Why nothing comes any more; None while something may."""
        with self._changed:
            return self._lost

    def ready(self) -> None:
        """The emulator's devices are there."""
        with self._changed:
            self._ready = True
            self._changed.notify_all()

    def add(self, counters: Counters) -> None:
        """Keep what was counted."""
        with self._changed:
            if not self._listeners:
                self._counters.clear()
            self._counters.append(counters)
            if len(self._counters) > KEPT_MAX:
                self._counters = _halved(self._counters)
            self._changed.notify_all()

    def lose(self, reason: str) -> None:
        """Nothing comes any more. Tells those who follow, in this thread."""
        with self._changed:
            self._lost = reason
            listeners = tuple(self._listeners)
            self._changed.notify_all()
        for listener in listeners:
            listener()

    def wait_ready(self, timeout_s: float) -> bool:
        """Wait until the devices are there, or never will be; whether they are."""
        with self._changed:
            self._changed.wait_for(lambda: self._ready or self._lost is not None, timeout_s)
            return self._ready and self._lost is None

    def follow(self, listener: Callable[[], None]) -> None:
        """Keep everything until `unfollow`; call the listener, in any thread, once nothing comes any more."""
        with self._changed:
            self._listeners.append(listener)
            lost = self._lost is not None
        if lost:
            listener()

    def unfollow(self, listener: Callable[[], None]) -> None:
        """End what `follow` began."""
        with self._changed:
            self._listeners.remove(listener)

    def between(self, begin_unix_ns: int, end_unix_ns: int) -> list[Counters]:
        """From the last counters before the beginning to the first ones after the end, which it waits for."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._lost is not None or self._last_unix_ns() >= end_unix_ns, FRESH_WITHIN_S
            )
            kept = list(self._counters)
        before = [counters for counters in kept if counters.at_unix_ns < begin_unix_ns]
        return [*before[-1:], *kept[len(before) :]]

    def _last_unix_ns(self) -> int:
        return self._counters[-1].at_unix_ns if self._counters else 0


def _halved(kept: Sequence[Counters]) -> list[Counters]:
    """The first, and of each two that follow the later one, with the maxima of both; the last stays."""
    first, *others = kept
    pairs = zip(others[::2], others[1::2], strict=False)
    return [first, *(_together(*pair) for pair in pairs), *others[len(others) // 2 * 2 :]]


def _together(one: Counters, later: Counters) -> Counters:
    paths = tuple(
        (_of_both(forward, later_forward), _of_both(backward, later_backward))
        for (forward, backward), (later_forward, later_backward) in zip(one.paths, later.paths, strict=True)
    )
    return Counters(later.at_unix_ns, paths)


def _of_both(one: Mapping[str, int], later: Mapping[str, int]) -> Mapping[str, int]:
    return {**later, **{name: max(one[name], later[name]) for name in _SINCE_BEFORE if name in later}}
