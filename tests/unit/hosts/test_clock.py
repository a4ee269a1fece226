import asyncio
from collections.abc import Mapping
from dataclasses import replace

import pytest

from fake_engine import FakeNetwork, FakeSession, access
from flowsweep.defaults import CLOCK_EXCHANGES
from flowsweep.errors import SessionError
from flowsweep.hosts.access import HostAccess
from flowsweep.hosts.clock import SAME_CLOCK, ClockExchange, ClockOffset, Clocks, offset_of
from flowsweep.hosts.messages import HostFacts
from flowsweep.run.events import CampaignEvent, SessionLost, SessionRegained
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


class Silent(FakeSession):
    """Answers once, and then only as much as it is said to."""

    says = 0

    async def clock(self) -> ClockExchange:
        if self.asked:
            self.bytes_received += self.says
            raise SessionError(self.host, "its clock was not told within 10 s")
        return await super().clock()

    asked = False


async def gone_on_with(says: int) -> tuple[list[FakeSession], list[CampaignEvent]]:
    """The sessions with a host; the first answers for its clock when it is opened, and never again."""
    far = replace(access("a"), shares_files=False)
    network, events = FakeNetwork(), []
    silent = Silent("a", network)
    silent.says = says

    async def connect(_: HostAccess) -> FakeSession:
        if network.sessions:
            return await network.connect(far)
        network.sessions.append(silent)
        return silent

    async def nothing(_: Mapping[str, HostFacts]) -> None:
        pass

    sessions = Sessions({"a": far}, connect, events.append, Patience(0.001, 0.01), nothing)
    await sessions.open_all(enough=lambda hosts: False)
    silent.asked = True
    assert (await sessions.session_with("a", ask_clock=True)).engine is not silent
    return network.sessions, events


def test_a_session_that_is_silent_is_closed_and_regained() -> None:
    (silent, second), events = asyncio.run(gone_on_with(says=0))
    assert (silent.closed, second.closed) == (True, False)
    assert [type(event) for event in events] == [SessionLost, SessionRegained]


def test_a_session_on_which_something_else_is_on_its_way_is_kept() -> None:
    with pytest.raises(SessionError, match="its clock was not told"):
        asyncio.run(gone_on_with(says=1))


def test_a_host_of_this_machine_has_the_controllers_clock_and_is_not_asked():
    async def nothing(_: Mapping[str, HostFacts]) -> None:
        pass

    async def places() -> list[ClockOffset]:
        accesses = {"a": access("a"), "b": replace(access("b"), shares_files=False)}
        network = FakeNetwork(clocks={"a": 7 * MS, "b": 7 * MS})
        sessions = Sessions(accesses, network.connect, lambda _: None, Patience(), nothing)
        await sessions.open_all(enough=lambda hosts: False)
        return [(await sessions.session_with(host, ask_clock=True)).clock for host in accesses]

    near, far = asyncio.run(places())
    assert near == SAME_CLOCK
    assert (far.offset_ns, far.bound_ns >= 500) == (7 * MS, True)
