"""Runs sweeps when they are due, and records those that did not run, with the reason."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby
from typing import Protocol

from flowsweep.defaults import SECOND_NS
from flowsweep.run.clock import Clock, SystemClock
from flowsweep.run.hold_ups import Failing, HoldUps
from flowsweep.run.outcome import Missed
from flowsweep.schedule import Occasion, Slot

LOOK_EVERY_NS = SECOND_NS
"""Longest wait without a look at the clocks: that a clock was set, or the machine suspended, shows then."""


_AT_ONCE = 1000
"""Occasions that are passed over, or looked at, before others have their turn."""


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
    """Says why nothing may run now, if so; asked before each slot."""
    holds: Callable[[int], bool] = lambda _running: False
    """Says, while so many sweeps run, whether what is due waits, up to its latest moment, until `idle` had
    its time; called in a thread."""
    failing: Failing | None = None
    """The tries to begin before this one, if they failed."""


@dataclass(frozen=True, slots=True)
class SlotWatch:
    """Hears of the slots of an occasion."""

    in_time: Callable[[int], bool]
    """Says whether a slot may begin still that was expected to begin so many nanoseconds after the first."""
    begins: Callable[[Slot], None]
    over: Callable[[], None]
    """Hears that a slot is over."""


class Campaign(Protocol):
    """What a timekeeper has of a campaign."""

    async def run_slots(self, slots: Sequence[Slot], watch: SlotWatch) -> bool:
        """Run slots to their ends; returns whether all of them ran."""

    async def record(self, missed: Missed) -> None:
        """Keep what was missed."""

    def waits_for(self, occasion: Occasion, left_ns: int) -> None:
        """Hear what comes next and in how many nanoseconds, again and again until it is due."""

    async def idle(self, left_ns: int) -> None:
        """Use the time until something is due, likewise; not while something is to be recorded still."""

    async def holds(self, running: int) -> bool:
        """Say, while so many sweeps run, whether what is due waits for `idle`."""


class Timekeeper:
    """Decides what runs when.

    An occasion runs if it can begin when it is due, or up to its latest moment; else it is passed over. What
    was passed over is recorded when something else runs, or at the end: a clock that was set forward and is
    set back before that has cost nothing. So nothing runs twice, and nothing is made up for in a burst.

    Occasions of different sweeps run side by side if they may; those of one sweep follow each other, and are
    settled in this order. So the last one of a sweep that an archive knows of is the only one that a
    controller can have left unfinished.

    Args:
        timetable: When sweeps are due.
        campaign: What runs, keeps and hears of it.
        side_by_side: Whether occasions may run while others do. What they may not share is for the campaign.
    """

    def __init__(self, timetable: Timetable, campaign: Campaign, *, side_by_side: bool = False) -> None:
        self._timetable = timetable
        self._clock = timetable.clock
        self._campaign = campaign
        self._hold_ups = HoldUps(self._clock.read(), looks_while_busy=side_by_side, failing=timetable.failing)
        self._ahead: deque[Occasion] = deque()
        self._passed: list[Occasion] = []
        self._side_by_side = side_by_side
        self._running: dict[str, asyncio.Task[None]] = {}
        """By sweep: the last of its occasions that runs beside others, or waits for the one before."""
        self._held = False
        """Whether what is due waits for `idle`."""

    async def run(self) -> None:
        """Run all occasions; for ever, if they have no end."""
        try:
            while (occasion := await self._next()) is not None or self._running:
                if occasion is None or self._left_ns(occasion) > 0:
                    self._held = False
                    await self._wait(occasion)
                    continue
                self._held = await self._campaign.holds(len(self._running))
                if self._held:
                    await self._hold()
                    continue
                if self._ahead[0] is not occasion:
                    continue  # Meanwhile the clock was set back.
                self._ahead.popleft()
                await self._record_passed()
                if self._side_by_side:
                    before = self._running.get(occasion.sweep)
                    self._running[occasion.sweep] = asyncio.ensure_future(self._run_after(before, occasion))
                else:
                    await self._run(occasion)
        finally:
            for task in self._running.values():
                task.cancel()
            await asyncio.gather(*self._running.values(), return_exceptions=True)
            self._running = {sweep: task for sweep, task in self._running.items() if not _ended_well(task)}
            await self._record_passed()

    async def _wait(self, occasion: Occasion | None) -> None:
        """Wait until the next occasion is due, the clocks are to be looked at, or something is over."""
        if occasion is not None and not self._running:
            self._campaign.waits_for(occasion, self._left_ns(occasion))
            if not self._passed:
                await self._campaign.idle(self._left_ns(occasion))
                self._look(tidied=True)
        left_ns = self._timetable.look_every_ns if occasion is None else self._left_ns(occasion)
        await self._sleep(max(0, min(left_ns, self._timetable.look_every_ns)))

    async def _hold(self) -> None:
        """Wait until nothing runs any more; then have `idle` take the time that it needs."""
        if self._running:
            await self._sleep(self._timetable.look_every_ns)
            return
        await self._record_passed()
        await self._campaign.idle(0)
        self._look(tidied=True)
        self._held = False

    async def _sleep(self, wait_ns: int) -> None:
        """Wait for so long, or until something is over."""
        if not self._running:
            await self._clock.sleep(wait_ns)
            return
        slept = asyncio.ensure_future(self._clock.sleep(wait_ns))
        try:
            await asyncio.wait({slept, *self._running.values()}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            slept.cancel()
        if slept.done():
            slept.result()

    def _left_ns(self, occasion: Occasion) -> int:
        return occasion.due_unix_ns - self._hold_ups.last.unix_ns

    async def _run_after(self, before: asyncio.Task[None] | None, occasion: Occasion) -> None:
        """Run an occasion once the one before it of its sweep is over."""
        if before is not None:
            await before
            self._look(busy=True)
        if not occasion.due_unix_ns <= self._hold_ups.last.unix_ns <= occasion.latest_unix_ns:
            self._put_back(occasion)
            return
        await self._record_passed(occasion.sweep)
        await self._run(occasion)

    def _put_back(self, occasion: Occasion) -> None:
        """Pass over an occasion that is too late now, or wait for it again: the clock was set back."""
        if self._hold_ups.last.unix_ns > occasion.latest_unix_ns:
            self._passed.append(occasion)
        else:
            self._wait_again_for([occasion])

    def _wait_again_for(self, occasions: Iterable[Occasion]) -> None:
        self._ahead = deque(sorted([*occasions, *self._ahead], key=lambda one: one.due_unix_ns))

    def _forget_ended(self) -> None:
        """Forget the runs that ended as they should; raises what another one raised."""
        for sweep, task in list(self._running.items()):
            if task.done():
                task.result()
                del self._running[sweep]

    async def _next(self) -> Occasion | None:
        """Look at the clocks; the first occasion that may still begin.

        A clock that is set forward by a year passes over millions, between which others have their turn.
        """
        self._look(busy=bool(self._running))
        self._forget_ended()
        while True:
            if not self._ahead:
                following = next(self._timetable.occasions, None)
                if following is None:
                    return None
                self._ahead.append(following)
            # Whoever had a turn may have seen that the clock was set back.
            if self._ahead[0].latest_unix_ns >= self._hold_ups.last.unix_ns:
                return self._ahead[0]
            self._passed.append(self._ahead.popleft())
            if len(self._passed) % _AT_ONCE == 0:
                await asyncio.sleep(0)

    def _look(self, *, busy: bool = False, tidied: bool = False) -> None:
        """Look at the clocks. Where they were set back, what was passed over since may be due again."""
        before_ns = self._hold_ups.last.unix_ns
        self._hold_ups.look(self._clock.read(), busy=busy, held=self._held, tidied=tidied)
        now_ns = self._hold_ups.last.unix_ns
        if now_ns < before_ns:
            self._wait_again_for(one for one in self._passed if one.latest_unix_ns >= now_ns)
            self._passed = [one for one in self._passed if one.latest_unix_ns < now_ns]

    async def _run(self, occasion: Occasion) -> None:
        """Run the slots of an occasion, each no later behind its place than the first may be."""
        if (reason := self._timetable.refuses()) is not None:
            await self._campaign.record(_missed([occasion], reason, self._run_before(occasion)))
            return
        trials = before = self._run_before(occasion)
        refused: str | None = None

        def in_time(after_ns: int) -> bool:
            nonlocal refused
            # Once some of it ran, the rest is wanted even if the clock is set back.
            late = self._hold_ups.last.unix_ns > occasion.latest_unix_ns + after_ns
            if late or not (trials > before or self._hold_ups.last.unix_ns >= occasion.due_unix_ns):
                return False
            # What there was room for at the begin may have filled the disk.
            refused = self._timetable.refuses()
            return refused is None

        def begins(slot: Slot) -> None:
            nonlocal trials
            trials += slot.trial_count

        watch = SlotWatch(in_time, begins, lambda: self._look(busy=True))
        if await self._campaign.run_slots(self._timetable.slots_of(occasion), watch):
            return
        if trials == before and refused is None:
            self._put_back(occasion)
        else:
            reason = refused or self._hold_ups.reason(occasion)
            await self._campaign.record(_missed([occasion], reason, trials))

    def _run_before(self, occasion: Occasion) -> int:
        """How many of its trials an earlier run of the program ran."""
        return self._timetable.trials_run.get(occasion.key, 0)

    async def _record_passed(self, of_sweep: str | None = None) -> None:
        """Record what was passed over: of each sweep, what follows each other for one reason, together.

        Not while what came before of the same sweep still runs, unless it is the sweep that is named.
        """
        held = self._running.keys() - {of_sweep}
        passed = sorted((one for one in self._passed if one.sweep not in held), key=lambda one: one.key)
        self._passed = [one for one in self._passed if one.sweep in held]
        why = []
        for one in passed:
            why.append((self._hold_ups.reason(one), self._run_before(one)))
            if len(why) % _AT_ONCE == 0:
                await asyncio.sleep(0)
        in_a_row = groupby(
            range(len(passed)), lambda place: (passed[place].sweep, passed[place].number - place, why[place])
        )
        for (_, _, (reason, trials)), places in in_a_row:
            await self._campaign.record(_missed([passed[place] for place in places], reason, trials))


def _ended_well(task: asyncio.Task[None]) -> bool:
    return not task.cancelled() and task.exception() is None


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
