import asyncio
from dataclasses import replace

import pytest

from analysis_support import make_trial
from datagram_support import make_udp_trial
from fake_engine import BYTES_PER_FLOW, CLOCK_SET, FakeNetwork, access
from file_support import make_file_trial
from flowsweep.hosts.access import DataAddress
from flowsweep.hosts.clock import ClockOffset
from flowsweep.run.attempt import Attempt
from flowsweep.run.engines import HostSession
from flowsweep.run.outcome import TrialOutcome
from flowsweep.run.tables import FLOWS_SCHEMA
from flowsweep.run.trial import run_trial
from flowsweep.schedule import Trial
from virtual_time import VirtualTimeLoop

CLOCK = ClockOffset(offset_ns=0, bound_ns=0, measured_ns=0)


async def one_trial(
    network: FakeNetwork,
    *,
    listens: bool = True,
    bind: str | None = None,
    trial: Trial | None = None,
    **parameters,
) -> TrialOutcome:
    hosts = {"a": access("a"), "b": replace(access("b", listens=listens), bind=bind)}
    if bind is not None:
        name = {"a": (DataAddress("b.example", None),)}
        hosts["b"] = replace(hosts["b"], addresses=name)
    sessions = {name: HostSession(host, await network.connect(host), CLOCK) for name, host in hosts.items()}
    attempt = Attempt.now(trial or make_trial(**parameters), 1)
    return await run_trial(attempt, sessions)


def run(network: FakeNetwork, **options) -> TrialOutcome:
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(one_trial(network, **options))


def test_a_trial_is_prepare_connect_run_report() -> None:
    network = FakeNetwork()
    outcome = run(network, flows=3, window_bytes=65536)
    assert network.log == ["open a", "open b", "prepare b", "prepare a", "start a"]
    assert outcome.record.status == "ok"
    assert outcome.record.failure is None
    (source,), (sink,) = outcome.record.sources, outcome.record.sinks
    assert (source.host, source.peer, source.window_granted_bytes) == ("a", "b", 131072)
    assert (sink.host, sink.peer, sink.rejected_connections) == ("b", "a", 3)
    assert network.starts == {f"{outcome.record.trial_id}-1": None}
    assert outcome.flows.schema == FLOWS_SCHEMA
    assert outcome.flows["bytes"].to_pylist() == [BYTES_PER_FLOW] * 6
    assert outcome.flows["cpu_system_us"].to_pylist() == [2] * 6
    assert sorted(outcome.samples["role"].to_pylist()) == ["sink", "source"]


def test_both_ends_get_the_same_tokens_and_their_own_window() -> None:
    network = FakeNetwork()
    run(network, window_send_bytes=10_000, window_recv_bytes=20_000)
    source, sink = (end.request for _, end in sorted(network.ends.items(), reverse=True))
    assert (source.role, sink.role) == ("source", "sink")
    assert (source.test.window_bytes, sink.test.window_bytes) == (10_000, 20_000)
    assert source.token == sink.token
    assert source.answer == sink.answer
    assert source.token != source.answer
    assert source.test.pad_us == 101_000


def test_the_source_listens_where_the_sink_cannot_be_reached() -> None:
    network = FakeNetwork()
    assert run(network, listens=False).record.status == "ok"
    assert network.log[2:] == ["prepare a", "prepare b", "start a"]


def test_the_address_is_of_the_family_asked_for() -> None:
    network = FakeNetwork()
    run(network, family=6)
    (source,) = (end.request for (_, role), end in network.ends.items() if role == "source")
    assert source.rendezvous.address == "::1"


@pytest.mark.parametrize(
    ("bind", "asked", "looked_for"),
    [
        ("192.0.2.7", None, 4),
        ("2001:db8::7", None, 6),
        ("0.0.0.0", None, 4),
        ("::", None, None),
        ("::", 4, 4),
        (None, None, None),
    ],
)
def test_a_name_is_looked_up_for_the_ip_version_that_its_host_listens_on(
    bind: str | None, asked: int | None, looked_for: int | None
) -> None:
    network = FakeNetwork()
    assert run(network, bind=bind, family=asked).record.status == "ok"
    families = {role: end.request.test.family for (_, role), end in network.ends.items()}
    assert families == {"source": looked_for, "sink": asked}


@pytest.mark.parametrize("host", ["a", "b"])
def test_an_engine_that_refuses_fails_the_trial_before_traffic(host: str) -> None:
    network = FakeNetwork(mishaps={(host, 1): "prepare"})
    outcome = run(network)
    assert outcome.record.status == "failed"
    failure = outcome.record.failure
    assert failure is not None
    assert (failure.phase, failure.host, failure.kind) == ("prepare", host, "window_clipped")
    assert "rmem_max" in failure.message
    assert "start a" not in network.log
    assert f"stop {host}" not in network.log
    assert ("stop b" in network.log) == (host == "a")


def test_a_session_lost_while_bytes_flow_fails_the_trial_and_stops_the_other_end() -> None:
    network = FakeNetwork(mishaps={("b", 1): "dies", ("a", 1): "silent"})
    outcome = run(network)
    failure = outcome.record.failure
    assert outcome.record.status == "failed"
    assert failure is not None
    assert (failure.phase, failure.host, failure.kind) == ("run", "b", "session_lost")
    assert "SIGKILL" in failure.message
    assert network.log[-1] == "stop a"
    assert outcome.flows["role"].to_pylist() == ["source"]


def test_an_engine_that_never_reports_is_stopped() -> None:
    network = FakeNetwork(mishaps={("b", 1): "silent"})
    outcome = run(network, duration_ns=4_000_000_000, drain_timeout_ns=2_000_000_000)
    failure = outcome.record.failure
    assert failure is not None
    assert failure.kind == "engine_silent"
    assert failure.message == "the engine did not report the end of the trial within 21.1008 s"
    assert network.log[-1] == "stop b"
    assert not any(session.closed for session in network.sessions)


def test_an_engine_that_does_not_even_stop_is_ended() -> None:
    network = FakeNetwork(mishaps={("b", 1): "stuck"})
    assert run(network).record.status == "failed"
    assert [session.closed for session in network.sessions] == [False, True]


@pytest.mark.parametrize(
    ("mishap", "phase", "kind"),
    [
        ("drain_timeout", "drain", "drain_timeout"),
        ("reads_less", "drain", "bytes_differ"),
        ("no_samples", "report", "rows_missing"),
        ("loses_rows", "report", "rows_lost"),
    ],
)
def test_a_trial_that_is_not_whole_is_incomplete(mishap: str, phase: str, kind: str) -> None:
    outcome = run(FakeNetwork(mishaps={("b", 1): mishap}), flows=2)
    assert outcome.record.status == "incomplete"
    failure = outcome.record.failure
    assert failure is not None
    assert (failure.phase, failure.host, failure.kind) == (phase, "b", kind)
    assert outcome.flows.num_rows == 4


def test_an_engine_may_wait_for_its_first_bytes_before_the_duration_counts() -> None:
    network = FakeNetwork(mishaps={("a", 1): "late", ("b", 1): "late"})
    assert run(network, drain_timeout_ns=1_000_000).record.failure is None


def test_a_source_makes_its_files_before_it_listens() -> None:
    trial = make_file_trial(file_size_bytes=1 << 35)
    outcome = run(FakeNetwork(mishaps={("a", 1): "makes"}), listens=False, trial=trial)
    failure = outcome.record.failure
    assert failure is None or failure.phase not in ("prepare", "listen", "connect"), failure


def test_a_sink_has_nothing_to_make_before_it_listens() -> None:
    failure = run(FakeNetwork(mishaps={("b", 1): "makes"})).record.failure
    assert failure is not None
    assert failure.message == "the engine named no port to connect to within 10 s"


def test_engines_of_different_versions_may_record_different_columns() -> None:
    outcome = run(FakeNetwork(mishaps={("b", 1): "other_columns"}))
    assert outcome.record.status == "ok"
    later = dict(zip(outcome.samples["role"].to_pylist(), outcome.samples["later"].to_pylist(), strict=True))
    assert later == {"source": None, "sink": 7}


def test_two_hosts_behind_nat_cannot_meet() -> None:
    async def trial() -> TrialOutcome:
        network = FakeNetwork()
        hosts = [access(name, listens=False) for name in "ab"]
        sessions = {host.name: HostSession(host, await network.connect(host), CLOCK) for host in hosts}
        return await run_trial(Attempt.now(make_trial(), 1), sessions)

    failure = asyncio.run(trial()).record.failure
    assert failure is not None
    assert failure.kind == "nobody_listens"


@pytest.mark.parametrize(("mishap", "still"), [("none", None), ("cuts_no_more", False)])
def test_what_ceased_to_work_while_datagrams_were_sent_was_not_granted(mishap, still) -> None:
    outcome = run(FakeNetwork(mishaps={("a", 1): mishap}, carries_bps=10**9), trial=make_udp_trial())
    (source,), (sink,) = outcome.record.sources, outcome.record.sinks
    assert (source.gso, sink.gso) == (still, None)
    assert any("UDP_SEGMENT ceased" in remark for remark in source.remarks) == (still is False)


@pytest.mark.parametrize(("mishap", "told"), [("none", ()), ("clock_set", (CLOCK_SET,))])
def test_what_an_end_reports_beside_is_kept_with_its_trial(mishap, told) -> None:
    outcome = run(FakeNetwork(mishaps={("b", 1): mishap}))
    assert outcome.record.status == "ok"
    (source,), (sink,) = outcome.record.sources, outcome.record.sinks
    assert (source.remarks, sink.remarks) == ((), told)
