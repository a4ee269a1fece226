"""Packets that hosts drop, and windows that close: where they are named, and where nothing is said."""

from collections.abc import Sequence
from typing import Any

import ibis
import pytest

from flowsweep.analysis.findings.closed_window import closed_window_hypotheses
from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.host_drops import host_drop_hypotheses
from flowsweep.analysis.findings.multiple_testing import decided
from flowsweep.analysis.hosts import telling_counters
from flowsweep.analysis.statistics.observations import observations
from synthetic_campaigns import Grid, Row, campaign

GRID = Grid(flows=(1,), window_sums=(1 << 22,), directions=(("a", "b"),), repeats=4)
CLOSED = {
    "verdict": "receive window", "window_recv_bytes": 1 << 22, "rwnd_open_share": 0.3,
    "limit_rwnd_share": 0.9, "thread_busy_recv": 0.2,
}  # fmt: skip
ZERO = ("sink", "b", "TcpExt.TCPToZeroWindowAdv", 7)
Counter = tuple[str, str, str, int]


def rows_with(columns: dict[str, Any], trials: int = 4) -> list[Row]:
    return [row | (columns if at < trials else {}) for at, row in enumerate(campaign(GRID, 1))]


def counted(rows: Sequence[Row], counters: Sequence[Counter]) -> dict[str, list[Any]]:
    return {
        row["trial_id"]: [
            {"trial_id": row["trial_id"], "role": role, "host": host, "name": name, "value": value}
            for role, host, name, value in counters
        ]
        for row in rows
    }


def dropped(counters: Sequence[Counter], trials: int = 4, **columns: Any) -> list[Finding]:
    rows = rows_with({"verdict": "host drops"} | columns, trials)
    [observed] = observations(rows)
    return decided(list(host_drop_hypotheses(observed, counted(rows, counters))))


def test_a_ring_that_overflows_is_named_with_its_device_and_the_busy_core() -> None:
    [one] = dropped([("sink", "b", "eth0.rx_missed_errors", 50)], trials=3, softirq_core_recv=0.98)
    assert one.claim == (
        "a → b: over 3 of 4 trials b counted 150 drops in the receive ring of a network device "
        "(eth0.rx_missed_errors). One core of the receiver spent 98.0 % of the time on receiving packets. "
        "Enlarge that ring (`ethtool -g eth0` shows how far it goes), or, where there are several flows, "
        "spread the device's interrupts over more cores."
    )
    assert (one.kind, one.effect, one.effect_unit, one.n) == ("host_drops", 0.75, "1", 3)


@pytest.mark.parametrize(
    ("counter", "said"),
    [
        (
            ("sink", "b", "softnet.dropped", 9),
            "b counted 36 drops in the queue in front of protocol processing",
        ),
        (("sink", "b", "TcpExt.TCPRcvQDrop", 9), "b counted 36 drops at full socket buffers"),
        (("sink", "b", "vlan.7.rx_dropped", 9), "`ethtool -S vlan.7`"),
        (("source", "a", "eth0.tx_dropped", 9), "a counted 36 drops at a network device, before"),
    ],
)
def test_each_place_is_named(counter: Counter, said: str) -> None:
    [one] = dropped([counter, ("sink", "b", "TcpExt.OfoPruned", 1)])
    assert said in one.claim
    assert "One core" not in one.claim
    assert "OfoPruned" not in one.claim


@pytest.mark.parametrize("name", ["TCPRcvQDrop", "RcvPruned", "OfoPruned"])
def test_a_host_without_memory_for_tcp_is_not_to_have_larger_buffers(name: str) -> None:
    """Linux counts it alike: no memory is scheduled for a packet, or queues are pruned to have some."""
    [one] = dropped([("sink", "b", f"TcpExt.{name}", 9)])
    assert one.claim.endswith(
        "or the host's memory for TCP (net.ipv4.tcp_mem, or its container's limit) ran out: then a larger "
        "buffer makes it worse."
    )


def test_two_places_with_as_many_drops_are_both_named() -> None:
    [one] = dropped([("sink", "b", "softnet.dropped", 9), ("source", "a", "eth0.tx_dropped", 8)])
    assert "(softnet.dropped) and a counted 32 drops" in one.claim


def test_counters_that_may_be_of_the_same_packets_are_not_added() -> None:
    """A bond counts what its ports count, and a full socket buffer is counted twice."""
    bond = [("sink", "b", f"{device}.rx_missed_errors", 9) for device in ("bond0", "eth0")]
    [one] = dropped([*bond, ("sink", "b", "TcpExt.TCPRcvQDrop", 4), ("sink", "b", "TcpExt.RcvPruned", 4)])
    assert (
        "b counted 36 drops in the receive ring of a network device (bond0.rx_missed_errors). " in one.claim
    )
    assert "Pruned" not in one.claim


def test_what_the_queue_of_a_cpu_drops_is_not_dropped_by_the_device_as_well() -> None:
    """Linux adds it to the device's own counter."""
    queue = ("sink", "b", "softnet.dropped", 9)
    [one] = dropped([queue, ("sink", "b", "eth0.rx_dropped", 9)])
    assert "rx_dropped" not in one.claim
    [one] = dropped([queue, ("sink", "b", "eth0.rx_dropped", 19)])
    assert "b counted 40 drops at a network device (eth0.rx_dropped) and b counted 36 drops" in one.claim


def test_datagrams_are_left_to_what_their_ends_count() -> None:
    assert dropped([("sink", "b", "eth0.rx_dropped", 12)], test="udp") == []


def test_counters_of_trials_that_hosts_did_not_limit_say_nothing() -> None:
    assert dropped([("sink", "b", "softnet.dropped", 9)], verdict="congestion window: queue") == []
    assert dropped([]) == []
    assert dropped([ZERO]) == []


def closed(columns: dict[str, Any], counters: Sequence[Counter] = (ZERO,)) -> list[Finding]:
    rows = rows_with(columns, 3)
    [observed] = observations(rows)
    return decided(list(closed_window_hypotheses(observed, counted(rows, counters))))


def test_a_window_that_closes_is_said_to_be_unread() -> None:
    [one] = closed(CLOSED)
    assert one.claim == (
        "a → b: b did not read in time in 3 of 4 trials: on average it advertised 30.0 % of its receive "
        "window, closed it at times, and the sender waited for it for 90.0 % of the time (medians of these "
        "trials). Find what keeps b from reading (its receiving threads ran for 20.0 % of the time): a "
        "larger window bridges short pauses only."
    )
    assert (one.kind, one.effect, one.effect_unit, one.n) == ("closed_window", 0.3, "1", 3)


@pytest.mark.parametrize(
    "columns",
    [
        CLOSED | {"rwnd_open_share": 0.99},  # a window that is too small stands open
        CLOSED | {"window_recv_bytes": None},  # one that the kernel sizes grows with the trial
        CLOSED | {"limit_rwnd_share": 0.1},  # it held nobody back
        CLOSED | {"rwnd_open_share": None},
    ],
)
def test_windows_that_did_not_close(columns: dict[str, Any]) -> None:
    assert closed(columns) == []


def test_where_nobody_watched_the_threads_nothing_is_said_of_them() -> None:
    [one] = closed(CLOSED | {"thread_busy_recv": None})
    assert "Find what keeps b from reading: a larger window" in one.claim


def test_a_window_that_was_never_advertised_as_nothing_did_not_close() -> None:
    assert closed(CLOSED, [("sink", "b", "softnet.dropped", 3)]) == []


def test_counters_that_tell_are_chosen_by_name_role_and_trial() -> None:
    told = [
        ("sink", "softnet.dropped"), ("sink", "TcpExt.TCPToZeroWindowAdv"), ("sink", "eth0.rx_missed_errors"),
        ("source", "eth0.tx_dropped"),
    ]  # fmt: skip
    others = [
        ("source", "softnet.dropped"), ("source", "TcpExt.TCPToZeroWindowAdv"), ("source", "eth0.rx_dropped"),
        ("sink", "eth0.tx_dropped"), ("sink", "eth0.ethtool.rx_dropped"),
        ("sink", "TcpExt.TCPWantZeroWindowAdv"),
    ]  # fmt: skip
    rows = [
        {"trial_id": trial, "role": role, "host": "h", "name": name, "value": 1}
        for trial in ("asked", "other")
        for role, name in (*told, *others)
    ]
    found = telling_counters(ibis.memtable(rows), ["asked"]).to_pyarrow().to_pylist()
    assert {row["trial_id"] for row in found} == {"asked"}
    assert sorted((row["role"], row["name"]) for row in found) == sorted(told)
