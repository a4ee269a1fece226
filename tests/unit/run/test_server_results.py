"""The outcome of a trial with a server at the far end: what it told counts, as nothing was sampled there."""

import asyncio
from dataclasses import replace

import pytest

from fake_engine import FakeNetwork, access, report
from flowsweep.hosts.clock import ClockOffset
from flowsweep.hosts.inbox import EndReport
from flowsweep.hosts.messages import FarFlow, FarSide, Granted, UdpCounts
from flowsweep.plan.model import Iperf3Peer, QuicPerfPeer, ServerPeer
from flowsweep.run.attempt import Attempt
from flowsweep.run.deadlines import Deadlines
from flowsweep.run.engines import HostSession
from flowsweep.run.far_end import FarEnd, told_of
from flowsweep.run.outcome import TrialRecord
from flowsweep.run.pair import Pair
from flowsweep.run.results import outcome_of
from flowsweep.run.traffic import Traffic
from flowsweep.schedule import schedule
from flowsweep.schedule.trial import Trial
from plan_support import plan_of

SEARCH = 'find = "plateau"\nwindow = { from = "64KiB", to = "4MiB" }\nduration = "4s"\nomit = "1s"'
IPERF3 = Iperf3Peer(port=5201, user=None, password_env=None, public_key=None, pkcs1=False)


def counts(datagrams: int | None) -> UdpCounts | None:
    if datagrams is None:
        return None
    none = dict.fromkeys(
        ("reordered", "reordering_extent_max", "duplicates", "late", "loss_bursts", "loss_burst_max"), 0
    )
    return UdpCounts(datagrams=datagrams, refused=0, **none)


def first_trial(sweep: str) -> Trial:
    return schedule(plan_of(sweep), 1)[0].trials[0]


def record(trial: Trial, server: ServerPeer, *told: FarFlow, datagrams: int | None = None) -> TrialRecord:
    """What becomes of a trial of which the near end sent, and told this of a server that received."""

    async def ask() -> TrialRecord:
        network, clock = FakeNetwork(), ClockOffset(0, 0, 0)
        near, far = access(trial.src), replace(access(trial.dst), server=server)
        sessions = [HostSession(host, await network.connect(host), clock) for host in (near, far)]
        traffic = Traffic("t", trial.src, trial.dst, trial.parameters, pad_ns=0, first_flow=0)
        pair = Pair(traffic, *sessions, Deadlines())
        sent = report("t", "source", [1000], rows=0)
        flows = [flow.model_copy(update={"udp": counts(datagrams)}) for flow in sent.flows]
        far_side = FarSide(cpu_percent=0, flows=list(told))
        near_report = sent.model_copy(update={"far_side": far_side, "flows": flows})
        pair.sender.granted = Granted(remarks=[], window_clipped=False, window_raised=False)
        pair.sender.result = EndReport(near_report, {})
        assert isinstance(pair.receiver, FarEnd)
        pair.receiver.take(near_report)
        return outcome_of(Attempt.now(trial, 1), [pair], [], None).record

    return asyncio.run(ask())


def carries(*told: FarFlow, sent: int = 1000) -> TrialRecord:
    """What becomes of a step of a search for the highest rate, of which so many datagrams were sent."""
    rates = 'rate_search = { low = "4kbit/s", high = "8kbit/s", resolution = "1kbit/s", loss_max = "1%" }'
    return record(first_trial(f'test = "udp"\nduration = "4s"\n{rates}'), IPERF3, *told, datagrams=sent)


def test_datagrams_that_a_server_did_not_read_at_the_end_are_not_lost() -> None:
    read = FarFlow(flow=0, bytes=1, elapsed_us=1, datagrams=900, lost=9, jitter_ns=0)
    found = carries(read)
    assert found.carried is True
    (remark,) = found.sources[0].remarks
    assert "numbers end 100 datagrams before what was sent" in remark
    lossy = carries(read.model_copy(update={"lost": 10}))
    assert lossy.carried is False
    assert carries(read, sent=900).sources[0].remarks == ()


def test_where_a_server_counted_nothing_all_was_lost() -> None:
    nothing = carries(FarFlow(flow=0, bytes=0, elapsed_us=1, datagrams=0, lost=0, jitter_ns=0))
    assert nothing.carried is False
    assert nothing.sources[0].remarks == ()


@pytest.mark.parametrize("server", [IPERF3, QuicPerfPeer(port=4433)])
def test_a_search_is_told_the_goodput_that_a_server_told(server: ServerPeer) -> None:
    found = record(first_trial(SEARCH), server, FarFlow(flow=0, bytes=3_000_000, elapsed_us=3_000_000))
    assert (found.status, found.reported_goodput_bps) == ("ok", 8e6)
    assert found.learned == 8e6


@pytest.mark.parametrize("number", ["bytes", "elapsed_us", "datagrams", "jitter_ns"])
def test_a_flow_with_a_number_that_cannot_be_is_not_told_of(number: str) -> None:
    told = FarFlow(flow=0, bytes=3_000_000, elapsed_us=3_000_000).model_copy(update={number: (1 << 63) - 1})
    found, flows = record(first_trial(SEARCH), IPERF3, told), FarSide(cpu_percent=0, flows=[told])
    assert (found.reported_bytes, found.reported_goodput_bps) == (None, None)
    assert told_of(flows) == []
    assert told_of(FarSide(cpu_percent=0, flows=[told.model_copy(update={number: 1 << 53})])) != []


def test_a_search_learns_nothing_of_a_server_that_told_nothing() -> None:
    assert record(first_trial(SEARCH), IPERF3).learned == 0.0
