"""Batches of jobs that run side by side: when each begins, what is too late, and what a failure ends."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from analysis_support import make_trial
from flowsweep.defaults import SECOND_NS
from flowsweep.run.packed import PackedRunner
from flowsweep.schedule import Slot
from flowsweep.schedule.packing import Batch, Job, Need, Packing, Sharing
from virtual_time import VirtualTimeLoop


def job(lasts_s: int, hosts: str = "ab") -> Job:
    slot = Slot(trials=(make_trial(),))
    return Job(slot, frozenset(Need("host", host) for host in hosts), lasts_s * SECOND_NS)


@dataclass
class Diary:
    """What a runner did."""

    at_once: int = 4
    begun_s: list[tuple[int, Job]] = field(default_factory=list)
    over_s: list[tuple[int, Job]] = field(default_factory=list)
    runner: PackedRunner = field(init=False)

    def __post_init__(self) -> None:
        self.runner = PackedRunner(Packing((), Sharing(self.at_once)), now_ns=lambda: now_s() * SECOND_NS)

    async def run(self, batch: Batch, *, fails: Job | None = None) -> bool:
        async def carry_out(one: Job) -> None:
            self.begun_s.append((now_s(), one))
            await asyncio.sleep(one.lasts_ns / SECOND_NS)
            if one is fails:
                raise OSError("no")
            self.over_s.append((now_s(), one))

        return await self.runner.run(batch, carry_out)


def now_s() -> int:
    return round(asyncio.get_running_loop().time())


def in_virtual_time(test: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(test())


async def later(after_s: float, awaited: Awaitable[bool]) -> bool:
    await asyncio.sleep(after_s)
    return await awaited


def before(latest_s: int) -> Callable[[Job], bool]:
    return lambda _: now_s() <= latest_s


def test_what_is_added_later_runs_beside_what_runs_where_hosts_are_free() -> None:
    async def test() -> tuple[list[bool], Diary, Sequence[Job]]:
        diary = Diary()
        long, beside, same = job(100), job(5, "cd"), job(5)
        runs = diary.run(Batch((long,))), diary.run(Batch((beside,))), diary.run(Batch((same,)))
        return await asyncio.gather(*map(later, (0, 10, 20), runs)), diary, (long, beside, same)

    ran, diary, (long, beside, same) = in_virtual_time(test)
    assert ran == [True, True, True]
    assert diary.begun_s == [(0, long), (10, beside), (100, same)]


def test_a_batch_that_did_not_begin_in_time_keeps_nothing_from_others() -> None:
    """It waits for a and c; what comes later and needs c alone must not wait for it once it is too late."""

    async def test() -> tuple[list[bool], Diary, Sequence[Job]]:
        diary = Diary()
        long, late, other = job(100, "ab"), job(200, "ac"), job(90, "cd")
        runs = (
            diary.run(Batch((long,))),
            diary.run(Batch((late, job(200, "ac")), before(30))),
            diary.run(Batch((other,))),
        )
        return await asyncio.gather(*map(later, (0, 10, 40), runs)), diary, (long, other)

    ran, diary, (long, other) = in_virtual_time(test)
    assert ran == [True, False, True]
    assert diary.begun_s == [(0, long), (40, other)]


def test_once_a_job_is_too_late_none_of_its_batch_begins_and_those_that_run_end() -> None:
    async def test() -> tuple[bool, Diary, Sequence[Job]]:
        diary = Diary(at_once=2)
        jobs = job(20, "ab"), job(50, "cd"), job(1, "ab"), job(1, "cd")
        return await diary.run(Batch(jobs, before(10))), diary, jobs

    ran, diary, jobs = in_virtual_time(test)
    assert not ran
    assert diary.begun_s == [(0, jobs[0]), (0, jobs[1])]
    assert diary.over_s == [(20, jobs[0]), (50, jobs[1])]


def test_the_first_that_fails_ends_its_batch_and_is_raised_while_others_go_on() -> None:
    async def test() -> tuple[Diary, Sequence[Job]]:
        diary = Diary()
        bad, cut_off, never, other = job(5, "ab"), job(50, "cd"), job(1, "ab"), job(30, "ef")
        going = asyncio.ensure_future(diary.run(Batch((other,))))
        with pytest.raises(OSError, match="no"):
            await diary.run(Batch((bad, cut_off, never)), fails=bad)
        assert now_s() == 5
        assert await going
        return diary, (bad, cut_off, other)

    diary, (bad, cut_off, other) = in_virtual_time(test)
    assert [one for _, one in diary.begun_s] == [bad, cut_off, other]
    assert diary.over_s == [(30, other)]


def test_nothing_to_do_is_done_at_once() -> None:
    assert in_virtual_time(lambda: Diary().run(Batch(())))


def test_what_needs_nothing_begins_though_all_hosts_are_wanted() -> None:
    async def test() -> tuple[Diary, Job]:
        diary = Diary()
        free = job(1, "")
        runs = diary.run(Batch((job(100), job(100), job(100)))), diary.run(Batch((free,)))
        await asyncio.gather(*map(later, (0, 10), runs))
        return diary, free

    diary, free = in_virtual_time(test)
    assert diary.begun_s[1] == (10, free)
