"""What time it is for what cannot be undone: the wall clock may be set, and be ahead for a while."""

from collections import deque
from datetime import datetime, timedelta

AGREED_FOR_S = 6 * 3600.0
"""So long looks at the wall clock have to agree."""


class AgreedTime:
    """Looks at the wall clock, each of them carried on by a clock that is never set."""

    def __init__(self) -> None:
        self._first_s: float | None = None
        """When it was first looked at, on the clock that is never set."""
        self._looks: deque[tuple[float, datetime]] = deque()
        """When each was, and what time it was at the zero of that clock; the earliest such time is first,
        and what no later look undercuts follows."""

    def look(self, now: datetime, running_s: float) -> datetime | None:
        """Look at the clock.

        Args:
            now: What it shows.
            running_s: What the clock shows that is never set.

        Returns:
            The earliest time that it is by the looks of the last `AGREED_FOR_S` and the one before these;
            None as long as there is none from before.
        """
        if self._first_s is None:
            self._first_s = running_s
        at_zero = now - timedelta(seconds=running_s)
        while self._looks and self._looks[-1][1] >= at_zero:
            self._looks.pop()
        self._looks.append((running_s, at_zero))
        before_s = running_s - AGREED_FOR_S
        while len(self._looks) > 1 and self._looks[1][0] <= before_s:
            self._looks.popleft()
        if self._first_s > before_s:
            return None
        return self._looks[0][1] + timedelta(seconds=running_s)
