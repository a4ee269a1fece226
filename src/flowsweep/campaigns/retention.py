"""What becomes of parts of an archive that are over: they are summed up once, and their samples may go."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa

from flowsweep.archive.retired_samples import PartsOver
from flowsweep.campaigns.agreed_time import AgreedTime
from flowsweep.defaults import MICROSECOND_NS, SECOND_NS
from flowsweep.errors import FlowsweepError

SUMMED_BYTES_PER_S = 2 << 20
"""Summing up is expected to be faster than that, on any machine ..."""
SUMMED_LEAST_S = 10.0
"""... and not to take longer than that beside."""
RETIRED_PER_IDLE = 10
"""Parts whose samples are removed at a time."""
WHILE_READ_S = 600.0
"""Samples that somebody reads are looked at again after this."""
LEFT_FOR_S = 6 * 3600.0
"""So long nothing is done of parts of which something could not be done."""
SumUp = Callable[[Path, int, float], pa.Table]
"""Sums up a part of an archive, by its number, in a process of its own, within so many seconds."""


class Retention:
    """Of one archive; to be asked when nothing is due.

    Args:
        parts: Those that are over.
        analysis: What sums up, as `flowsweep.archive.kept_summary.KeptSummary.analysis` has it.
        sum_up: Sums up a part.
        samples_ns: How long samples are kept; None: for ever.
        told: Is told what could not be done, once of each part.
    """

    def __init__(
        self,
        parts: PartsOver,
        *,
        analysis: str,
        sum_up: SumUp,
        samples_ns: int | None,
        told: Callable[[str], None],
        agreed: AgreedTime | None = None,
    ) -> None:
        self._parts = parts
        self._analysis = analysis
        self._sum_up = sum_up
        self._samples_ns = samples_ns
        self._told = told
        self._agreed = AgreedTime() if agreed is None else agreed
        self._not_before_s: float | None = None
        """On the clock that is never set, as the next."""
        self._left_at_s: float | None = None
        """When parts were left alone, since something could not be done of them."""
        self._said: set[str] = set()
        self._too_slow: set[int] = set()
        """Parts that were tried in a turn although they are so large: once is enough."""

    def idle(self, left_ns: int, now: datetime, running_s: float, *, in_turn: bool = False) -> bool:
        """Sum up a part if there is time for it, and let samples go that were kept long enough.

        Args:
            left_ns: How much time there is.
            now: What time it is; samples go once looks at the clock agree that they were kept long enough
                (`AgreedTime`).
            running_s: Seconds since any moment, by a clock that is never set.
            in_turn: Whether there will not soon be more time: a part for which it is expected not to suffice
                is tried all the same, once, if no other can be summed up.

        Returns:
            Whether nothing waits for more time.
        """
        before = self._before(now, running_s)
        if self._not_before_s is not None and running_s < self._not_before_s:
            return True
        if self._left_at_s is not None and running_s >= self._left_at_s + LEFT_FOR_S:
            self._left_at_s = None
            self._parts.leave_none()
        try:
            nothing_waits = self._keep_summary(left_ns / SECOND_NS, running_s, in_turn=in_turn)
            if before is not None:
                self._retire(before, now, running_s)
        except FlowsweepError as error:
            # Of the archive as a whole: what reads or writes it next says so, too.
            self._told(f"its parts cannot be looked at: {error}")
            self._not_before_s = running_s + WHILE_READ_S
            return True
        return nothing_waits

    def waits(self, left_ns: int, now: datetime, running_s: float) -> bool:
        """Say whether something waits that could be done in a turn of so much time, or is worth trying."""
        before = self._before(now, running_s)
        if self._not_before_s is not None and running_s < self._not_before_s:
            return False
        try:
            fitting, too_large = self._to_sum_up(left_ns / SECOND_NS, running_s)
            if fitting is not None or too_large:
                return True
            return before is not None and self._parts.over_before(before, self._analysis) is not None
        except FlowsweepError:
            return False  # `idle` tells what cannot be read.

    def _before(self, now: datetime, running_s: float) -> datetime | None:
        """Look at the clock: samples of parts that were over before that may go, if of any."""
        agreed = self._agreed.look(now, running_s)
        if agreed is None or self._samples_ns is None:
            return None
        return agreed - timedelta(microseconds=self._samples_ns // MICROSECOND_NS)

    def _expected_s(self, number: int) -> float:
        """What summing up a part is expected to take."""
        return SUMMED_LEAST_S + self._parts.data_bytes(number) / SUMMED_BYTES_PER_S

    def _keep_summary(self, left_s: float, running_s: float, *, in_turn: bool) -> bool:
        number, too_large = self._to_sum_up(left_s, running_s)
        if number is None and in_turn and too_large:
            number, expected_s = min(too_large.items(), key=lambda part: part[1])
            del too_large[number]
            self._too_slow.add(number)
            self._told(
                f"part {number} of its archive is large: to sum it up is expected to take {expected_s:.0f} s "
                f"and is tried within {left_s:.0f} s; until it is summed up, its samples stay"
            )
        if number is not None:
            with self._left_as_it_is(number, running_s):
                self._parts.keep_summary(number, self._sum_up(self._parts.archive, number, left_s))
        return not too_large

    def _to_sum_up(self, left_s: float, running_s: float) -> tuple[int | None, dict[int, float]]:
        """Find the first part to sum up for which there is time.

        Returns:
            Its number, if there is one; and of those before it for which there is not, and which were not
            tried yet, what they are expected to take, in seconds.
        """
        passed: set[int] = set()
        too_large: dict[int, float] = {}
        while (number := self._parts.not_summed(self._analysis, passed)) is not None:
            passed.add(number)
            with self._left_as_it_is(number, running_s):
                expected_s = self._expected_s(number)
                if expected_s < left_s:
                    return number, too_large
                if number not in self._too_slow:
                    too_large[number] = expected_s
        return None, too_large

    def _retire(self, before: datetime, now: datetime, running_s: float) -> None:
        for _ in range(RETIRED_PER_IDLE):
            number = self._parts.over_before(before, self._analysis)
            if number is None:
                return
            with self._left_as_it_is(number, running_s):
                if not self._parts.retire(number, self._analysis, now):
                    self._not_before_s = running_s + WHILE_READ_S
                    return

    @contextmanager
    def _left_as_it_is(self, number: int, running_s: float) -> Iterator[None]:
        """Leave a part alone for some time of which something could not be done; the disk may be full."""
        try:
            yield
        except FlowsweepError as error:
            self._parts.leave(number)
            if self._left_at_s is None:
                self._left_at_s = running_s
            if str(error) not in self._said:
                self._said.add(str(error))
                self._told(f"a part of its archive stays as it is: {error}")
