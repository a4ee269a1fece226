"""What is due side by side and while files wait, in virtual time, on a machine whose clock is set."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from flowsweep.defaults import SECOND_NS
from flowsweep.run.clock import Reading
from flowsweep.run.hold_ups import IN_ORDER, TO_BE_IN_ORDER
from flowsweep.run.outcome import Missed
from flowsweep.run.timetable import SlotWatch, Timekeeper, Timetable
from flowsweep.schedule import Occasion
from timed_world import FakeCampaign
from virtual_time import VirtualTimeLoop

BEGUN_NS = 1_790_000_000 * SECOND_NS
Key = tuple[str, int]


@dataclass
class Machine:
    """A machine with a clock that is set at some moments, and trials that last as long as is said."""

    lasts_s: dict[Key, float] = field(default_factory=dict)
    """By occasion; others last a second."""
    steps: tuple[tuple[float, float], ...] = ()
    """When the clock is set, in seconds that passed, and by how many."""
    holds: Callable[[float], bool] = lambda _: False
    """Whether what is due waits, so many seconds after the begin."""
    refuses: Callable[[], str | None] = lambda: None
    """Says why nothing may run now."""
    slots: int = 1
    """Of each occasion."""
    idle_s: float = 0.0
    """What putting files in order takes where what is due waits."""
    ran: list[tuple[Key, float]] = field(default_factory=list)
    """What ran, and when it began, in seconds that passed."""
    missed: list[Missed] = field(default_factory=list)
    idled: list[float] = field(default_factory=list)

    def passed_s(self) -> float:
        return asyncio.get_running_loop().time()

    def read(self) -> Reading:
        passed_ns = round(self.passed_s() * SECOND_NS)
        set_ns = sum(round(by_s * SECOND_NS) for at_s, by_s in self.steps if at_s <= self.passed_s())
        return Reading(BEGUN_NS + passed_ns + set_ns, passed_ns, passed_ns)

    async def sleep(self, duration_ns: int) -> None:
        await asyncio.sleep(duration_ns / SECOND_NS)

    async def run_slots(self, slots: Sequence[Any], watch: SlotWatch) -> bool:
        for occasion in slots:
            if not watch.in_time(0):
                return False
            watch.begins(SimpleNamespace(trial_count=1))  # type: ignore[arg-type]
            self.ran.append((occasion.key, self.passed_s()))
            await asyncio.sleep(self.lasts_s.get(occasion.key, 1.0))
            watch.over()
        return True

    async def record(self, missed: Missed) -> None:
        self.missed.append(missed)

    async def idle(self, _: int) -> None:
        if self.holds(self.passed_s()):
            self.idled.append(self.passed_s())
            await asyncio.sleep(self.idle_s)

    def live(self, occasions: Sequence[Occasion], *, side_by_side: bool) -> None:
        timetable = Timetable(
            iter(sorted(occasions, key=lambda one: one.due_unix_ns)),
            slots_of=lambda occasion: [occasion] * self.slots,  # type: ignore[list-item]
            keep=lambda _: None,
            clock=self,
            refuses=self.refuses,
        )

        async def holds(_running: int) -> bool:
            await asyncio.sleep(0)
            return self.holds(self.passed_s())

        campaign = FakeCampaign(self.run_slots, self.record, self.idle, holds)

        async def run() -> None:
            await Timekeeper(timetable, campaign, side_by_side=side_by_side).run()

        with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
            runner.run(run())


def due(sweep: str, number: int, at_s: float, slip_s: float) -> Occasion:
    due_ns = BEGUN_NS + round(at_s * SECOND_NS)
    return Occasion(sweep, number, due_ns, due_ns + round(slip_s * SECOND_NS))


@pytest.mark.parametrize("back_s", [116.0, 112.5])
def test_a_clock_that_is_set_forward_and_back_costs_no_time_of_a_sweep(back_s: float) -> None:
    """While the first is running, the second is due; then the third and fourth are over for a while.

    The clock is set back once the second was passed over, too, or just before it may begin.
    """
    lasts_s = 115.0 if back_s > 115 else 112.6
    machine = Machine({("a", 1): lasts_s}, ((110.2, 250.0), (back_s, -250.0)))
    times = [due("a", number, 100 * (number - 1), 30) for number in range(1, 5)]
    machine.live([*times, due("a", 5, 1000, 30)], side_by_side=True)
    assert [number for (_, number), _ in machine.ran] == [1, 2, 3, 4, 5]
    assert [began for _, began in machine.ran[2:]] == pytest.approx([200, 300, 1000], abs=1)
    assert machine.missed == []


def test_others_have_their_turn_while_many_times_are_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """As after a clock was set forward by months: engines must hear of their controller meanwhile."""
    turns, once = 0, VirtualTimeLoop._run_once

    def counted(loop: VirtualTimeLoop) -> None:
        nonlocal turns
        turns += 1
        once(loop)

    monkeypatch.setattr(VirtualTimeLoop, "_run_once", counted)
    many = 20_000
    machine = Machine()
    machine.live(
        [due("a", number, -10 * (many + 1 - number), 0) for number in range(1, many + 1)], side_by_side=False
    )
    assert [(one.first, one.last) for one in machine.missed] == [(1, many)]
    assert turns >= 2 * many / 1000


@pytest.mark.parametrize("side_by_side", [False, True])
def test_what_is_due_waits_for_files_where_nothing_runs_and_is_late_or_missed(*, side_by_side: bool) -> None:
    machine = Machine(holds=lambda passed_s: passed_s >= 5 and not machine.idled, idle_s=25.0)
    occasions = [due("a", 1, 5, 30), due("b", 1, 6, 10), due("a", 2, 40, 30)]
    machine.live(occasions, side_by_side=side_by_side)
    assert len(machine.idled) == 1
    assert machine.ran == [(("a", 1), pytest.approx(30, abs=2)), (("a", 2), pytest.approx(40, abs=1))]
    assert [(one.sweep, one.reason) for one in machine.missed] == [("b", f"{IN_ORDER} (for 25 s)")]


def test_what_is_due_waits_for_what_runs_to_end_and_not_for_ever() -> None:
    """A sweep runs for long, and does not end while another one waits: then both go on side by side."""
    machine = Machine({("long", 1): 100.0}, holds=lambda passed_s: 20 < passed_s < 60)
    short = [due("short", number, 10 * number, 5) for number in range(1, 10)]
    machine.live([due("long", 1, 0, 5), *short], side_by_side=True)
    assert machine.idled == []
    ran = [number for (sweep, number), _ in machine.ran if sweep == "short"]
    assert ran == [1, 2, 6, 7, 8, 9] or ran == [1, 6, 7, 8, 9]
    assert {one.reason for one in machine.missed} == {TO_BE_IN_ORDER}
    assert sum(one.last - one.first + 1 for one in machine.missed) == 9 - len(ran)


def test_where_what_runs_ends_in_time_files_are_put_in_order_and_what_waited_runs() -> None:
    machine = Machine({("long", 1): 30.0}, holds=lambda passed_s: passed_s > 20 and not machine.idled)
    machine.live([due("long", 1, 0, 5), due("short", 1, 25, 20)], side_by_side=True)
    assert machine.idled == [pytest.approx(30, abs=1)]
    assert machine.ran[-1] == (("short", 1), pytest.approx(30, abs=2))
    assert machine.missed == []


@pytest.mark.parametrize("side_by_side", [False, True])
@pytest.mark.parametrize("fits", [0, 3])
def test_what_a_disk_that_fills_up_has_no_room_for_does_not_run(*, side_by_side: bool, fits: int) -> None:
    """Also where there was room when the first of them was to begin."""
    asked = 0

    def refuses() -> str | None:
        nonlocal asked
        asked += 1
        return "the disk is nearly full" if asked > 1 + fits else None

    machine = Machine(refuses=refuses, slots=10)
    machine.live([due("a", 1, 0, 60), due("a", 2, 100, 60)], side_by_side=side_by_side)
    assert [key for key, _ in machine.ran] == [("a", 1)] * fits
    assert [(one.first, one.trials_run, one.reason) for one in machine.missed] == [
        (1, fits, "the disk is nearly full"),
        (2, 0, "the disk is nearly full"),
    ]
