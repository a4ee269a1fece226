"""What a campaign without an end needs while nothing is due: few files, and a disk that does not fill up."""

import shutil
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from flowsweep.archive import ArchiveWriter
from flowsweep.campaigns.keeping import Keeping
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
WAITS_MAX = timedelta(days=1)
"""What found no time for so long gets some: what is due meanwhile waits, or is missed."""
TURN_NS = 10 * 60 * SECOND_NS
"""So much."""
PUT_IN_ORDER = "the archive's files are to be put in order"


class Housekeeping:
    """Of one archive.

    Args:
        writer: Of the archive.
        free_bytes_min: With less free on its disk, nothing runs.
        told: Is told why files could not be merged; called in a thread.
        now: Tells what time it is, aware.
        keeping: Of parts that are over; None: they stay as they are.
    """

    def __init__(
        self,
        writer: ArchiveWriter,
        free_bytes_min: int,
        told: Callable[[str], None],
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        keeping: Keeping | None = None,
    ) -> None:
        self._writer = writer
        self._free_bytes_min = free_bytes_min
        self._told = told
        self._now = now
        self._keeping = keeping
        self._given_up = False
        self._waits_since: datetime = now()
        """No later than when something began to wait for time."""

    def idle(self, left_ns: int) -> None:
        """Use a time in which nothing is due or under way: merge files if it suffices, begin a part.

        What is left of it is for parts that are over. Where a day had no time for something, it takes as long
        as it takes, up to `TURN_NS`.
        """
        turn = self._waits_for_a_day()
        if self._use(max(left_ns, TURN_NS) if turn else left_ns) or turn:
            self._waits_since = self._now()

    def _use(self, left_ns: int) -> bool:
        """Returns whether nothing waits for more time."""
        begun_s = time.monotonic()
        attempts = self._writer.attempts_with_data
        is_full = attempts >= PART_TRIALS or (attempts >= PART_TRIALS_OF_A_DAY and self._is_of_another_day())
        least = max(1 if is_full else LOOSE_MIN, 0 if is_full else LOOSE_SHARE * attempts)
        nothing_waits = self._merge(left_ns, least)
        merged = self._writer.loose_attempts == 0 or self._given_up
        if (is_full and merged) or attempts >= 2 * PART_TRIALS:
            try:
                self._writer.begin_part()
            except ArchiveError as error:
                self._told(f"no new part of its archive is begun: {error}")
        left_ns -= round((time.monotonic() - begun_s) * SECOND_NS)
        if self._keeping is None:
            return nothing_waits
        return left_ns >= IDLE_MIN_NS and self._keeping.idle(left_ns, self._now()) and nothing_waits

    def _waits_for_a_day(self) -> bool:
        return self._now() - self._waits_since >= WAITS_MAX

    def _is_of_another_day(self) -> bool:
        return self._writer.part_begun_at.astimezone(UTC).date() != self._now().date()

    def _merge(self, left_ns: int, loose_min: float) -> bool:
        """Merge files if there are so many; returns whether that waits for no more time."""
        if self._given_up or self._writer.loose_attempts < loose_min:
            return True
        if left_ns < IDLE_MIN_NS:
            return False
        size = self._writer.data_bytes()
        if size > self._free_bytes() - self._free_bytes_min:
            return True
        if size / MERGED_BYTES_PER_S > left_ns / SECOND_NS:
            return False
        try:
            self._writer.compact()
        except ArchiveError as error:
            # Nothing is lost: the small files stay, and are merged when the campaign is next gone on with.
            self._given_up = True
            self._told(f"its files are not merged: {error}")
        return True

    def refuses(self) -> str | None:
        """Say why nothing may run, if so: a trial that does not fit loses what it measured.

        And where something always runs, files are never put in order unless it stops once a day.
        """
        free = self._free_bytes()
        if free >= self._free_bytes_min:
            return PUT_IN_ORDER if self._waits_for_a_day() else None
        kept = format_size(self._free_bytes_min)
        return f"the disk is nearly full ({format_size(free)} free, {kept} are kept)"

    def _free_bytes(self) -> int:
        return shutil.disk_usage(self._writer.folder).free
