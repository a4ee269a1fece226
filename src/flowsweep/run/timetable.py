"""Runs sweeps when they are due, and records those that did not run, with the reason."""

from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby

from flowsweep.defaults import SECOND_NS
from flowsweep.run.clock import Clock, SystemClock
from flowsweep.run.hold_ups import HoldUps
from flowsweep.run.outcome import Missed
from flowsweep.schedule import Occasion, Slot

LOOK_EVERY_NS = SECOND_NS
"""Longest wait without a look at the clocks: that a clock was set, or the machine suspended, shows then."""


@dataclass(frozen=True, slots=True)
class Timetable:
    """When a campaign's sweeps are due."""

    occasions: Iterator[Occasion]
    """Those that are not settled, as time goes on."""
    slots_of: Callable[[Occasion], Sequence[Slot]]
    """All that runs on an occasion, in order."""
    keep: Callable[[Missed], None]
    """Keeps what was missed; called in a thread, returns once it is on disk."""
    trials_run: Mapping[tuple[str, int], int] = field(default_factory=dict)
    """By sweep and number: of those of which an earlier run of the program ran some trials, how many."""
    clock: Clock = field(default_factory=SystemClock)
    look_every_ns: int = LOOK_EVERY_NS
    idle: Callable[[int], None] = lambda _left_ns: None
    """Uses the time until something is due, so many nanoseconds; called in a thread, again and again."""
    refuses: Callable[[], str | None] = lambda: None
    """Says why nothing may run now, if so."""


@dataclass(frozen=True, slots=True)
class SlotWatch:
    """Hears of the slots of an occasion."""

    may_begin: Callable[[Slot, int], bool]
    """Says whether a slot may begin still that was expected to begin so many nanoseconds after the first."""
    over: Callable[[Slot], None]


class Timekeeper:
    """Decides what runs when.

    An occasion runs if it can begin when it is due, or up to its latest moment; else it is passed over. What
    was passed over is recorded when something else runs, or at the end: a clock that was set forward and is
    set back before that has cost nothing. So nothing runs twice, and nothing is made up for in a burst.

    Args:
        timetable: When sweeps are due.
        run_slots: Runs slots to their ends; returns whether all of them ran.
        record: Keeps what was missed.
        waits_for: Is told what comes next and in how many nanoseconds, again and again until it is due.
        idle: Uses that time, likewise, unless something that was passed over is still to be recorded.
    """

    def __init__(
        self,
        timetable: Timetable,
        run_slots: Callable[[Sequence[Slot], SlotWatch], Awaitable[bool]],
        record: Callable[[Missed], Awaitable[None]],
        waits_for: Callable[[Occasion, int], None],
        idle: Callable[[int], Awaitable[None]],
    ) -> None:
        self._timetable = timetable
        self._clock = timetable.clock
        self._run_slots = run_slots
        self._record = record
        self._waits_for = waits_for
        self._idle = idle
        self._hold_ups = HoldUps(self._clock.read())
        self._ahead: deque[Occasion] = deque()
        self._passed: list[Occasion] = []

    async def run(self) -> None:
        """Run all occasions; for ever, if they have no end."""
        try:
            while (occasion := self._next()) is not None:
                left_ns = occasion.due_unix_ns - self._hold_ups.last.unix_ns
                if left_ns > 0:
                    self._waits_for(occasion, left_ns)
                    if not self._passed:
                        await self._idle(left_ns)
                    await self._clock.sleep(min(left_ns, self._timetable.look_every_ns))
                    continue
                self._ahead.popleft()
                await self._record_passed()
                await self._run(occasion)
        finally:
            await self._record_passed()

    def _next(self) -> Occasion | None:
        """Look at the clocks; the first occasion that may still begin."""
        before_ns = self._hold_ups.last.unix_ns
        self._look()
        now_ns = self._hold_ups.last.unix_ns
        if now_ns < before_ns:
            again = [one for one in self._passed if one.latest_unix_ns >= now_ns]
            self._ahead.extendleft(reversed(again))
            self._passed = [one for one in self._passed if one.latest_unix_ns < now_ns]
        while True:
            if not self._ahead:
                following = next(self._timetable.occasions, None)
                if following is None:
                    return None
                self._ahead.append(following)
            if self._ahead[0].latest_unix_ns >= now_ns:
                return self._ahead[0]
            self._passed.append(self._ahead.popleft())

    def _look(self, *, busy: bool = False) -> None:
        self._hold_ups.look(self._clock.read(), busy=busy)

    async def _run(self, occasion: Occasion) -> None:
        """Run the slots of an occasion, each no later behind its place than the first may be."""
        if (reason := self._timetable.refuses()) is not None:
            await self._record(_missed([occasion], reason, self._run_before(occasion)))
            return
        latest_ns = occasion.latest_unix_ns
        trials = self._run_before(occasion)

        def may_begin(slot: Slot, after_ns: int) -> bool:
            nonlocal trials
            if after_ns > 0 and self._hold_ups.last.unix_ns > latest_ns + after_ns:
                return False
            trials += slot.trial_count
            return True

        watch = SlotWatch(may_begin, lambda _: self._look(busy=True))
        if not await self._run_slots(self._timetable.slots_of(occasion), watch):
            await self._record(_missed([occasion], self._hold_ups.reason(occasion), trials))

    def _run_before(self, occasion: Occasion) -> int:
        """How many of its trials an earlier run of the program ran."""
        return self._timetable.trials_run.get(occasion.key, 0)

    async def _record_passed(self) -> None:
        """Record what was passed over: of each sweep, what follows each other for one reason, together."""
        passed, self._passed = self._passed, []
        passed.sort(key=lambda one: one.key)
        why = [(self._hold_ups.reason(one), self._run_before(one)) for one in passed]
        in_a_row = groupby(
            range(len(passed)), lambda place: (passed[place].sweep, passed[place].number - place, why[place])
        )
        for (_, _, (reason, trials)), places in in_a_row:
            await self._record(_missed([passed[place] for place in places], reason, trials))


def _missed(occasions: Sequence[Occasion], reason: str, trials_run: int) -> Missed:
    first, last = occasions[0], occasions[-1]
    return Missed(
        sweep=first.sweep,
        first=first.number,
        last=last.number,
        first_due=_moment(first.due_unix_ns),
        last_due=_moment(last.due_unix_ns),
        reason=reason,
        trials_run=trials_run,
    )


def _moment(unix_ns: int) -> datetime:
    return datetime.fromtimestamp(unix_ns / SECOND_NS, UTC)
