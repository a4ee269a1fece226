"""The occasions on which imported tests ran: what one day, or one sitting of it, has in common."""

import statistics
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import pairwise

from flowsweep.defaults import IMPORT_PAUSE_LEAST_S, IMPORT_PAUSE_TIMES

_FEWEST_OF_AN_OCCASION = 2


class Occasions:
    """Which occasion a test belongs to."""

    def __init__(self, starts: Iterable[datetime | None]) -> None:
        """Split tests where a day (UTC) begins, and at long pauses.

        Args:
            starts: When all tests of an archive began, in any order.

        A pause is long if it is over an hour and over five times the median pause. Where most occasions would
        have a single test there is nothing to compare within them: all are one then.
        """
        times = sorted(_utc(start) for start in starts if start is not None)
        pauses = [(later - earlier).total_seconds() for earlier, later in pairwise(times)]
        usual_s = statistics.median(pauses) if pauses else 0.0
        long_s = max(IMPORT_PAUSE_LEAST_S, IMPORT_PAUSE_TIMES * usual_s)
        begins = [
            later
            for (earlier, later), pause_s in zip(pairwise(times), pauses, strict=True)
            if pause_s > long_s or later.date() != earlier.date()
        ]
        sizes = Counter(bisect_right(begins, time) for time in times)
        alone = bool(sizes) and statistics.median(sizes.values()) < _FEWEST_OF_AN_OCCASION
        self._begins = [] if alone else begins

    def of(self, start: datetime | None) -> int | None:
        """Number of the occasion, from 0 in order of time; None of a test of which no time is known."""
        return None if start is None else bisect_right(self._begins, _utc(start))


def _utc(time: datetime) -> datetime:
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
