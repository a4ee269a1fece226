"""What verdicts and predictions are made of: hosts' load, drops, what each flow did."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from analysis_support import (
    SECOND_NS,
    make_flows,
    make_outcome,
    make_record,
    make_samples,
    make_trial,
    write_archive,
)
from flowsweep.analysis import theory
from flowsweep.analysis.hosts import host_load
from flowsweep.archive import read_archive, tables_of
from flowsweep.archive.parquet import NEEDED_FIELDS
from flowsweep.plan.links.model import Link, LinkDirection
from flowsweep.run.outcome import TrialOutcome
from flowsweep.run.tables import COUNTERS_SCHEMA
from summary_support import archive_rows, summed

Row = dict[str, Any]
STEP_NS = SECOND_NS // 10
MSS = 1448
CORES = (("a", "source", 0, 90, 5, 0, 5), ("a", "source", 1, 50, 10, 0, 50), ("b", "sink", 0, 96, 95, 0, 4),
         ("b", "sink", 1, 20, 0, 20, 60))  # fmt: skip
"""Host, role, core; busy, of that softirq, stolen, idle, in ms."""
COUNTERS = (
    ("b", "sink", "TcpExt.TCPRcvQDrop", 3), ("b", "sink", "softnet.dropped", 4),
    ("b", "sink", "eth0.rx_dropped", 30), ("b", "sink", "eth0.ethtool.rx_dropped", 30),
    ("b", "sink", "eth0.tx_dropped", 7), ("b", "sink", "TcpExt.TCPTimeouts", 9),
    ("a", "source", "eth0.tx_dropped", 6), ("a", "source", "eth0.rx_dropped", 8),
)  # fmt: skip


def cpu_rows() -> pa.Table:
    rows = [
        {"host": host, "peer": "", "role": role, "start_ns": 0, "end_ns": STEP_NS, "kind": "core", "id": core,
         "busy_us": busy * 1_000, "softirq_us": softirq * 1_000, "steal_us": steal * 1_000,
         "idle_us": idle * 1_000}
        for host, role, core, busy, softirq, steal, idle in CORES
    ]  # fmt: skip
    return pa.Table.from_pylist(rows, schema=pa.schema(NEEDED_FIELDS["cpu"]))


def load_of(
    rows: Sequence[Sequence[Any]],
    sinks: Mapping[str, int | None],
    watched: Collection[str] = ("source", "sink"),
) -> Row:
    """The load of a trial's hosts, with counters of them; its sinks, and how far their clocks are known."""
    counters = [dict(zip(COUNTERS_SCHEMA.names, row, strict=True)) for row in rows]
    ends = [("source", "a", 0), *(("sink", host, bound_ns) for host, bound_ns in sinks.items())]
    outcome = replace(
        make_outcome(make_trial(flows=2)),
        cpu=cpu_rows().filter(pc.field("role").isin(list(watched))),
        counters=pa.Table.from_pylist(counters, schema=COUNTERS_SCHEMA),
        flows=make_flows(
            {
                "role": role,
                "host": host,
                "clock_bound_ns": bound_ns,
                "flow": flow,
                "bytes": 1,
                "cpu_user_us": 0,
                "cpu_system_us": 1_000_000 * (flow + 1),
            }
            for role, host, bound_ns in ends
            for flow in (0, 1)
        ),
    )
    tables = tables_of([outcome])
    [row] = host_load(tables.cpu, tables.counters, tables.flows).to_pyarrow().to_pylist()
    return row


@pytest.fixture(scope="module")
def load() -> Row:
    return load_of(COUNTERS, {"b": None})


def test_threads_are_averaged_over_flows(load: Row) -> None:
    assert load["thread_busy_send"] == pytest.approx((0.2 + 0.4) / 2)


def test_time_that_was_stolen_is_not_to_be_had(load: Row) -> None:
    assert load["cores_busy_send"] == pytest.approx((90 + 50) / (95 + 100))
    assert load["cores_busy_recv"] == pytest.approx((96 + 40) / (100 + 100))


def test_interrupts_are_of_the_core_that_has_most(load: Row) -> None:
    assert load["softirq_core_recv"] == pytest.approx(0.95)


def test_drops_are_counted_once_and_where_they_hurt(load: Row) -> None:
    # Of the device's 30 in 5 s, 25 may be frames of protocols that nobody asked for; 4 of the other 5 may be
    # those that the queue of a CPU dropped.
    assert load["host_dropped_packets"] == 3 + 5 + 6


def test_a_core_can_be_held_back_for_one_thread_at_a_time(load: Row) -> None:
    # The source ran for 5 s with two threads on two cores.
    assert load["throttleable_send_us"] == 10_000_000
    flows = make_flows({"role": "source", "flow": flow, "bytes": 1} for flow in range(8))
    outcome = replace(make_outcome(make_trial(flows=8)), cpu=cpu_rows(), flows=flows)
    tables = tables_of([outcome])
    [row] = host_load(tables.cpu, tables.counters, tables.flows).to_pyarrow().to_pylist()
    assert row["throttleable_send_us"] == 10_000_000


def of_sink(host: str, **values: int) -> list[tuple[str, str, str, int]]:
    return [(host, "sink", name.replace("__", "."), value) for name, value in values.items()]


@pytest.mark.parametrize(
    ("rows", "sinks", "dropped"),
    [
        (of_sink("b", softnet__dropped=100, eth0__rx_dropped=125), {"b": None}, 100),
        (of_sink("b", TcpExt__TCPRcvQDrop=10, TcpExt__RcvPruned=10), {"b": None}, 10),
        (of_sink("b", TcpExt__TCPRcvQDrop=10, TcpExt__TCPBacklogDrop=3), {"b": None}, 13),
        # It rises once for however many packets were thrown out.
        (of_sink("b", TcpExt__OfoPruned=7), {"b": None}, 0),
        (of_sink("b", bond0__rx_missed_errors=8, eth0__rx_missed_errors=8), {"b": None}, 8),
        ([("a", "source", "bond0.tx_dropped", 8), ("a", "source", "eth0.tx_dropped", 8)], {"b": None}, 8),
        # The queues of CPUs are those of a machine, in whatever namespace a host is.
        (of_sink("b", softnet__dropped=9) + of_sink("c", softnet__dropped=9), {"b": 0, "c": 0}, 9),
        (of_sink("b", softnet__dropped=9) + of_sink("c", softnet__dropped=9), {"b": 5, "c": 7}, 18),
        (of_sink("b", eth0__rx_dropped=28) + of_sink("c", eth0__rx_dropped=29), {"b": 0, "c": 0}, 7),
    ],
)
def test_a_packet_that_several_counters_count_is_dropped_once(
    rows: Sequence[Sequence[Any]], sinks: Mapping[str, int | None], dropped: int
) -> None:
    assert load_of(rows, sinks)["host_dropped_packets"] == dropped


@pytest.mark.parametrize(
    ("rows", "watched", "dropped"),
    [
        ([], ("sink",), 0), ([], ("source",), None), ([], ("nobody",), None),
        ([("a", "source", "Tcp.OutSegs", 9)], ("source",), None),
        ([("a", "source", "eth0.tx_dropped", 9)], ("source",), 9),
    ],
)  # fmt: skip
def test_drops_of_sinks_that_nobody_watched_are_not_none(
    rows: Sequence[Sequence[Any]], watched: Collection[str], dropped: int | None
) -> None:
    """A server's engine does not watch its host."""
    assert load_of(rows, {"b": None}, watched)["host_dropped_packets"] == dropped


def lossy_rows(flow: int) -> list[Row]:
    """5 s in tenths; in each second one recovery of two segments, and 100 segments sent, 40 and 60 ms."""
    rows: list[Row] = []
    for index in range(51):
        at = {"flow": flow, "start_ns": index * STEP_NS, "end_ns": (index + 1) * STEP_NS}
        losses = (index + 5) // 10
        sent = (index + 1) * 10 * MSS
        rows.append(at | {"role": "sink", "bytes": 10 * MSS})
        rows.append(
            at
            | {
                "role": "source", "bytes": 10 * MSS, "rtt_us": 60_000 if index % 10 == 4 else 50_000,
                "min_rtt_us": 40_000, "rto_us": 250_000, "snd_mss_bytes": MSS, "snd_cwnd": 10, "unacked": 10,
                "sacked": 0, "lost": 0, "retrans": 0, "notsent_bytes": 9 * MSS, "bytes_sent": sent,
                "bytes_retrans": losses * 2 * MSS, "total_retrans": losses * 2, "ca_state": 0,
                "bytes_acked": sent - losses * 2 * MSS - 10 * MSS, "snd_wnd_bytes": 100 * MSS,
                "total_rto_recoveries": 0, "rwnd_limited_us": 0, "sndbuf_limited_us": 0,
            }
        )  # fmt: skip
    return rows


@pytest.fixture(scope="module")
def lossy() -> Row:
    trial = make_trial(flows=2)
    total = 51 * 10 * MSS
    flows = make_flows(
        {"role": role, "flow": flow, "bytes": total} for role in ("source", "sink") for flow in (0, 1)
    )
    samples = make_samples(row for flow in (0, 1) for row in lossy_rows(flow))
    [row] = summed(TrialOutcome(make_record(trial), samples, flows))
    assert row["status"] == "ok", row["error"]
    return row


def test_losses_are_counted_in_the_time_that_counts(lossy: Row) -> None:
    # Seconds 1 to 5: 40 samples of 10 segments, and a recovery of two segments in each second.
    assert lossy["loss_share"] == pytest.approx(8 / 400)
    assert lossy["loss_event_share"] == pytest.approx(4 / 400)
    assert lossy["tcp_efficiency_percent"] == pytest.approx(98)


def test_round_trips_at_losses_are_the_longer_ones_of_before_and_after(lossy: Row) -> None:
    assert lossy["rtt_at_loss_ms"] == pytest.approx(60)


def test_formulas_of_a_flow_are_summed(lossy: Row) -> None:
    rtt_s = (0.05 * 36 + 0.06 * 4) / 40
    assert lossy["theory_mathis_bps"] == pytest.approx(2 * theory.mathis_bps(MSS, rtt_s, 0.01))
    assert lossy["theory_padhye_bps"] == pytest.approx(2 * theory.padhye_bps(MSS, rtt_s, 0.01, 0.25, 100.0))
    assert lossy["theory_cubic_bps"] == pytest.approx(2 * theory.cubic_bps(MSS, rtt_s, 0.01))
    assert lossy["buffer_delay_percent"] == pytest.approx((rtt_s / 0.04 - 1) * 100)
    assert lossy["verdict"] == "congestion window: queue", "round trips are half as long again at losses"


def test_without_a_link_of_the_plan_its_columns_are_empty(lossy: Row) -> None:
    assert [lossy[name] for name in ("path_rate_bps", "link_payload_bps", "transfer_time_ratio")] == [
        None
    ] * 3


def small_segments() -> TrialOutcome:
    outcome = make_outcome(make_trial(mss_bytes=536))
    (source,) = outcome.record.sources
    record = outcome.record.model_copy(update={"sources": (source.model_copy(update={"mss_bytes": 524}),)})
    return replace(outcome, record=record)


OUTCOMES = (make_outcome(make_trial()), small_segments())


def test_a_link_of_the_plan_says_what_it_carries(tmp_path: Path) -> None:
    way = LinkDirection(rate_bps=100_000_000)
    link = Link(name="wire", between=("a", "b"), forward=way, backward=way)
    plan = {"links": [link.model_dump(mode="json")]}
    archive = write_archive(tmp_path / "archive", OUTCOMES, plan_json=json.dumps(plan))
    full, small = archive_rows(read_archive(archive))
    assert full["path_rate_bps"] == 100_000_000
    assert full["link_payload_bps"] == pytest.approx(100e6 * 1448 / 1500)
    assert full["transfer_time_ratio"] == pytest.approx(full["link_payload_bps"] / full["goodput_mean_bps"])
    assert small["link_payload_bps"] == pytest.approx(100e6 * 524 / 576)
