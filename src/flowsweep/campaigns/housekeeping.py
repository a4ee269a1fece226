"""What a campaign without an end needs while nothing is due: few files, and a disk that does not fill up."""

import ctypes
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime

import pyarrow as pa

from flowsweep.archive import ArchiveWriter
from flowsweep.campaigns.retention import Retention
from flowsweep.defaults import SECOND_NS
from flowsweep.errors import ArchiveError
from flowsweep.wording import format_size

IDLE_MIN_NS = 60 * SECOND_NS
"""Merging begins only if nothing is due for so long."""
LOOSE_MIN = 500
"""Attempts whose files are worth merging."""
LOOSE_SHARE = 0.25
"""Of all attempts, likewise: merging writes all of them again, so it becomes rarer as they become more."""
PART_TRIALS = 10_000
"""Attempts after which a new part of the archive is begun: what is kept in memory, read at a start and merged
together has an end."""
PART_TRIALS_OF_A_DAY = 1_000
"""The same on another day (UTC) than the one on which the part was begun."""
MERGED_BYTES_PER_S = 10 << 20
"""Merging is expected to be faster than that, on any disk."""
WAITS_MAX_S = 24 * 3600
"""What found no time for so long gets some: what is due meanwhile waits, or is missed."""
GIVEN_UP_FOR_S = 6 * 3600.0
"""So long files are not merged that could not be."""
TURN_NS = 10 * 60 * SECOND_NS
"""So much; and what is due waits for so long, at most, for what still runs to end."""


_M_MMAP_THRESHOLD = -3
"""Of mallopt(3), as the next."""
_M_ARENA_MAX = -8
_MAPPED_BYTES = 256 << 10
"""What is larger has pages of its own, which go back when it is freed. By itself glibc raises this as such
pieces are freed, up to 32 MiB, and they then leave holes behind."""
_ARENAS = 2


def return_freed_memory() -> None:
    """Have freed memory go back to the system: Arrow's own pool keeps it, as do malloc's arenas of threads.

    Where 4032 trials an hour are kept, a process is some 30 MiB smaller (bench/service_load.py). To be called
    before threads begin; C libraries other than glibc have neither.
    """
    with suppress(AttributeError):
        libc = ctypes.CDLL(None)
        libc.mallopt(_M_ARENA_MAX, _ARENAS)
        libc.mallopt(_M_MMAP_THRESHOLD, _MAPPED_BYTES)
    pa.set_memory_pool(pa.system_memory_pool())


def _trim() -> None:
    """Have the system take back whole pages within what is in use: merging leaves many behind."""
    with suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


class Housekeeping:
    """Of one archive.

    Args:
        writer: Of the archive.
        free_bytes_min: With less free on its disk, nothing runs.
        told: Is told why files could not be merged, once of each reason; called in a thread.
        now: Tells what time it is, aware.
        retention: Of parts that are over; None: they stay as they are.
        running_s: Tells seconds in which the machine ran, since any moment: no clock that is set.
    """

    def __init__(
        self,
        writer: ArchiveWriter,
        free_bytes_min: int,
        told: Callable[[str], None],
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        retention: Retention | None = None,
        *,
        running_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._writer = writer
        self._free_bytes_min = free_bytes_min
        self._told = told
        self._now = now
        self._retention = retention
        self._running_s = running_s
        self._given_up_at_s: float | None = None
        """When files could not be merged."""
        self._said: set[str] = set()
        self._waits_since_s = running_s()
        """No later than when something began to wait for time."""
        self._held_since_s: float | None = None
        """Since when what is due waits for what still runs to end."""

    def idle(self, left_ns: int) -> None:
        """Use a time in which nothing is due or under way: merge files if it suffices, begin a part.

        What is left of it is for parts that are over. Where a day had no time for something, it takes as long
        as it takes, up to `TURN_NS`.
        """
        turn = self._waits_for_a_day()
        if self._use(max(left_ns, TURN_NS) if turn else left_ns, in_turn=turn) or turn:
            self._waits_since_s, self._held_since_s = self._running_s(), None

    def holds(self, running: int) -> bool:
        """Say whether what is due is to wait, while so many sweeps run.

        Where something always runs, nothing else gives files time. If what runs goes on for longer than a
        turn, it was for nothing, and they wait another day. Where a turn would get nothing done, that is
        asked again after one.
        """
        now_s, turn_s = self._running_s(), TURN_NS / SECOND_NS
        if not self._waits_for_a_day():
            return False
        if self._held_since_s is None:
            if not self._something_waits():
                self._waits_since_s = now_s - WAITS_MAX_S + turn_s
                return False
            self._held_since_s = now_s
        if not running or now_s - self._held_since_s < turn_s:
            return True
        self._waits_since_s, self._held_since_s = now_s, None
        return False

    def _something_waits(self) -> bool:
        """Whether a turn would get something done."""
        if self._retention is not None and self._retention.waits(TURN_NS, self._now(), self._running_s()):
            return True
        merges = self._writer.loose_attempts >= self._least_loose() and self._may_merge_within(TURN_NS)
        return merges or self._begins_part()

    def _use(self, left_ns: int, *, in_turn: bool) -> bool:
        """Returns whether nothing waits for more time."""
        begun_s = time.monotonic()
        nothing_waits = self._merge(left_ns)
        if self._begins_part():
            try:
                self._writer.begin_part()
            except ArchiveError as error:
                self._told(f"no new part of its archive is begun: {error}")
        left_ns -= round((time.monotonic() - begun_s) * SECOND_NS)
        if self._retention is None:
            return nothing_waits
        if left_ns < IDLE_MIN_NS:
            return False
        times = self._now(), self._running_s()
        return self._retention.idle(left_ns, *times, in_turn=in_turn) and nothing_waits

    def _waits_for_a_day(self) -> bool:
        return self._running_s() - self._waits_since_s >= WAITS_MAX_S

    def _is_full(self) -> bool:
        attempts = self._writer.attempts_with_data
        return attempts >= PART_TRIALS or (attempts >= PART_TRIALS_OF_A_DAY and self._is_of_another_day())

    def _begins_part(self) -> bool:
        merged = self._writer.loose_attempts == 0
        return (merged and self._is_full()) or self._writer.attempts_with_data >= 2 * PART_TRIALS

    def _least_loose(self) -> float:
        """Attempts whose files are worth merging now."""
        return 1 if self._is_full() else max(LOOSE_MIN, LOOSE_SHARE * self._writer.attempts_with_data)

    def _may_merge_within(self, left_ns: int) -> bool:
        """Whether merging would come to its end in that time, and the disk has room for it."""
        if self._given_up():
            return False
        size = self._writer.data_bytes()
        return self._has_room(size) and size / MERGED_BYTES_PER_S <= left_ns / SECOND_NS

    def _has_room(self, size: int) -> bool:
        return size <= self._free_bytes() - self._free_bytes_min

    def _is_of_another_day(self) -> bool:
        return self._writer.part_begun_at.astimezone(UTC).date() != self._now().date()

    def _merge(self, left_ns: int) -> bool:
        """Merge files if there are many; returns whether that waits for no more time."""
        if self._given_up() or self._writer.loose_attempts < self._least_loose():
            return True
        if left_ns < IDLE_MIN_NS:
            return False
        if not self._may_merge_within(left_ns):
            return not self._has_room(self._writer.data_bytes())
        if not self._tried(self._writer.compact, "its files are not merged"):
            # Nothing is lost: the small files stay, and are merged when it is next tried.
            self._given_up_at_s = self._running_s()
        self._tried(self._writer.monitor_files.merge, "not all files of its monitors are merged")
        _trim()
        return True

    def _tried(self, merge: Callable[[], None], failed: str) -> bool:
        try:
            merge()
        except ArchiveError as error:
            if (why := f"{failed}: {error}") not in self._said:
                self._said.add(why)
                self._told(why)
            return False
        return True

    def _given_up(self) -> bool:
        """Whether files could not be merged a while ago."""
        at_s = self._given_up_at_s
        return at_s is not None and self._running_s() - at_s < GIVEN_UP_FOR_S

    def refuses(self) -> str | None:
        """Say why nothing may run, if so: a trial that does not fit loses what it measured."""
        free = self._free_bytes()
        if free >= self._free_bytes_min:
            return None
        kept = format_size(self._free_bytes_min)
        return f"the disk is nearly full ({format_size(free)} free, {kept} are kept)"

    def _free_bytes(self) -> int:
        return shutil.disk_usage(self._writer.folder).free
