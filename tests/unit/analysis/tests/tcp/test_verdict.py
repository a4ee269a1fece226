"""The verdict's rules: one row of numbers, one word."""

from typing import Any

import ibis
import pyarrow as pa
import pytest

from flowsweep.analysis.tests.tcp.verdict import with_verdict
from flowsweep.analysis.verdicts import (
    NETWORK,
    PATH_LOSS,
    SINK_DISK,
    SINK_FILE_SYSTEM,
    SOURCE_DISK,
    SOURCE_FILE_SYSTEM,
    VERDICTS,
)

Row = dict[str, Any]

QUIET: Row = {
    "goodput_bps": 50e6, "flows": 1, "window_send_bytes": 1 << 20, "rate_bps": None, "pacing_rate_bps": None,
    "limit_cwnd_share": 0.0, "rtt_variation_ms": 0.05,
    "limit_rwnd_share": 0.0, "limit_send_buffer_share": 0.0, "limit_none_share": 0.0,
    "sender_idle_share": 0.0, "rtt_min_ms": 40.0, "rtt_median_ms": 41.0, "rtt_at_loss_ms": None,
    "recoveries": 0, "rwnd_open_share": 1.0, "thread_busy_send": 0.05, "thread_busy_recv": 0.08,
    "cores_busy_send": 0.3, "cores_busy_recv": 0.3, "softirq_core_recv": 0.1, "throttled_send_share": None,
    "throttled_recv_share": None, "host_dropped_packets": 0, "link_payload_bps": None, "share": None,
    "theory_window_bps": None,
    "goodput_mean_bps": 50e6, "link_queue_drops": None, "link_random_drops": None,
    "link_policer_drops": None, "link_queued_share": None, "simultaneous": False, "link_shared": False,
    "beside_along": None, "beside_apart": None, "beside_back": None,
}  # fmt: skip
"""A trial on idle hosts over an idle path of 40 ms."""
PEER = {"limit_rwnd_share": 1.0}
BUFFER = {"limit_send_buffer_share": 1.0}
CWND = {"limit_cwnd_share": 1.0}
PACE = {"limit_none_share": 1.0}
IDLE = {"limit_none_share": 1.0, "sender_idle_share": 1.0}
BOTH_BUSY = {"thread_busy_send": 0.95, "thread_busy_recv": 0.95}
UNTOLD = dict.fromkeys(
    (
        "limit_cwnd_share",
        "limit_rwnd_share",
        "limit_send_buffer_share",
        "limit_none_share",
        "sender_idle_share",
    )
)
"""By Linux before 5.4, where data wait; of imported trials no thread's time is known either."""
LOSSY = CWND | {"recoveries": 20, "rtt_at_loss_ms": 41.0}

COUNTS = {
    "flows", "window_send_bytes", "rate_bps", "pacing_rate_bps", "recoveries", "host_dropped_packets",
    "link_queue_drops", "link_random_drops", "link_policer_drops",
}  # fmt: skip
FLAGS = ("simultaneous", "link_shared", "beside_along", "beside_apart", "beside_back")
ALONG = {"beside_along": True, "beside_apart": False, "beside_back": False}
BACK = {"beside_along": False, "beside_apart": True, "beside_back": True}
MIXED = {"beside_along": False, "beside_apart": False, "beside_back": True}
SCHEMA = pa.schema(
    [(name, pa.int64() if name in COUNTS else pa.float64()) for name in QUIET if name not in FLAGS]
    + [(name, pa.bool_()) for name in FLAGS]
)


def verdicts(*changes: Row) -> list[str | None]:
    rows = pa.Table.from_pylist([QUIET | change for change in changes], schema=SCHEMA)
    table = ibis.duckdb.connect().create_table("trials", rows)
    return [row["verdict"] for row in with_verdict(table).to_pyarrow().to_pylist()]


CASES: tuple[tuple[str, str | None, Row], ...] = (
    ("untold windows", None, UNTOLD),
    ("untold windows and a busy sink", "receiver CPU", UNTOLD | {"thread_busy_recv": 0.99}),
    ("untold windows and a busy source", "sender CPU", UNTOLD | {"thread_busy_send": 0.99}),
    ("untold windows and both busy", "not clear", UNTOLD | BOTH_BUSY),
    ("untold windows at a paced rate", "application rate",
     UNTOLD | {"pacing_rate_bps": 52e6, "goodput_bps": 50.5e6}),
    ("untold windows on a full link", "congestion window: queue",
     UNTOLD | {"goodput_bps": 96e6, "goodput_mean_bps": 96e6, "link_payload_bps": 96.5e6}),
    ("an imported trial", None,
     UNTOLD | {"thread_busy_send": None, "thread_busy_recv": None, "rate_bps": 50e6}),
    ("a full receive window", "receive window", PEER),
    ("a full send buffer", "send window", BUFFER),
    ("a buffer beside bbr's pace", "send window",
     {"limit_send_buffer_share": 0.57, "limit_none_share": 0.43}),
    ("both windows, the receiver's more", "receive window",
     {"limit_rwnd_share": 0.6, "limit_send_buffer_share": 0.4}),
    ("a window and a standing queue", "congestion window: queue", PEER | {"rtt_median_ms": 60.0}),
    # Four flows of 64 KiB over 20 Mbit/s and 40 ms: windows allow 64 Mbit/s.
    ("windows of several flows beyond a queue that does not quite double round trips",
     "congestion window: queue",
     {"goodput_bps": 17.96e6, "goodput_mean_bps": 17.96e6, "flows": 4, "limit_rwnd_share": 0.363,
      "limit_none_share": 0.6, "rtt_median_ms": 79.02, "rtt_variation_ms": 5.7, "link_payload_bps": 19.31e6,
      "theory_window_bps": 64.4e6, "link_queue_drops": 11, "link_queued_share": 0.9, "recoveries": 11}),
    ("the same windows where they allow what the link carries", "receive window",
     {"goodput_bps": 17.96e6, "goodput_mean_bps": 17.96e6, "flows": 4, "limit_rwnd_share": 0.9,
      "rtt_median_ms": 60.0, "rtt_variation_ms": 5.7, "link_payload_bps": 19.31e6,
      "theory_window_bps": 19.8e6}),
    ("bursts of a whole buffer", "send window", BUFFER | {"rtt_median_ms": 60.0, "rtt_variation_ms": 1.9}),
    ("a window of the path's product", "congestion window: queue",
     PEER | {"goodput_bps": 96e6, "goodput_mean_bps": 96e6, "link_payload_bps": 96.5e6}),
    ("a link that is full but for a third of the time, which losses take", "congestion window: loss",
     LOSSY | {"goodput_bps": 47.5e6, "goodput_mean_bps": 33e6, "link_payload_bps": 47.9e6, "recoveries": 4,
              "link_queue_drops": 0, "link_random_drops": 4}),
    ("pieces on a short path are no queue", "receive window",
     PEER | {"rtt_min_ms": 0.8, "rtt_median_ms": 1.3}),
    ("loss on an empty path", "congestion window: loss", LOSSY),
    ("loss of a full queue", "congestion window: queue", LOSSY | {"rtt_at_loss_ms": 60.0}),
    ("a standing queue", "congestion window: queue", LOSSY | {"rtt_median_ms": 70.0}),
    ("a window beyond the product whose median bin is short of the link", "congestion window: queue",
     PEER | {"goodput_bps": 47.1e6, "goodput_mean_bps": 48.2e6, "link_payload_bps": 48.27e6,
             "rtt_median_ms": 88.0, "rtt_variation_ms": 4.0}),
    ("a receive window that doubles the round trip", "congestion window: queue",
     PEER | {"rtt_median_ms": 88.0, "rtt_variation_ms": 4.0}),
    ("a receive window on a path with jitter", "receive window",
     PEER | {"rtt_median_ms": 50.0, "rtt_variation_ms": 3.0}),
    ("a receive window on a link that is far from full", "receive window",
     PEER | {"rtt_median_ms": 88.0, "rtt_variation_ms": 0.4, "link_payload_bps": 96.5e6}),
    ("a receive window on a link that background traffic fills", "congestion window: queue",
     PEER | {"rtt_median_ms": 88.0, "rtt_variation_ms": 0.4, "link_payload_bps": 96.5e6, "share": 0.52}
     | ALONG),
    ("a receive window beside as much traffic the other way", "receive window",
     PEER | {"goodput_bps": 48e6, "goodput_mean_bps": 48e6, "rtt_median_ms": 40.3, "link_payload_bps": 95e6,
             "share": 0.5} | BACK),
    ("a queue stands at the window of a link that only traffic the other way would fill", "receive window",
     PEER | {"rtt_median_ms": 88.0, "rtt_variation_ms": 0.4, "link_payload_bps": 96.5e6, "share": 0.52}
     | BACK),
    ("a receive window and a queue, where only some of the traffic beside goes the same way",
     "congestion window: queue",
     PEER | {"goodput_bps": 48e6, "goodput_mean_bps": 48e6, "rtt_median_ms": 88.0, "rtt_variation_ms": 0.4,
             "link_payload_bps": 96.5e6, "share": 0.4} | MIXED),
    ("a receive window and no queue, where only some of the traffic beside goes the same way",
     "receive window",
     PEER | {"goodput_bps": 48e6, "goodput_mean_bps": 48e6, "link_payload_bps": 96.5e6, "share": 0.4}
     | MIXED),
    ("a queue of 6 KB drops, as the link counted", "congestion window: queue",
     LOSSY | {"goodput_bps": 6e6, "goodput_mean_bps": 6e6, "rtt_median_ms": 42.0, "rtt_variation_ms": 2.5,
              "rtt_at_loss_ms": 42.3, "link_payload_bps": 48.27e6, "link_queue_drops": 9,
              "link_random_drops": 0}),
    ("losses at random that happen to find long round trips", "congestion window: loss",
     LOSSY | {"rtt_at_loss_ms": 60.0, "link_payload_bps": 96.5e6, "link_queue_drops": 0,
              "link_random_drops": 12}),
    ("acknowledgements in the queue of the other direction", "congestion window: reverse queue",
     CWND | {"simultaneous": True, "goodput_bps": 12e6, "goodput_mean_bps": 12e6, "rtt_min_ms": 16.2,
             "rtt_median_ms": 118.6, "rtt_variation_ms": 2.6, "link_payload_bps": 57.92e6,
             "link_queue_drops": 0, "link_random_drops": 0}),
    ("the same, with a few drops of bursts that the wait has made", "congestion window: reverse queue",
     LOSSY | {"simultaneous": True, "goodput_bps": 40e6, "goodput_mean_bps": 40e6, "rtt_min_ms": 40.2,
              "rtt_median_ms": 147.3, "rtt_variation_ms": 1.9, "rtt_at_loss_ms": 151.8, "recoveries": 3,
              "link_payload_bps": 96.5e6, "link_queue_drops": 11, "link_random_drops": 0,
              "link_queued_share": 0.5}),
    ("a link that acknowledgements of the other direction fill with the data", "congestion window: queue",
     LOSSY | {"simultaneous": True, "goodput_bps": 6.84e6, "goodput_mean_bps": 6.88e6, "rtt_min_ms": 40.2,
              "rtt_median_ms": 147.9, "rtt_variation_ms": 2.2, "rtt_at_loss_ms": 159.5, "recoveries": 5,
              "link_payload_bps": 7.72e6, "link_queue_drops": 8, "link_random_drops": 0,
              "link_queued_share": 1.0}),
    ("a queue that may be of either direction", "not clear",
     CWND | {"simultaneous": True, "goodput_bps": 12e6, "goodput_mean_bps": 12e6, "rtt_min_ms": 16.2,
             "rtt_median_ms": 118.6, "rtt_variation_ms": 2.6}),
    ("a window that is full over a queue that may be of either direction", "not clear",
     PEER | {"simultaneous": True, "goodput_bps": 12e6, "goodput_mean_bps": 12e6, "rtt_min_ms": 16.2,
             "rtt_median_ms": 118.6, "rtt_variation_ms": 2.6}),
    ("a window that is full in both directions over empty queues", "receive window",
     PEER | {"simultaneous": True}),
    ("losses at random under a calm queue that may be of either direction", "not clear",
     LOSSY | {"simultaneous": True, "rtt_min_ms": 20.0, "rtt_median_ms": 80.0, "rtt_variation_ms": 1.0,
              "rtt_at_loss_ms": 80.0, "recoveries": 10}),
    ("the same with round trips that vary as nobody knows", "not clear",
     LOSSY | {"simultaneous": True, "rtt_min_ms": 20.0, "rtt_median_ms": 80.0, "rtt_variation_ms": None,
              "rtt_at_loss_ms": 80.0, "recoveries": 10}),
    ("the same beside background traffic the other way", "not clear",
     LOSSY | {"rtt_min_ms": 20.0, "rtt_median_ms": 80.0, "rtt_variation_ms": 1.0, "rtt_at_loss_ms": 80.0,
              "recoveries": 10, "share": 0.5} | BACK),
    ("the same beside background traffic the same way", "congestion window: queue",
     LOSSY | {"rtt_min_ms": 20.0, "rtt_median_ms": 80.0, "rtt_variation_ms": 1.0, "rtt_at_loss_ms": 80.0,
              "recoveries": 10, "share": 0.5} | ALONG),
    ("a queue that may be of background traffic the other way", "not clear",
     CWND | {"rtt_min_ms": 20.0, "rtt_median_ms": 80.0, "rtt_variation_ms": 1.0, "share": 0.4} | BACK),
    ("acknowledgements in the queue of background traffic the other way", "congestion window: reverse queue",
     CWND | {"goodput_bps": 40e6, "goodput_mean_bps": 40e6, "rtt_min_ms": 20.0, "rtt_median_ms": 80.0,
             "rtt_variation_ms": 1.0, "link_payload_bps": 95e6, "share": 0.42} | BACK),
    ("a queue that drops in both directions", "congestion window: queue",
     LOSSY | {"simultaneous": True, "rtt_median_ms": 60.0, "rtt_at_loss_ms": 75.0, "rtt_variation_ms": 3.0}),
    ("the same of a link that is full", "congestion window: queue",
     CWND | {"simultaneous": True, "goodput_bps": 8.47e6, "goodput_mean_bps": 8.47e6, "rtt_min_ms": 16.2,
             "rtt_median_ms": 118.6, "rtt_variation_ms": 0.9, "link_payload_bps": 8.69e6}),
    ("the same with one direction in use", "congestion window: queue",
     CWND | {"goodput_bps": 12e6, "goodput_mean_bps": 12e6, "rtt_min_ms": 16.2, "rtt_median_ms": 118.6,
             "rtt_variation_ms": 2.6, "link_payload_bps": 57.92e6}),
    ("its own queue drops, too, at a fifth of the link and three times the round trip",
     "congestion window: reverse queue",
     LOSSY | {"simultaneous": True, "goodput_bps": 12e6, "goodput_mean_bps": 12e6, "rtt_median_ms": 118.6,
              "link_payload_bps": 57.92e6, "link_queue_drops": 9, "link_random_drops": 0}),
    ("its own queue drops while both directions are in use, at the path's own round trip",
     "congestion window: queue",
     LOSSY | {"simultaneous": True, "goodput_bps": 12e6, "goodput_mean_bps": 12e6, "rtt_median_ms": 43.0,
              "link_payload_bps": 57.92e6, "link_queue_drops": 9, "link_random_drops": 0}),
    ("bbr far below its link, packets lost at random", "congestion window: loss",
     PACE | {"recoveries": 30, "link_payload_bps": 96.5e6, "link_queue_drops": 0, "link_random_drops": 40}),
    ("as many drops of either kind", "congestion window: loss",
     LOSSY | {"link_payload_bps": 96.5e6, "link_queue_drops": 10, "link_random_drops": 10}),
    ("a policer, whose whole rate bbr gets", "congestion window: loss",
     PACE | {"recoveries": 30, "goodput_bps": 19.3e6, "goodput_mean_bps": 19.3e6, "link_payload_bps": 19.3e6,
             "link_queue_drops": 0, "link_random_drops": 0, "link_policer_drops": 40}),
    ("a policer, and round trips that are long for another reason", "congestion window: loss",
     LOSSY | {"rtt_median_ms": 60.0, "rtt_at_loss_ms": 60.0, "link_payload_bps": 96.5e6,
              "link_queue_drops": 5, "link_random_drops": 0, "link_policer_drops": 10}),
    ("a policer that drops what others send, and a queue", "congestion window: queue",
     LOSSY | {"rtt_median_ms": 60.0, "rtt_at_loss_ms": 60.0, "link_payload_bps": 96.5e6, "link_shared": True,
              "link_queue_drops": 5, "link_random_drops": 0, "link_policer_drops": 10}),
    ("a policer that is all that drops, beside others", "congestion window: loss",
     LOSSY | {"rtt_median_ms": 60.0, "rtt_at_loss_ms": 60.0, "link_payload_bps": 96.5e6, "link_shared": True,
              "link_queue_drops": 0, "link_random_drops": 0, "link_policer_drops": 10}),
    ("a queue that drops behind a policer that hardly does", "congestion window: queue",
     LOSSY | {"rtt_at_loss_ms": 42.3, "link_payload_bps": 48.27e6, "link_queue_drops": 9,
              "link_random_drops": 0, "link_policer_drops": 2}),
    ("a window below what a policer lets pass", "receive window", PEER | {"link_policer_drops": 0,
     "link_queue_drops": 0, "link_random_drops": 0}),
    ("loss on a path with jitter", "congestion window: loss",
     LOSSY | {"rtt_min_ms": 31.6, "rtt_median_ms": 47.0, "rtt_variation_ms": 2.67, "rtt_at_loss_ms": 47.9}),
    ("a queue that fills on a path with jitter", "congestion window: queue",
     LOSSY | {"rtt_min_ms": 31.6, "rtt_median_ms": 47.0, "rtt_variation_ms": 2.67, "rtt_at_loss_ms": 75.0}),
    ("a send buffer for less than half of the time, no loss", "send window",
     {"limit_send_buffer_share": 0.46, "limit_cwnd_share": 0.54, "rtt_min_ms": 6.2, "rtt_median_ms": 18.0,
      "rtt_variation_ms": 1.5, "goodput_bps": 33e6, "goodput_mean_bps": 33e6, "link_payload_bps": 48.27e6}),
    ("the same, of a path that nobody knows", "send window",
     {"limit_send_buffer_share": 0.46, "limit_cwnd_share": 0.54, "rtt_min_ms": 6.2, "rtt_median_ms": 18.0,
      "rtt_variation_ms": 1.5}),
    ("a send buffer, and a congestion window that losses hold down", "congestion window: loss",
     {"limit_send_buffer_share": 0.3, "limit_cwnd_share": 0.7, "recoveries": 20, "rtt_at_loss_ms": 41.0}),
    ("loopback, all cores in use", "sender CPU",
     IDLE | {"sender_idle_share": 0.67, "limit_none_share": 0.9, "limit_cwnd_share": 0.1, "rtt_min_ms": 0.02,
             "rtt_median_ms": 0.05, "window_send_bytes": None, "cores_busy_send": 1.0,
             "cores_busy_recv": 1.0}),
    ("loopback, all cores in use, unread data", "receiver CPU",
     {"limit_rwnd_share": 0.6, "limit_none_share": 0.4, "sender_idle_share": 0.3, "rtt_min_ms": 0.02,
      "rtt_median_ms": 0.05, "window_send_bytes": None, "cores_busy_send": 1.0, "cores_busy_recv": 1.0,
      "rwnd_open_share": 0.5}),
    ("a congestion window that still grows", "not clear", CWND),
    ("bbr's own pace", "congestion window: queue", PACE),
    ("bbr's own pace with loss", "congestion window: queue",
     {"limit_none_share": 0.77, "limit_cwnd_share": 0.23, "recoveries": 9}),
    ("a rate that is reached", "application rate", IDLE | {"rate_bps": 50_000_000}),
    ("a rate that is not", "not clear", IDLE | {"rate_bps": 90_000_000}),
    ("a rate of each of two flows", "application rate", IDLE | {"rate_bps": 25_000_000, "flows": 2}),
    ("a pace that is reached", "application rate", PACE | {"pacing_rate_bps": 52_000_000}),
    ("a sender that never waits", "sender CPU", IDLE | {"thread_busy_send": 0.97}),
    ("a sender that is throttled", "sender CPU",
     IDLE | {"thread_busy_send": 0.2, "throttled_send_share": 0.4}),
    ("a sender on a crowded host", "sender CPU", IDLE | {"cores_busy_send": 0.99}),
    ("a crowded host and a buffer of unknown size", "not clear",
     IDLE | {"cores_busy_send": 0.99, "window_send_bytes": None}),
    ("a crowded host is no limit to a window", "receive window", PEER | {"cores_busy_send": 1.0}),
    ("a receiver that never waits", "receiver CPU", PEER | {"thread_busy_recv": 0.97}),
    ("a receiver that is throttled", "receiver CPU",
     PEER | {"thread_busy_recv": 0.2, "throttled_recv_share": 0.4}),
    ("a receiver on a crowded host", "receiver CPU",
     PEER | {"cores_busy_recv": 0.99, "rwnd_open_share": 0.5}),
    ("interrupts fill a core", "receiver CPU", CWND | {"softirq_core_recv": 0.97}),
    ("both ends busy, data waits", "receiver CPU", PEER | BOTH_BUSY),
    ("both ends busy, none waits", "sender CPU", IDLE | BOTH_BUSY),
    ("both ends busy, either", "not clear",
     {"limit_rwnd_share": 0.5, "limit_none_share": 0.5, "sender_idle_share": 0.5} | BOTH_BUSY),
    ("hosts drop what is lost", "host drops", LOSSY | {"host_dropped_packets": 15}),
    ("hosts drop a little of it", "congestion window: loss", LOSSY | {"host_dropped_packets": 3}),
    ("an idle sender nobody explains", "not clear", IDLE),
    ("half window, half loss", "not clear", {"limit_rwnd_share": 0.5, "limit_cwnd_share": 0.5}),
    ("no goodput", None, PEER | {"goodput_bps": None}),
    ("a kernel that does not say what waits", "not clear", PACE | {"sender_idle_share": None}),
    ("a kernel that says nothing", None, PEER | {"limit_none_share": None}),
)  # fmt: skip


@pytest.fixture(scope="module")
def found() -> dict[str, str | None]:
    names = [name for name, _, _ in CASES]
    return dict(zip(names, verdicts(*(row for _, _, row in CASES)), strict=True))


@pytest.mark.parametrize(("name", "expected"), [case[:2] for case in CASES], ids=[case[0] for case in CASES])
def test_rule(found: dict[str, str | None], name: str, expected: str | None) -> None:
    assert found[name] == expected


def test_every_verdict_has_a_rule_and_no_other_is_given() -> None:
    of_other_tests = {PATH_LOSS, NETWORK, SOURCE_DISK, SOURCE_FILE_SYSTEM, SINK_DISK, SINK_FILE_SYSTEM}
    assert {expected for _, expected, _ in CASES} == {*VERDICTS, None} - of_other_tests


def test_a_queue_begins_at_both_of_its_bounds() -> None:
    longer = [PEER | {"rtt_min_ms": least, "rtt_median_ms": median} for least, median in BOUNDS]
    assert verdicts(*longer) == ["receive window", "congestion window: queue"] * 2


BOUNDS = ((40.0, 47.9), (40.0, 48.1), (1.0, 2.9), (1.0, 3.1))
"""A fifth longer; 2 ms longer: just below, just above."""
