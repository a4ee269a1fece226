"""A trial's paths beside it: one that breaks ends the work, and what they counted becomes a table."""

import asyncio
import threading
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from flowsweep.defaults import PATH_NEWS_S
from flowsweep.lab import counter_log
from flowsweep.lab.counter_log import CounterLog, Counters
from flowsweep.run.observer import links_table, unless_broken
from flowsweep.run.outcome import Failure
from flowsweep.run.tables import LINKS_SCHEMA
from flowsweep.run.trial_end import TrialError
from virtual_time import VirtualTimeLoop

COUNTED = dict.fromkeys(LINKS_SCHEMA.names[5:], 7)


class Watch:
    """Paths that break when told."""

    def __init__(self) -> None:
        self.breaks = asyncio.Event()

    async def broken(self) -> tuple[str, str]:
        await self.breaks.wait()
        return "atlantic", "a shark"

    async def take(self) -> Sequence[dict[str, object]]:
        return ()

    def end(self) -> None:
        pass


def failure_of(*, broken_before: bool) -> tuple[TrialError, list[str]]:
    done: list[str] = []

    async def trial() -> None:
        watch = Watch()
        if broken_before:
            watch.breaks.set()

        async def work() -> None:
            done.append("begun")
            watch.breaks.set()
            await asyncio.Event().wait()

        await unless_broken(watch, work())

    with pytest.raises(TrialError) as raised:
        asyncio.run(trial())
    return raised.value, done


def test_a_path_that_breaks_ends_the_work_with_its_reason() -> None:
    error, done = failure_of(broken_before=False)
    assert (error.failure.kind, str(error)) == ("emulator_lost", "run on atlantic: a shark")
    assert done == ["begun"]


def test_over_a_path_that_is_broken_already_no_work_begins() -> None:
    error, done = failure_of(broken_before=True)
    assert str(error) == "prepare on atlantic: a shark"
    assert done == []


def test_what_the_work_raises_comes_through_and_its_end_is_the_end() -> None:
    async def fails() -> None:
        raise ZeroDivisionError

    async def trial(work) -> None:
        await unless_broken(Watch(), work)

    with pytest.raises(ZeroDivisionError):
        asyncio.run(trial(fails()))
    asyncio.run(trial(asyncio.sleep(0)))


def test_a_failure_that_only_follows_from_a_broken_path_is_not_the_reason() -> None:
    async def trial() -> None:
        watch = Watch()
        asyncio.get_running_loop().call_later(PATH_NEWS_S / 2, watch.breaks.set)
        await unless_broken(watch, unreachable())

    async def unreachable() -> None:
        raise TrialError(Failure(phase="connect", host="left", kind="connect", message="no route"))

    with (
        asyncio.Runner(loop_factory=VirtualTimeLoop) as runner,
        pytest.raises(TrialError, match="a shark"),
    ):
        runner.run(trial())
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner, pytest.raises(TrialError, match="no route"):
        runner.run(unless_broken(Watch(), unreachable()))


def test_times_count_from_the_beginning_of_the_trial() -> None:
    started = datetime(2026, 1, 1, 0, 0, 1, 5, tzinfo=UTC)
    row = {"link": "l", "src": "a", "dst": "b", "at_unix_ns": 1_767_225_600_000_000_000, **COUNTED}
    table = links_table([row], started)
    assert table.schema == LINKS_SCHEMA
    assert table["at_ns"].to_pylist() == [-1_000_005_000]
    assert table["queue_max_bytes"].to_pylist() == [7]


def at(moment_ns: int) -> Counters:
    return Counters(moment_ns, (({}, {}),))


def test_only_the_last_counters_are_kept_until_somebody_follows() -> None:
    log = CounterLog()
    for moment in (1, 2, 3):
        log.add(at(moment))

    def listener() -> None:
        raise AssertionError

    log.follow(listener)
    for moment in (5, 7, 9):
        log.add(at(moment))
    assert [counters.at_unix_ns for counters in log.between(4, 9)] == [3, 5, 7, 9]
    assert [counters.at_unix_ns for counters in log.between(6, 8)] == [5, 7, 9]
    log.unfollow(listener)
    log.add(at(10))
    assert [counters.at_unix_ns for counters in log.between(0, 10)] == [10]


def test_of_a_long_trial_two_counters_become_one_and_nothing_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counter_log, "KEPT_MAX", 8)
    log = CounterLog()
    log.follow(lambda: None)
    for moment in range(1, 101):
        counted = {
            "packets_in": 10 * moment,
            "queue_max_bytes": moment % 7,
            "late_max_us": 900 if moment == 13 else 1,
        }
        log.add(Counters(moment, ((counted, counted),)))
    found = log.between(0, 100)
    assert len(found) <= 9
    assert (found[0].at_unix_ns, found[-1].at_unix_ns) == (1, 100)
    assert all(counters.paths[0][0]["packets_in"] == 10 * counters.at_unix_ns for counters in found)
    forward = [counters.paths[0][0] for counters in found[1:]]
    assert max(one["queue_max_bytes"] for one in forward) == 6
    assert [one["late_max_us"] for one in forward].count(900) == 1


def test_whoever_follows_learns_of_the_end_at_once_or_later() -> None:
    log = CounterLog()
    told: list[str] = []
    log.follow(lambda: told.append("before"))
    reader = threading.Thread(target=log.lose, args=("a shark",))
    reader.start()
    reader.join()
    log.follow(lambda: told.append("after"))
    assert told == ["before", "after"]
    assert log.lost == "a shark"
    assert not log.wait_ready(timeout_s=60)
    assert log.between(0, 10**18) == []
