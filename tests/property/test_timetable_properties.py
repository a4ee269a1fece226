"""A year of sweeps with times, in virtual time: each time is run or has a reason, whatever happens."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flowsweep.defaults import SECOND_NS
from flowsweep.plan import Plan
from flowsweep.plan.file import parse_plan
from flowsweep.run.clock import Reading
from flowsweep.run.outcome import FinishedTrial, Missed
from flowsweep.run.resume_state import ResumeState
from flowsweep.run.settled import Begun, timetable_of
from flowsweep.run.timetable import SlotWatch, Timekeeper, Timetable
from flowsweep.schedule import Occasion, Slot, occasions, slot_duration_ns

BEGUN_NS = 1_790_000_000 * SECOND_NS
"""In September 2026: clocks are set in October and in March."""
MINUTE_NS = 60 * SECOND_NS
HOUR_NS = 60 * MINUTE_NS
YEAR_NS = 365 * 24 * HOUR_NS
LOOK_NS = 20 * MINUTE_NS
SWEEP = """
[[sweep]]
name = "s{number}"
paths = [{{ from = "a", to = "b" }}]
duration = "3s"
interval = "1s"
flows = {flows}
{times}
"""
TIMES = (
    'every = "7h"',
    'every = "13h"\njitter = "1h"\nslip = "3h"',
    'at = ["02:30", "03:15"]\njitter = "5min"',
    'every = "5h"\nbetween = ["22:00", "06:00"]\nslip = "20min"',
)


class DownError(Exception):
    """The controller ends, at any moment."""


@dataclass
class World:
    """A machine, and a controller on it that may end and start again."""

    chance: Random
    events: list[tuple[int, str, int]]
    """What happens to the machine: when (boot time), what, by how much."""
    lasts_ns: tuple[int, ...] = (5 * SECOND_NS, MINUTE_NS, 40 * MINUTE_NS, 4 * HOUR_NS)
    """How long a trial may take: one of these, drawn each time."""
    boot_ns: int = 0
    suspended_ns: int = 0
    stepped_ns: int = 0
    busy_until_ns: int = -1
    run: list[tuple[str, int, str]] = field(default_factory=list)
    """Sweep, number and trial of what ran, in order."""
    missed: list[Missed] = field(default_factory=list)
    settled_unix_ns: int = 0
    """When the last controller began: what was due before is run, or recorded as missed."""
    began: dict[tuple[str, int], int] = field(default_factory=dict)
    """By occasion: when it began, by the wall clock."""
    parts: Random = field(default_factory=lambda: Random(5))
    """Decides when the archive goes on in a new part, of which alone a controller knows then:"""
    of_part: dict[str, FinishedTrial] = field(default_factory=dict)
    missed_in_part: list[Missed] = field(default_factory=list)
    settled_before: dict[str, int] = field(default_factory=dict)
    """What the parts before say: by sweep, the highest number of a time that ran or was missed."""
    parts_begun: int = 0

    def read(self) -> Reading:
        return Reading(self.unix_ns, self.boot_ns, self.boot_ns - self.suspended_ns)

    @property
    def unix_ns(self) -> int:
        return BEGUN_NS + self.boot_ns + self.stepped_ns

    async def sleep(self, duration_ns: int) -> None:
        self.pass_time(duration_ns)

    def begin_part(self) -> None:
        """Forget all but the numbers, as an archive's writer does."""
        told = [(one.sweep, one.repeat) for one in self.of_part.values()]
        for sweep, number in (*told, *((one.sweep, one.last) for one in self.missed_in_part)):
            self.settled_before[sweep] = max(self.settled_before.get(sweep, 0), number)
        self.of_part.clear()
        self.missed_in_part.clear()
        self.parts_begun += 1

    def pass_time(self, duration_ns: int) -> None:
        """Let time pass, and what was to happen in it happen."""
        until_ns = self.boot_ns + duration_ns
        while self.events and self.events[0][0] <= until_ns:
            at_ns, what, by_ns = self.events.pop(0)
            self.boot_ns = max(self.boot_ns, at_ns)
            match what:
                case "step":
                    self.stepped_ns += by_ns
                case "suspend":
                    self.boot_ns += abs(by_ns)
                    self.suspended_ns += abs(by_ns)
                case _:
                    raise DownError(abs(by_ns))
        self.boot_ns = max(self.boot_ns, until_ns)


def drawn_world(seed: int) -> World:
    chance = Random(seed)
    kinds = ("step", "suspend", "down")
    events = sorted(
        (
            chance.randrange(YEAR_NS),
            chance.choice(kinds),
            round(chance.choice((-1, 1)) * HOUR_NS * 10 ** chance.uniform(-2, 2)),
        )
        for _ in range(chance.randrange(60))
    )
    return World(chance, events)


def plan_of(chance: Random) -> Plan:
    sweeps = "".join(
        SWEEP.format(number=number, flows=chance.choice((1, [1, 2], [1, 2, 4])), times=times)
        for number, times in enumerate(chance.sample(TIMES, chance.randrange(1, len(TIMES) + 1)))
    )
    zone = 'timezone = "Europe/Vienna"' if "at =" in sweeps or "between" in sweeps else ""
    hosts = '[hosts.a]\naddress = "192.0.2.1"\n[hosts.b]\naddress = "192.0.2.2"\n'
    return parse_plan(f"[campaign]\n{zone}\n{hosts}{sweeps}", "times.toml")


def controlled(world: World, plan: Plan) -> None:
    """Run a controller until the machine ends it."""
    resume = ResumeState(done=frozenset(world.of_part))
    begun = Begun(BEGUN_NS, 1, world.of_part, list(world.missed_in_part), resume, dict(world.settled_before))
    made = timetable_of(plan, begun, world.missed.append)
    timetable = Timetable(
        made.occasions, made.slots_of, made.keep, made.trials_run, clock=world, look_every_ns=LOOK_NS
    )

    async def run_slots(slots: Sequence[Slot], watch: SlotWatch) -> bool:
        after_ns = 0
        for slot in slots:
            if resume.next_step(slot)[1] is None:
                continue
            if not watch.may_begin(slot, after_ns):
                return False
            assert world.boot_ns >= world.busy_until_ns, "two at once"
            key = (slot.trials[0].sweep, slot.trials[0].repeat)
            world.began.setdefault(key, world.unix_ns)
            world.pass_time(world.chance.choice(world.lasts_ns))
            world.busy_until_ns = world.boot_ns
            for trial in slot.trials:
                world.run.append((*key, trial.trial_id))
                world.of_part[trial.trial_id] = FinishedTrial(1, trial.sweep, trial.repeat, None)
            watch.over(slot)
            after_ns += slot_duration_ns(slot) * slot.steps
        return True

    async def keep(missed: Missed) -> None:
        world.missed.append(missed)
        world.missed_in_part.append(missed)

    async def idle(_: int) -> None:
        if len(world.of_part) > 3 and world.parts.random() < 0.02:
            world.begin_part()

    asyncio.run(Timekeeper(timetable, run_slots, keep, lambda *_: None, idle).run())


def lived_through(world: World, plan: Plan) -> None:
    """A year, with controllers that end and start again."""
    while world.boot_ns < YEAR_NS:
        if not any(what == "down" for _, what, _ in world.events):
            # A last one looks at the clocks once: all that was due before is settled then.
            world.events.append((max(YEAR_NS, world.boot_ns + 2 * LOOK_NS), "down", 0))
        world.settled_unix_ns = world.unix_ns
        try:
            controlled(world, plan)
        except DownError as down:
            world.boot_ns += int(down.args[0])


def settled(missed: Sequence[Missed]) -> Iterator[tuple[tuple[str, int], Missed]]:
    return (((one.sweep, number), one) for one in missed for number in range(one.first, one.last + 1))


def before(plan: Plan, unix_ns: int) -> dict[tuple[str, int], Occasion]:
    found = {}
    for one in occasions(plan, BEGUN_NS, 1):
        if one.due_unix_ns >= unix_ns:
            return found
        found[one.key] = one
    raise AssertionError


@given(seed=st.integers(0, 2**32))
@settings(max_examples=15)
def test_every_time_is_run_or_recorded_as_missed_with_a_reason_and_none_twice(seed: int) -> None:
    world = drawn_world(seed)
    plan = plan_of(world.chance)
    lived_through(world, plan)
    trials = Counter(trial_id for _, _, trial_id in world.run)
    assert set(trials.values()) <= {1}
    ran = Counter((sweep, number) for sweep, number, _ in world.run)
    missed = list(settled(world.missed))
    assert len({key for key, _ in missed}) == len(missed), "recorded as missed twice"
    assert all(one.reason for _, one in missed)
    whole = {sweep.name: len(sweep.flows) for sweep in plan.sweeps}
    reasons = dict(missed)
    for key, occasion in before(plan, world.unix_ns).items():
        if key in reasons:
            assert ran[key] == reasons[key].trials_run < whole[key[0]], key
        elif occasion.latest_unix_ns < world.settled_unix_ns:
            assert ran[key] == whole[key[0]], (key, ran[key])
        if key in world.began:
            assert occasion.due_unix_ns <= world.began[key] <= occasion.latest_unix_ns + LOOK_NS


def test_reasons_are_those_of_what_happened() -> None:
    events = [(10 * HOUR_NS, "step", 30 * HOUR_NS), (100 * HOUR_NS, "suspend", 40 * HOUR_NS)]
    events += [(200 * HOUR_NS, "down", 25 * HOUR_NS)]
    world = World(Random(1), events, lasts_ns=(5 * SECOND_NS,))
    hosts = '[hosts.a]\naddress = "192.0.2.1"\n[hosts.b]\naddress = "192.0.2.2"\n'
    times = SWEEP.format(number=0, flows=1, times='every = "7h"')
    plan = parse_plan(f"{hosts}{times}", "times.toml")
    lived_through(world, plan)
    told = [(one.reason, one.count) for one in world.missed[:3]]
    assert [reason.partition(" (")[0] for reason, _ in told] == [
        "the clock was set forward",
        "the machine was suspended",
        "the controller was not running",
    ]
    assert all(3 <= count <= 6 for _, count in told)


def test_no_part_ends_while_something_that_was_passed_over_is_still_to_be_recorded() -> None:
    """Killed then, nobody would know of it: the next part says that its time is settled."""
    world = World(Random(1), [(20 * MINUTE_NS, "down", 0)])
    passed = Occasion("s", 1, BEGUN_NS - HOUR_NS, BEGUN_NS - MINUTE_NS)
    coming = [
        Occasion("s", number, at, at) for number, at in ((2, BEGUN_NS + MINUTE_NS), (3, BEGUN_NS + HOUR_NS))
    ]
    heard: list[str] = []

    async def run_slots(*_: object) -> bool:
        heard.append("run")
        return True

    async def record(missed: Missed) -> None:
        heard.append(f"missed {missed.first}")

    async def idle(_: int) -> None:
        if heard[-1:] != ["idle"]:
            heard.append("idle")

    timetable = Timetable(iter([passed, *coming]), lambda _: (), lambda _: None, clock=world)
    with pytest.raises(DownError):
        asyncio.run(Timekeeper(timetable, run_slots, record, lambda *_: None, idle).run())
    assert heard == ["missed 1", "run", "idle"]
