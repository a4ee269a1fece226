import asyncio
from collections.abc import Mapping
from dataclasses import replace

import pytest

from fake_engine import FakeNetwork, access
from flowsweep.defaults import CLOCK_EXCHANGES
from flowsweep.errors import SessionError
from flowsweep.hosts.clock import SAME_CLOCK, ClockExchange, ClockOffset, Clocks, offset_of
from flowsweep.hosts.messages import HostFacts
from flowsweep.run.sessions import Patience, Sessions
from virtual_time import VirtualTimeLoop

MS = 1_000_000


def exchange(there_ns: int, back_ns: int, *, ahead_ns: int = 0, asked_ns: int = 1_000 * MS) -> ClockExchange:
    """A question that took `there_ns` to a host whose clock is ahead, and an answer that took `back_ns`."""
    return ClockExchange(asked_ns, asked_ns + there_ns + ahead_ns, there_ns + back_ns)


def test_the_shortest_round_trip_counts():
    exchanges = [exchange(9 * MS, MS, ahead_ns=70 * MS), exchange(MS, MS, ahead_ns=70 * MS)]
    assert offset_of(exchanges, 5) == ClockOffset(offset_ns=70 * MS, bound_ns=MS, measured_ns=5)


@pytest.mark.parametrize(("there_ns", "back_ns"), [(0, 7), (7, 0), (3, 4), (40 * MS, 1), (1, 40 * MS)])
@pytest.mark.parametrize("ahead_ns", [0, -3 * MS, 10**15])
def test_the_bound_covers_the_error_however_unlike_the_ways_are(there_ns, back_ns, ahead_ns):
    found = offset_of([exchange(there_ns, back_ns, ahead_ns=ahead_ns)], 0)
    assert abs(found.offset_ns - ahead_ns) <= found.bound_ns
    assert found.bound_ns <= (there_ns + back_ns + 1) // 2


def test_what_is_known_of_a_clock_ages():
    found = ClockOffset(offset_ns=5, bound_ns=1_000, measured_ns=0).aged(60_000 * MS)
    assert (found.offset_ns, found.bound_ns) == (5, 1_000 + 12 * MS)


class Host:
    """Answers after a while."""

    def __init__(self, log: list[str], name: str, delay_s: float) -> None:
        self.log, self.name, self.delay_s = log, name, delay_s

    async def clock(self) -> ClockExchange:
        self.log.append(self.name)
        await asyncio.sleep(self.delay_s)
        return exchange(MS, MS)


def test_far_hosts_do_not_hold_up_each_other():
    async def ask() -> tuple[float, list[str]]:
        log: list[str] = []
        clocks, loop = Clocks(), asyncio.get_running_loop()
        hosts = [Host(log, "far", 0.05), Host(log, "near", 0)]
        begin = loop.time()
        await asyncio.gather(*(clocks.measure_offset(host) for host in hosts))
        return loop.time() - begin, log

    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        elapsed_s, log = runner.run(ask())
    assert log.count("near") == log.count("far") == CLOCK_EXCHANGES
    assert log[: CLOCK_EXCHANGES + 1] == ["far", *["near"] * CLOCK_EXCHANGES]
    assert elapsed_s == pytest.approx(CLOCK_EXCHANGES * 0.05, rel=0.1)


def test_a_lost_session_is_no_estimate():
    class Lost:
        async def clock(self) -> ClockExchange:
            raise SessionError("a", "the session ended")

    with pytest.raises(SessionError, match="the session ended"):
        asyncio.run(Clocks().measure_offset(Lost()))


def test_a_host_of_this_machine_has_the_controllers_clock_and_is_not_asked():
    async def nothing(_: Mapping[str, HostFacts]) -> None:
        pass

    async def places() -> list[ClockOffset]:
        accesses = {"a": access("a"), "b": replace(access("b"), shares_files=False)}
        network = FakeNetwork(clocks={"a": 7 * MS, "b": 7 * MS})
        sessions = Sessions(accesses, network.connect, lambda _: None, Patience(), nothing)
        await sessions.open_all()
        return [(await sessions.session_with(host, ask_clock=True)).clock for host in accesses]

    near, far = asyncio.run(places())
    assert near == SAME_CLOCK
    assert (far.offset_ns, far.bound_ns >= 500) == (7 * MS, True)
