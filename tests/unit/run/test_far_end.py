"""The end of a pair that is a server: what the near end tells of it is its report."""

import asyncio
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from analysis_support import make_trial
from fake_engine import FakeNetwork, access, report
from flowsweep.hosts.clock import ClockOffset
from flowsweep.hosts.inbox import EndReport
from flowsweep.hosts.messages import FarFlow, FarSide, Progress, Report
from flowsweep.plan.model import Iperf3Peer, QuicPerfPeer, ServerPeer
from flowsweep.run.data import Data, data_of
from flowsweep.run.deadlines import Deadlines
from flowsweep.run.engines import HostSession
from flowsweep.run.far_end import FarEnd
from flowsweep.run.traffic import Traffic
from virtual_time import VirtualTimeLoop

TCP = FarFlow(flow=1, bytes=500, elapsed_us=2_000_000)
UDP = FarFlow(flow=0, bytes=900, elapsed_us=1, datagrams=10, lost=1, jitter_ns=7)


async def far_end(role: str, server: ServerPeer | None = None) -> FarEnd:
    there = replace(access("b"), server=server)
    session = HostSession(there, await FakeNetwork().connect(there), ClockOffset(0, 0, 0))
    traffic = Traffic("t", "a", "b", make_trial().parameters, pad_ns=0, first_flow=0)
    return FarEnd(traffic, role, session, "a", Deadlines())


def told(role: str, *flows: FarFlow, server: ServerPeer | None = None) -> EndReport:
    """What the far end makes of a near end's report, which has something of everything."""

    async def ask() -> EndReport:
        end = await far_end(role, server)
        near = report("t", "source" if role == "sink" else "sink", [1000])
        end.take(near.model_copy(update={"far_side": FarSide(cpu_percent=5, flows=list(flows))}))
        await end.finished(1, lambda _: None)
        assert end.result is not None
        return end.result

    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(ask())


def test_what_the_server_said_of_its_flows_is_its_report() -> None:
    far = told("sink", TCP).report
    (flow,) = far.flows
    assert (far.role, far.far_side, far.trial) == ("sink", None, "t")
    assert (flow.flow, flow.bytes, flow.end_ns, flow.end) == (1, 500, 2_000_000_000, "drained")
    assert (flow.udp, flow.first_byte_ns) == (None, None)


def test_of_a_server_that_tells_nothing_no_flow_is_told() -> None:
    assert told("sink", TCP, server=QuicPerfPeer(port=4433)).report.flows == []


def test_nothing_of_the_near_host_is_told_as_the_servers() -> None:
    far = told("sink", TCP)
    assert far.tables == {}
    assert far.report.table_rows == far.report.counters == {}
    assert set(far.report.rejected_connections.model_dump().values()) == {0}


def test_of_datagrams_the_sink_got_what_was_not_lost_and_the_source_sent_all() -> None:
    counts = [told(role, UDP).report.flows[0].udp for role in ("sink", "source")]
    assert [count.datagrams for count in counts if count is not None] == [9, 10]
    more_lost = UDP.model_copy(update={"lost": 11})
    (flow,) = told("sink", more_lost).report.flows
    assert flow.udp is not None
    assert (flow.udp.datagrams, flow.udp.jitter_ns) == (0, 7)


def test_what_a_server_does_not_count_of_datagrams_is_unknown() -> None:
    async def ask() -> Data:
        server = Iperf3Peer(port=5201, user=None, password_env=None, public_key=None, pkcs1=False)
        end = await far_end("sink", server)
        near = report("t", "source", [1000])
        end.take(near.model_copy(update={"far_side": FarSide(cpu_percent=5, flows=[UDP])}))
        traffic = Traffic("t", "a", "b", make_trial().parameters, pad_ns=0, first_flow=0)
        pair: Any = SimpleNamespace(ends=(end,), traffic=traffic)
        return data_of([pair], [])

    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        (row,) = runner.run(ask()).flows.to_pylist()
    counted = {name: row[name] for name in row if name.startswith("udp_") and row[name] is not None}
    assert counted == {"udp_datagrams": 9, "udp_missing": 1, "udp_jitter_ns": 7}


def test_a_server_that_said_nothing_has_no_flows() -> None:
    async def ask() -> Report:
        end = await far_end("sink")
        end.take(report("t", "source", [1000]))
        assert end.result is not None
        return end.result.report

    assert asyncio.run(ask()).flows == []


def test_the_far_end_waits_until_the_near_one_has_reported_and_hears_of_progress() -> None:
    async def ask() -> tuple[bool, list[Progress]]:
        end = await far_end("source")
        heard: list[Progress] = []
        waiting = asyncio.create_task(end.finished(1, heard.append))
        await asyncio.sleep(3600)
        assert end.heard is not None
        end.heard(Progress(trial="t", role="sink", elapsed_us=1, bytes=2))
        early = waiting.done()
        end.take(report("t", "sink", [1000]))
        await asyncio.wait_for(waiting, 1)
        return early, heard

    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        early, heard = runner.run(ask())
    assert not early
    assert [said.bytes for said in heard] == [2]
