"""When a path is silent: one rule for `status`, the page and alarms."""

import random
from collections.abc import Iterator

import pytest

from flowsweep.alarms.alarm import Alarm
from flowsweep.alarms.silence import silences
from flowsweep.defaults import SECOND_NS
from flowsweep.plan import Plan, parse_plan
from flowsweep.schedule.overdue import PastTimes, past_times, up_to, was_due_twice

BEGUN = 1_800_000_000 * SECOND_NS
MINUTE = 60 * SECOND_NS


def plan(times: str = 'every = "10min"') -> Plan:
    hosts = '[hosts.a]\naddress = "192.0.2.1"\n[hosts.b]\naddress = "192.0.2.2"\n'
    sweep = '[[sweep]]\nname = "s"\npaths = [{ from = "a", to = "b" }]\nduration = "5s"\n'
    return parse_plan(f"[campaign]\n{times}\n{hosts}{sweep}", "plan.toml")


def alarms(of: Plan, measured: list[int], now: int) -> list[Alarm]:
    return list(silences(of, BEGUN, 1, {("s", "a", "b"): measured}, now))


def silent(of: Plan, since: int | None, now: int) -> bool:
    return was_due_twice(of, BEGUN, 1, "s", since_ns=since, now_ns=now)


def test_a_path_is_silent_once_the_second_time_is_over() -> None:
    times = PastTimes([10, 20, 30], [15, 25, 35])
    assert times.silent_from(9, 26) == 25
    assert times.silent_from(9, 25) is None  # it may still begin
    assert times.silent_from(10, 36) == 35
    assert times.silent_from(20, 99) is None


@pytest.mark.parametrize("minute", [0, 5, 14, 15, 16, 24, 26])
def test_one_that_never_was_measured_is_silent_for_all_at_the_same_moment(minute: int) -> None:
    """Due at 0 and 10 minutes, 5 minutes late at most."""
    now = BEGUN + minute * MINUTE
    assert silent(plan(), None, now) == bool(alarms(plan(), [], now)) == (minute > 15)


def moments(drawn: random.Random) -> Iterator[int]:
    at = BEGUN
    while at < BEGUN + 600 * MINUTE:
        at += round(drawn.expovariate(1 / 15) * MINUTE)
        yield at


@pytest.mark.parametrize(
    "times", ['every = "10min"', 'every = "10min"\njitter = "3min"', 'at = ["01:00", "13:30"]']
)
@pytest.mark.parametrize("seed", range(3))
def test_status_and_alarms_agree_at_any_moment(times: str, seed: int) -> None:
    drawn, of = random.Random(seed), plan(times)
    measured = list(moments(drawn))
    for _ in range(40):
        now = BEGUN + drawn.randrange(1, 900) * MINUTE
        before = [at for at in measured if at < now]
        on = any(alarm.is_on for alarm in alarms(of, before, now))
        assert silent(of, before[-1] if before else None, now) == on


def test_as_few_times_are_listed_as_are_needed() -> None:
    year = BEGUN + 365 * 24 * 60 * MINUTE
    assert len(past_times(plan(), BEGUN, 1, "s", until_ns=year, since_ns=BEGUN).due_ns) == 2
    assert len(past_times(plan(), BEGUN, 1, "s", until_ns=BEGUN + 61 * MINUTE).due_ns) == 6
    assert past_times(plan(""), BEGUN, 1, "s", until_ns=year) == PastTimes((), ())


def test_what_was_measured_while_the_clock_was_ahead_counts_once_it_is_past() -> None:
    """Measured at 10 minutes and, by a clock that was six hours ahead for a while, at 370."""
    measured, of = [BEGUN + 10 * MINUTE, BEGUN + 370 * MINUTE], plan()
    for minute, is_on in ((20, False), (34, False), (36, True), (369, True), (371, False)):
        now = BEGUN + minute * MINUTE
        found = alarms(of, measured, now)
        assert any(alarm.is_on for alarm in found) == is_on
        assert silent(of, up_to(now, measured)[-1], now) == is_on
    [told] = found
    assert told.end == "measured"
    assert silent(of, measured[1], BEGUN + 36 * MINUTE), "what is in the future is no measurement"
