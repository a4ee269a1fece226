"""Traffic and probes beside a trial, with engines without traffic."""

import asyncio
from collections.abc import Mapping

import pyarrow.compute as pc
import pytest

from analysis_support import make_parameters, make_trial
from datagram_support import make_udp_trial
from fake_engine import BYTES_PER_FLOW, FakeNetwork, access
from flowsweep.defaults import BACKGROUND_MEETS_AHEAD_NS, SECOND_NS
from flowsweep.hosts.clock import ClockOffset
from flowsweep.run.attempt import Attempt
from flowsweep.run.engines import HostSession
from flowsweep.run.outcome import TrialOutcome
from flowsweep.run.trial import run_trial
from flowsweep.schedule import RttParameters, Trial
from flowsweep.schedule.trial import BackgroundTraffic
from virtual_time import VirtualTimeLoop

HOSTS = ("a", "b", "c")


def probe(start_ns: int = -2 * SECOND_NS) -> BackgroundTraffic:
    parameters = RttParameters(
        duration_ns=9 * SECOND_NS, echo="auto", sizes_bytes=(64,), every_ns=SECOND_NS // 50, poisson=False,
        seed=1, timeout_ns=SECOND_NS, dscp=None,
    )  # fmt: skip
    return BackgroundTraffic(
        name="probe", src="a", dst="b", test="rtt", parameters=parameters, start_ns=start_ns
    )


def cross(
    start_ns: int = 2 * SECOND_NS, *, src: str = "c", dst: str = "b", flows: int = 3
) -> BackgroundTraffic:
    parameters = make_parameters(flows=flows, duration_ns=3 * SECOND_NS)
    return BackgroundTraffic(
        name="cross", src=src, dst=dst, test="tcp", parameters=parameters, start_ns=start_ns
    )


def trial_with(*background: BackgroundTraffic, **parameters) -> Trial:
    return make_trial(**parameters).model_copy(update={"background": background})


def run(network: FakeNetwork, trial: Trial) -> TrialOutcome:
    async def carry_out() -> TrialOutcome:
        sessions = {}
        for name in HOSTS:
            clock = ClockOffset(network.clocks.get(name, 0), 1000, 0)
            sessions[name] = HostSession(access(name), await network.connect(access(name)), clock)
        return await run_trial(Attempt.now(trial, 1), sessions)

    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(carry_out())


def relative(moments: Mapping[str, float | None], trial: Trial) -> dict[str, float]:
    """Moments from that of the trial's own traffic on, by the end of the name."""
    own = f"{trial.trial_id}-1"
    return {name.removeprefix(own): moment - moments[own] for name, moment in moments.items()}


def test_all_meet_first_and_start_in_their_order() -> None:
    network, trial = FakeNetwork(), trial_with(cross(), probe(), flows=2)
    assert run(network, trial).record.status == "ok"
    asked = [entry for entry in network.log if not entry.startswith("open")]
    assert [entry.split()[0] for entry in asked[:6]] == ["prepare"] * 6
    assert asked[6:] == ["start a", "start a", "start c"]
    assert relative(network.starts, trial) == {"": 0, ".1": 2 * SECOND_NS, ".2": -2 * SECOND_NS}


def test_a_start_is_told_when_an_engine_takes_it() -> None:
    network, trial = FakeNetwork(), trial_with(cross(18 * SECOND_NS), probe())
    run(network, trial)
    told_s = {name: told - network.told_s[f"{trial.trial_id}-1"] for name, told in network.told_s.items()}
    assert sorted(told_s.values()) == pytest.approx([-1, 0, 18], abs=1.1)
    assert told_s[f"{trial.trial_id}-1.1"] == pytest.approx(18)


def test_a_start_is_a_moment_of_the_sources_own_clock() -> None:
    network, trial = FakeNetwork(clocks={"c": 7 * SECOND_NS}), trial_with(cross(0))
    run(network, trial)
    assert relative(network.starts, trial) == {"": 0, ".1": 7 * SECOND_NS}


def test_what_starts_late_meets_late() -> None:
    network, trial = FakeNetwork(), trial_with(cross(BACKGROUND_MEETS_AHEAD_NS + SECOND_NS))
    assert run(network, trial).record.status == "ok"
    asked = [entry for entry in network.log if not entry.startswith("open")]
    assert asked == ["prepare b", "prepare a", "start a", "prepare b", "prepare c", "start c"]


def test_flows_of_background_traffic_come_after_the_trials_own() -> None:
    outcome = run(FakeNetwork(), trial_with(cross(), cross(src="a", flows=1), flows=2))
    read = outcome.flows.filter(pc.equal(outcome.flows["role"], "sink")).to_pylist()
    told = [(row["flow"], row["background"], row["peer"]) for row in read]
    assert told == [
        (0, None, "a"), (1, None, "a"), (2, "cross", "c"), (3, "cross", "c"), (4, "cross", "c"),
        (5, "cross", "a"),
    ]  # fmt: skip
    assert {row["bytes"] for row in read} == {BYTES_PER_FLOW}
    assert [(one.name, one.source.host, one.sink.host) for one in outcome.record.background] == [
        ("cross", "c", "b"), ("cross", "a", "b"),
    ]  # fmt: skip
    assert [end.host for end in outcome.record.sources] == ["a"]


def test_background_traffic_tells_of_their_threads_and_of_hosts_that_the_trial_leaves_out() -> None:
    outcome = run(FakeNetwork(), trial_with(cross()))
    cores = [(row["host"], row["role"]) for row in outcome.cpu.to_pylist() if row["kind"] == "core"]
    assert sorted(cores) == [("a", "source"), ("b", "sink"), ("c", "background_source")]
    counted = {(row["host"], row["role"]) for row in outcome.counters.to_pylist()}
    assert counted == {("a", "source"), ("b", "sink"), ("c", "background_source")}
    threads = [(row["id"], row["host"]) for row in outcome.cpu.to_pylist() if row["kind"] == "thread"]
    assert sorted(threads) == [(0, "a"), (0, "b"), (1, "b"), (1, "c")]


def test_cores_of_a_host_of_the_trial_are_told_once() -> None:
    outcome = run(FakeNetwork(), trial_with(cross(src="b", dst="a"), cross(src="c", dst="a")))
    cores = [(row["host"], row["role"]) for row in outcome.cpu.to_pylist() if row["kind"] == "core"]
    assert sorted(cores) == [("a", "source"), ("b", "sink"), ("c", "background_source")]


def test_times_of_background_traffic_lie_on_the_axis_of_the_trials_sink() -> None:
    trial = trial_with(cross(), probe())
    own = f"{trial.trial_id}-1"
    origins = {
        f"{own} a": 1_000, f"{own} b": 5_300, f"{own}.1 c": 2_060, f"{own}.1 b": 7_500, f"{own}.2 a": 400
    }  # fmt: skip
    outcome = run(FakeNetwork(clocks={"b": 4_000, "c": -40}, origins=origins), trial)
    begins = {(row["background"], row["role"]): row["origin_ns"] for row in outcome.flows.to_pylist()}
    assert begins == {
        (None, "source"): 0,
        (None, "sink"): 0,
        ("cross", "source"): 2_060 + 40 - (5_300 - 4_000),
        ("cross", "sink"): 7_500 - 5_300,
    }
    echoes = outcome.of_tests["echoes"]
    assert echoes["sent_ns"].to_pylist() == [10 - 600, 20 - 600]
    assert set(echoes["host"].to_pylist()) == {"a"}


@pytest.mark.parametrize("mishap", ["prepare", "dies_late", "silent", "stuck", "drain_timeout", "no_samples"])
def test_background_traffic_that_fails_leaves_the_trials_own_data(mishap: str) -> None:
    network = FakeNetwork(mishaps={("c", 1): mishap})
    outcome = run(network, trial_with(cross()))
    failure = outcome.record.failure
    assert (outcome.record.status, failure.host) == ("incomplete", "c")
    assert failure.message.startswith("background traffic cross: ")
    own = outcome.flows.filter(pc.is_null(outcome.flows["background"]))
    assert own["bytes"].to_pylist() == [BYTES_PER_FLOW] * 2


def test_bytes_of_background_traffic_that_differ_are_named_by_the_numbered_flow() -> None:
    outcome = run(FakeNetwork(mishaps={("c", 1): "reads_less"}), trial_with(cross(), flows=4))
    assert outcome.record.status == "incomplete"
    assert "background traffic cross: 3 of 3 flows" in outcome.record.failure.message
    assert "flow 4: 999999 written" in outcome.record.failure.message


def test_a_trial_that_fails_ends_its_background_traffic() -> None:
    network = FakeNetwork(mishaps={("a", 1): "not_running", ("c", 1): "silent"})
    outcome = run(network, trial_with(cross(0)))
    assert (outcome.record.status, outcome.record.failure.kind) == ("failed", "not_running")
    assert "background traffic" not in outcome.record.failure.message
    assert "stop c" in network.log


def test_a_trial_that_breaks_off_does_not_wait_for_its_background_traffic() -> None:
    network = FakeNetwork(mishaps={("a", 1): "broken"})
    trial = trial_with(cross(15 * SECOND_NS))
    outcome = run(network, trial)
    assert (outcome.record.status, outcome.record.failure.kind) == ("incomplete", "broken")
    assert f"{trial.trial_id}-1.1" not in network.starts


def test_background_datagrams_that_never_come_are_told_by_their_source() -> None:
    network = FakeNetwork(mishaps={("c", 1): "breaks", ("b", 2): "silent"})
    datagrams = BackgroundTraffic(
        name="calls", src="c", dst="b", test="udp", parameters=make_udp_trial().parameters, start_ns=0
    )
    outcome = run(network, trial_with(datagrams))
    failure = outcome.record.failure
    assert (outcome.record.status, failure.host, failure.kind) == ("incomplete", "c", "flows_broken")
    assert failure.message.startswith("background traffic calls: 1 of 1 flow broke")


def test_the_trials_own_trouble_comes_before_that_of_background_traffic() -> None:
    network = FakeNetwork(mishaps={("a", 1): "reads_less", ("c", 1): "reads_less"})
    outcome = run(network, trial_with(cross()))
    assert outcome.record.failure.kind == "bytes_differ"
    assert "background traffic" not in outcome.record.failure.message
