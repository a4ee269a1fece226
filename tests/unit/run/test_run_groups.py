"""Trials of several pairs of hosts, with engines without traffic."""

import asyncio
from collections import Counter

import pyarrow.compute as pc
import pytest

from analysis_support import make_trial
from datagram_support import make_udp_trial
from fake_engine import BREAKS_S, BYTES_PER_FLOW, LATE_S, FakeNetwork, access
from flowsweep.defaults import LAST_WORDS_S, START_AHEAD_NS
from flowsweep.hosts.clock import ClockOffset
from flowsweep.run.attempt import Attempt
from flowsweep.run.engines import HostSession
from flowsweep.run.outcome import TrialOutcome
from flowsweep.run.trial import run_trial
from flowsweep.schedule import Trial
from virtual_time import VirtualTimeLoop

SOURCES, SINKS = tuple(f"s{number}" for number in range(1, 5)), tuple(f"t{number}" for number in range(1, 5))


def run(
    network: FakeNetwork, sources: tuple[str, ...] = SOURCES, sinks: tuple[str, ...] = SINKS, **parameters
) -> TrialOutcome:
    return run_timed(network, sources, sinks, **parameters)[0]


def run_timed(
    network: FakeNetwork, sources: tuple[str, ...] = SOURCES, sinks: tuple[str, ...] = SINKS, **parameters
) -> tuple[TrialOutcome, float]:
    """The outcome, and the seconds it took."""
    trial = make_trial(src="sources", dst="sinks", sources=sources, sinks=sinks, **parameters)
    return carried_out(network, trial)


def carried_out(network: FakeNetwork, trial: Trial) -> tuple[TrialOutcome, float]:
    async def carry_out() -> tuple[TrialOutcome, float]:
        sessions = {}
        for name in (*trial.sources, *trial.sinks):
            clock = ClockOffset(network.clocks.get(name, 0), 1000, 0)
            sessions[name] = HostSession(access(name), await network.connect(access(name)), clock)
        clock = asyncio.get_running_loop().time
        begin_s = clock()
        return await run_trial(Attempt.now(trial, 1), sessions), clock() - begin_s

    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(carry_out())


def test_each_source_meets_each_sink_and_flows_are_numbered_through() -> None:
    network = FakeNetwork()
    outcome = run(network, flows=2)
    assert outcome.record.status == "ok"
    asked = Counter(entry for entry in network.log if not entry.startswith("open"))
    assert asked == {f"prepare {host}": 4 for host in (*SOURCES, *SINKS)} | {f"start {s}": 4 for s in SOURCES}
    read = outcome.flows.filter(pc.equal(outcome.flows["role"], "sink")).to_pylist()
    whose = [(row["flow"], row["peer"], row["host"]) for row in read]
    pairs = [(source, sink) for source in SOURCES for sink in SINKS]
    assert whose == [(2 * index + flow, *pair) for index, pair in enumerate(pairs) for flow in range(2)]
    assert {row["bytes"] for row in read} == {BYTES_PER_FLOW}
    assert [(end.host, end.peer) for end in outcome.record.sources] == pairs
    assert [(end.peer, end.host) for end in outcome.record.sinks] == pairs


def test_all_pairs_have_met_before_any_source_begins() -> None:
    network = FakeNetwork()
    run(network)
    asked = [entry.split()[0] for entry in network.log if not entry.startswith("open")]
    assert asked == ["prepare"] * 32 + ["start"] * 16


def test_sources_begin_at_one_moment_each_by_its_own_clock() -> None:
    network = FakeNetwork(clocks={"s2": 7_000_000_000})
    outcome = run(network, sources=("s1", "s2"), sinks=("t1",))
    name = f"{outcome.record.trial_id}-1"
    begins = [network.starts[f"{name}.{index}"] for index in range(2)]
    assert begins[1] - begins[0] == 7_000_000_000
    began_ns = int(outcome.record.started_at.timestamp() * 1e9)
    assert START_AHEAD_NS < begins[0] - began_ns < 60 * 10**9


def test_sources_send_longer_where_several_pairs_take_part() -> None:
    network = FakeNetwork()
    run(network, sources=("s1", "s2"), sinks=("t1",))
    assert {end.request.test.pad_us for end in network.ends.values()} == {1_001_000}


def test_times_of_several_sinks_count_from_the_earliest_by_the_controllers_clock() -> None:
    network = FakeNetwork(clocks={"s1": 5, "s2": -5, "t1": 1_000, "t2": -40}, origins={"t1": 1_500, "t2": 0})
    outcome = run(network, sources=("s1", "s2"), sinks=("t1", "t2"))
    origins = {
        (row["role"], row["host"]): row["origin_ns"]
        for row in outcome.flows.select(["role", "host", "origin_ns"]).to_pylist()
    }
    assert origins == {
        ("sink", "t1"): 460,
        ("sink", "t2"): 0,
        ("source", "s1"): -45,
        ("source", "s2"): -35,
    }


def test_what_a_host_says_of_itself_is_kept_once() -> None:
    outcome = run(FakeNetwork(), sources=("s1", "s2"), sinks=("t1", "t2"))
    told = [(row["host"], row["role"]) for row in outcome.counters.to_pylist()]
    assert sorted(told) == [("s1", "source"), ("s2", "source"), ("t1", "sink"), ("t2", "sink")]
    cpu = Counter((row["host"], row["kind"]) for row in outcome.cpu.to_pylist())
    hosts = ("s1", "s2", "t1", "t2")
    assert cpu == {(host, "core"): 1 for host in hosts} | {(host, "thread"): 2 for host in hosts}
    threads = [row for row in outcome.cpu.to_pylist() if row["kind"] == "thread" and row["role"] == "sink"]
    assert [row["id"] for row in threads] == [0, 1, 2, 3]


@pytest.mark.parametrize("host", ["s3", "t2"])
def test_a_host_that_dies_ends_the_trial_for_all_and_is_named(host: str) -> None:
    mishaps = {(name, number): "silent" for name in (*SOURCES, *SINKS) for number in range(1, 5)}
    mishaps |= {(host, 3): "dies"}
    network = FakeNetwork(mishaps=mishaps)
    outcome = run(network)
    failure = outcome.record.failure
    assert (outcome.record.status, failure.host, failure.kind) == ("failed", host, "session_lost")
    stopped = Counter(entry for entry in network.log if entry.startswith("stop"))
    assert stopped == {f"stop {name}": 4 for name in (*SOURCES, *SINKS) if name != host}


@pytest.mark.parametrize("echo", ["broken", "not_running"])
def test_what_a_dead_host_leaves_at_its_peers_is_no_cause(echo: str) -> None:
    """A peer may complain before the session of the host that died is known to be lost."""
    network = FakeNetwork(mishaps={("s1", 1): echo, ("t3", 1): "dies_late"})
    outcome = run(network)
    failure = outcome.record.failure
    assert (outcome.record.status, failure.host, failure.kind) == ("failed", "t3", "session_lost")


def test_an_end_that_is_not_whole_ends_the_others_soon() -> None:
    mishaps = {(name, number): "silent" for name in (*SOURCES, *SINKS) for number in range(1, 5)}
    network = FakeNetwork(mishaps=mishaps | {("t4", 4): "broken"})
    outcome, elapsed_s = run_timed(network, duration_ns=3_600 * 10**9)
    failure = outcome.record.failure
    assert (outcome.record.status, failure.host, failure.kind) == ("incomplete", "t4", "broken")
    assert elapsed_s == pytest.approx(LAST_WORDS_S)


def test_streams_of_one_pair_that_break_end_no_other() -> None:
    mishaps = {(name, number): "late" for name in (*SOURCES, *SINKS) for number in range(1, 5)}
    outcome, elapsed_s, stopped = with_datagrams(mishaps | {("s1", 1): "breaks"})
    failure = outcome.record.failure
    assert (outcome.record.status, failure.host, failure.kind) == ("incomplete", "s1", "flows_broken")
    assert failure.message == "1 of 16 flows broke: flow 0: its sink reported no datagram within 10 s"
    assert (elapsed_s, stopped) == (pytest.approx(LATE_S + 20), [])


@pytest.mark.parametrize("said", ["silent", "gets_nothing"])
def test_a_sink_that_gets_nothing_any_more_keeps_the_others_neither_waiting_nor_from_their_end(
    said: str,
) -> None:
    mishaps = {(name, number): "late" for name in (*SOURCES, *SINKS) for number in range(1, 5)}
    outcome, elapsed_s, stopped = with_datagrams(mishaps | {("s1", 1): "breaks", ("t1", 1): said})
    failure = outcome.record.failure
    assert (outcome.record.status, failure.host, failure.kind) == ("incomplete", "s1", "flows_broken")
    silent = said == "silent"
    assert elapsed_s == pytest.approx(LATE_S + 20 + (LAST_WORDS_S if silent else 0))
    assert stopped == (["stop t1"] if silent else [])


def test_a_path_that_carries_no_datagram_of_the_size_is_told_by_its_source() -> None:
    """Its sink's engine waits for a start for longer than the controller waits for its report."""
    network = FakeNetwork(mishaps={("a", 1): "breaks", ("b", 1): "silent"})
    outcome, elapsed_s = carried_out(network, make_udp_trial())
    failure = outcome.record.failure
    assert (outcome.record.status, failure.host, failure.kind) == ("incomplete", "a", "flows_broken")
    assert failure.message == "1 of 1 flow broke: flow 0: its sink reported no datagram within 10 s"
    assert elapsed_s == pytest.approx(BREAKS_S + LAST_WORDS_S)
    assert network.log[-1] == "stop b"


def test_a_sink_with_other_streams_is_waited_for() -> None:
    network = FakeNetwork(mishaps={("a", 1): "breaks", ("b", 1): "late"})
    outcome, elapsed_s = carried_out(network, make_udp_trial(flows=2, duration_ns=20 * 10**9))
    assert (outcome.record.status, outcome.record.failure.kind) == ("incomplete", "flows_broken")
    assert elapsed_s == pytest.approx(LATE_S + 20)
    assert not any(entry.startswith("stop") for entry in network.log)


def with_datagrams(mishaps: dict[tuple[str, int], str]) -> tuple[TrialOutcome, float, list[str]]:
    """What a trial of 20 s comes to between all pairs of hosts, how long it takes, and what is stopped."""
    network = FakeNetwork(mishaps=mishaps)
    update = {"src": "sources", "dst": "sinks", "sources": SOURCES, "sinks": SINKS}
    trial = make_udp_trial(flows=1, duration_ns=20 * 10**9).model_copy(update=update)
    outcome, elapsed_s = carried_out(network, trial)
    return outcome, elapsed_s, [entry for entry in network.log if entry.startswith("stop")]


def test_a_host_that_refuses_is_named_and_nothing_starts() -> None:
    network = FakeNetwork(mishaps={("t2", 3): "prepare"})
    outcome = run(network)
    failure = outcome.record.failure
    assert (outcome.record.status, failure.host, failure.kind) == ("failed", "t2", "window_clipped")
    assert not any(entry.startswith("start") for entry in network.log)
