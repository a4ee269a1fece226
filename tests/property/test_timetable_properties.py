"""A year of sweeps with times, in virtual time: each time is run or has a reason, whatever happens."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flowsweep.defaults import SECOND_NS
from flowsweep.plan import Plan
from flowsweep.plan.file import parse_plan
from flowsweep.run.packed import PackedRunner
from flowsweep.run.timetable import SlotWatch, Timekeeper, Timetable
from flowsweep.schedule import Occasion, Slot, slot_duration_ns
from flowsweep.schedule.packing import Batch, Job, Packing, packed, sharing_of
from timed_world import (
    BEGUN_NS,
    HOUR_NS,
    MINUTE_NS,
    TIMES,
    ZONE,
    DownError,
    FakeCampaign,
    World,
    drawn_world,
)
from virtual_time import VirtualTimeLoop

HOSTS = "".join(f'[hosts.{name}]\naddress = "192.0.2.{number}"\n' for number, name in enumerate("abcd", 1))
LINK = """
[groups]
west = ["a", "c"]
east = ["b", "d"]
[links.channel]
between = ["west", "east"]
"""
"""On it are the paths from a to b and from c to d, and not that from a to c."""
SWEEP = """
[[sweep]]
name = "s{number}"
paths = [{{ from = "{src}", to = "{dst}" }}]
duration = "3s"
interval = "1s"
flows = {flows}
{times}
"""


def plan_of(chance: Random, *, concurrent: int = 1) -> Plan:
    """Sweeps from a to b; where several may run at a time, between other hosts and beside others, too."""
    ways = [("a", "b")] if concurrent == 1 else [("a", "b"), ("c", "d"), ("a", "c")]
    keys = [""] if concurrent == 1 else ["", "", "exclusive = false"]
    sweeps = "".join(
        SWEEP.format(
            number=number,
            src=(way := chance.choice(ways))[0],
            dst=way[1],
            flows=chance.choice((1, [1, 2], [1, 2, 4])),
            times=f"{times}\n{chance.choice(keys)}",
        )
        for number, times in enumerate(chance.sample(TIMES, chance.randrange(1, len(TIMES) + 1)))
    )
    zone = ZONE if "at =" in sweeps or "between" in sweeps else ""
    link = "" if concurrent == 1 else chance.choice(("", LINK))
    return parse_plan(f"[campaign]\nconcurrent = {concurrent}\n{zone}\n{HOSTS}{link}{sweeps}", "times.toml")


def control(world: World, plan: Plan) -> None:
    """Run a controller that runs one trial at a time until the machine ends it."""
    timetable, resume = world.timetable(plan)

    async def run_slots(slots: Sequence[Slot], watch: SlotWatch) -> bool:
        after_ns = 0
        for slot in slots:
            if resume.next_step(slot)[1] is None:
                continue
            if not watch.in_time(after_ns):
                return False
            watch.begins(slot)
            assert world.boot_ns >= world.busy_until_ns, "two at once"
            world.begins(slot)
            world.pass_time(world.chance.choice(world.lasts_ns))
            world.busy_until_ns = world.boot_ns
            world.ran(slot)
            watch.over()
            after_ns += slot_duration_ns(slot) * slot.steps
        return True

    campaign = FakeCampaign(run_slots, world.keep, world.idle)
    asyncio.run(Timekeeper(timetable, campaign).run())


class LoopWorld(World):
    """A machine whose time is that of the event loop, so that several trials may last at the same time."""

    seen_s = 0.0

    async def sleep(self, duration_ns: int) -> None:
        # Months from its begin the loop's clock, a float, does not tell nanoseconds apart.
        await asyncio.sleep(max(duration_ns, 1000) / SECOND_NS)
        now_s = asyncio.get_running_loop().time()
        passed_ns, self.seen_s = round((now_s - self.seen_s) * SECOND_NS), now_s
        self.pass_time(passed_ns)


@dataclass
class Places:
    """What is in use, by the plan and the trials: as the guide says it, and without asking the product."""

    plan: Plan
    busy: Counter[str] = field(default_factory=Counter)
    """Hosts, and links in brackets."""
    running: int = 0
    most: int = 0

    @contextmanager
    def taken(self, slot: Slot) -> Iterator[None]:
        """Hold what a slot needs; AssertionError if another has it, or if more run than may."""
        needed = self._needed(slot)
        assert not needed & self.busy.keys(), f"two at once on {needed & self.busy.keys()}"
        self.busy.update(needed)
        self.running += 1
        self.most = max(self.most, self.running)
        assert self.running <= self.plan.campaign.concurrent
        try:
            yield
        finally:
            self.busy.subtract(needed)
            self.busy = +self.busy
            self.running -= 1

    def _needed(self, slot: Slot) -> set[str]:
        [sweep] = [one for one in self.plan.sweeps if one.name == slot.trials[0].sweep]
        if not sweep.exclusive:
            return set()
        needed = {host for trial in slot.trials for host in trial.hosts}
        sides = [{"a", "c"}, {"b", "d"}]
        crosses = self.plan.named_links and any(
            {trial.src, trial.dst} & sides[0] and {trial.src, trial.dst} & sides[1] for trial in slot.trials
        )
        return needed | ({"[channel]"} if crosses else set())


def control_side_by_side(world: LoopWorld, plan: Plan, places: Places) -> None:
    """Run a controller that runs trials side by side until the machine ends it."""
    timetable, resume = world.timetable(plan)
    sharing = sharing_of(plan)

    async def run() -> None:
        loop = asyncio.get_running_loop()
        runner = PackedRunner(Packing((), sharing), now_ns=lambda: round(loop.time() * SECOND_NS))

        async def run_slots(slots: Sequence[Slot], watch: SlotWatch) -> bool:
            left = [slot for slot in slots if resume.next_step(slot)[1] is not None]
            jobs = tuple(Job(slot, sharing.needs(slot), slot_duration_ns(slot)) for slot in left)
            begins_ns = packed(jobs, sharing).begins_ns

            async def run_job(job: Job) -> None:
                watch.begins(job.slot)
                world.begins(job.slot)
                with places.taken(job.slot):
                    await world.sleep(world.chance.choice(world.lasts_ns))
                world.ran(job.slot)
                watch.over()

            return await runner.run(Batch(jobs, lambda job: watch.in_time(begins_ns[job])), run_job)

        campaign = FakeCampaign(run_slots, world.keep, world.idle)
        await Timekeeper(timetable, campaign, side_by_side=True).run()

    world.seen_s = 0.0
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        runner.run(run())


@given(seed=st.integers(0, 2**32))
@settings(max_examples=4)
def test_every_time_is_run_or_recorded_as_missed_with_a_reason_and_none_twice(seed: int) -> None:
    check_a_year(seed)


@pytest.mark.long
@given(seed=st.integers(0, 2**32))
@settings(max_examples=15)
def test_so_it_is_in_more_years(seed: int) -> None:
    check_a_year(seed)


def check_a_year(seed: int) -> None:
    world = drawn_world(seed)
    plan = plan_of(world.chance)
    world.live_through_a_year(lambda: control(world, plan))
    world.check_settled(plan)


@pytest.mark.long
@given(seed=st.integers(0, 2**32))
@settings(max_examples=5)
def test_so_it_is_where_sweeps_run_side_by_side(seed: int) -> None:
    drawn = drawn_world(seed)
    world = LoopWorld(drawn.chance, drawn.events)
    plan = plan_of(world.chance, concurrent=4)
    world.live_through_a_year(lambda: control_side_by_side(world, plan, Places(plan)))
    world.check_settled(plan)


@pytest.mark.parametrize(("link", "most"), [("", 2), (LINK, 1)], ids=["none", "a link"])
def test_paths_of_other_hosts_are_measured_at_once_unless_they_have_a_link_in_common(
    link: str, most: int
) -> None:
    world = LoopWorld(Random(1), [(30 * HOUR_NS, "down", 0)], lasts_ns=(5 * SECOND_NS,))
    times = 'every = "7h"'
    sweeps = "".join(
        SWEEP.format(number=number, src=way[0], dst=way[1], flows=[1, 2], times=times)
        for number, way in enumerate(("ab", "cd"))
    )
    plan = parse_plan(f"[campaign]\nconcurrent = 4\n{HOSTS}{link}{sweeps}", "times.toml")
    places = Places(plan)
    with pytest.raises(DownError):
        control_side_by_side(world, plan, places)
    assert places.most == most
    assert Counter((sweep, number) for sweep, number, _ in world.run) == {
        (sweep, number): 2 for sweep in ("s0", "s1") for number in range(1, 6)
    }


@pytest.mark.parametrize("times", TIMES)
def test_where_nothing_happens_and_trials_are_short_nothing_is_missed(times: str) -> None:
    world = World(Random(1), [], lasts_ns=(5 * SECOND_NS,))
    sweep = SWEEP.format(number=0, src="a", dst="b", flows=[1, 2, 4], times=times)
    zone = ZONE if "at =" in times or "between" in times else ""
    plan = parse_plan(f"[campaign]\n{zone}\n{HOSTS}{sweep}", "times.toml")
    world.live_through_a_year(lambda: control(world, plan))
    assert world.missed == []
    assert len(world.run) >= 3 * 360
    world.check_settled(plan)


def test_reasons_are_those_of_what_happened() -> None:
    events = [(10 * HOUR_NS, "step", 30 * HOUR_NS), (100 * HOUR_NS, "suspend", 40 * HOUR_NS)]
    events += [(200 * HOUR_NS, "down", 25 * HOUR_NS)]
    world = World(Random(1), events, lasts_ns=(5 * SECOND_NS,))
    times = SWEEP.format(number=0, src="a", dst="b", flows=1, times='every = "7h"')
    plan = parse_plan(f"{HOSTS}{times}", "times.toml")
    world.live_through_a_year(lambda: control(world, plan))
    told = [(one.reason, one.count) for one in world.missed[:3]]
    assert [reason.partition(" (")[0] for reason, _ in told] == [
        "the clock was set forward",
        "the machine was suspended",
        "the controller was not running",
    ]
    assert all(3 <= count <= 6 for _, count in told)


def test_what_was_due_while_files_were_put_in_order_says_so() -> None:
    world = World(Random(1), [(3 * HOUR_NS, "down", 0)], lasts_ns=(5 * SECOND_NS,))
    times = SWEEP.format(number=0, src="a", dst="b", flows=1, times='every = "1min"\nslip = "10s"')
    plan = parse_plan(f"{HOSTS}{times}", "times.toml")
    turns = iter([100 * SECOND_NS])

    async def idle(_: int) -> None:
        if world.boot_ns > HOUR_NS:
            world.pass_time(next(turns, 0))

    world.idle = idle  # type: ignore[method-assign]
    with pytest.raises(DownError):
        control(world, plan)
    [missed] = world.missed
    assert missed.reason == "the archive's files were being put in order (for 1 min 40 s)"
    assert missed.count == 1


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

    async def record(missed: object) -> None:
        heard.append(f"missed {missed.first}")

    async def idle(_: int) -> None:
        if heard[-1:] != ["idle"]:
            heard.append("idle")

    timetable = Timetable(iter([passed, *coming]), lambda _: (), lambda _: None, clock=world)
    with pytest.raises(DownError):
        asyncio.run(Timekeeper(timetable, FakeCampaign(run_slots, record, idle)).run())
    assert heard == ["missed 1", "run", "idle"]
