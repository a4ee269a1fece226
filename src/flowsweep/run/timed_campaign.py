"""A campaign with times, as its timekeeper has it: what runs, is recorded and is told when."""

from collections.abc import Awaitable, Callable, Sequence

from flowsweep.run.events import EventListener, SweepMissed, Waiting
from flowsweep.run.outcome import Missed
from flowsweep.run.timetable import SlotWatch, Timetable
from flowsweep.schedule import Occasion, Slot


class TimedCampaign:
    """Has slots run, what was missed kept, and listeners told.

    Args:
        timetable: Keeps what was missed, and uses the time until something is due.
        run_slots: Runs slots to their ends; returns whether all of them ran.
        keep: Calls what writes to an archive, in a thread, one call at a time.
        events: Is told what was missed, and what comes next.
    """

    def __init__(
        self,
        timetable: Timetable,
        run_slots: Callable[[Sequence[Slot], SlotWatch], Awaitable[bool]],
        keep: Callable[[Callable[[], None]], Awaitable[None]],
        events: EventListener,
    ) -> None:
        self._timetable = timetable
        self._run_slots = run_slots
        self._keep = keep
        self._events = events

    async def run_slots(self, slots: Sequence[Slot], watch: SlotWatch) -> bool:
        """Have them run as far as they are not done."""
        return await self._run_slots(slots, watch)

    async def record(self, missed: Missed) -> None:
        """Keep it, then tell it."""
        await self._keep(lambda: self._timetable.keep(missed))
        self._events(SweepMissed(missed))

    def waits_for(self, occasion: Occasion, left_ns: int) -> None:
        """Tell it."""
        self._events(Waiting(occasion, left_ns))

    async def idle(self, left_ns: int) -> None:
        """Have the timetable use the time."""
        await self._keep(lambda: self._timetable.idle(left_ns))

    async def holds(self, running: int) -> bool:
        """Ask the timetable, whose answer may come from a disk."""
        answers: list[bool] = []
        await self._keep(lambda: answers.append(self._timetable.holds(running)))
        return answers[0]
