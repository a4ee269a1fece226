"""What limits QUIC where emulated links tell it, alone and beside others."""

from typing import Any

import ibis
import pyarrow as pa
import pytest

from flowsweep.analysis.tests.quic.verdict import with_quic_verdict

HELD: dict[str, Any] = {
    "test": "quic", "verdict": None, "goodput_bps": 47e6, "flows": 1, "rate_bps": None, "far_side": None,
    "thread_busy_send": 0.2, "thread_busy_recv": 0.2, "window_send_bytes": None, "window_recv_bytes": None,
    "stream_window_bytes": None, "streams_per_flow": 1, "family": 4, "link_queue_drops": 0,
    "link_random_drops": 20, "link_policer_drops": 0, "path_rate_bps": 100_000_000, "bytes_sent": 58_750_000,
    "congestion_limited_share": 0.95, "flow_control_limited_share": 0.0, "datagram_bytes_sent": 60_000_000,
    "quic_datagrams_sent": 45_000, "share": None, "link_shared": False, "beside_along": None,
    "beside_apart": None,
}  # fmt: skip
"""Congestion control holds it back, at 49 of 100 Mbit/s of packets; a link lost some of these at random."""
BESIDE = {"share": 0.5, "link_shared": True, "beside_along": True, "beside_apart": False}
BACK = {"share": 0.5, "beside_along": False, "beside_apart": True}
TYPES = (
    (("test", "verdict", "far_side"), pa.string()),
    (("link_shared", "beside_along", "beside_apart"), pa.bool_()),
    (
        ("goodput_bps", "thread_busy_send", "thread_busy_recv", "share", "congestion_limited_share",
         "flow_control_limited_share"),
        pa.float64(),
    ),
)  # fmt: skip
SCHEMA = pa.schema(
    [(name, next((kind for names, kind in TYPES if name in names), pa.int64())) for name in HELD]
)
CASES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("losses at random, alone", "congestion window: loss", {}),
    ("a link that TCP beside fills with it", "congestion window: queue", BESIDE),
    ("a link that traffic the other way does not fill", "congestion window: loss", BACK),
    ("a link that is almost full", "not clear", BESIDE | {"share": 0.52}),
    ("a link that some of the traffic beside may fill", "not clear", BESIDE | {"beside_along": False}),
    ("a link with room for both", "congestion window: loss", BESIDE | {"share": 0.8}),
    ("drops of two kinds that may be of others", "not clear",
     BESIDE | {"share": 0.8, "link_queue_drops": 5}),
    ("drops of two kinds, alone", "congestion window: loss", {"link_queue_drops": 5}),
    ("drops at a queue that may be of others", "not clear",
     BESIDE | {"share": 0.8, "link_queue_drops": 50}),
    ("a queue that drops, alone", "congestion window: queue", {"link_queue_drops": 50}),
    ("a path without a limit", "congestion window: loss", BESIDE | {"path_rate_bps": None}),
    ("a policer that leaves no room", "congestion window: loss",
     {"link_random_drops": 0, "link_policer_drops": 20, "path_rate_bps": 52_000_000}),
)  # fmt: skip


@pytest.mark.parametrize(("_name", "verdict", "changes"), CASES, ids=[case[0] for case in CASES])
def test_links_tell_what_limits(_name: str, verdict: str, changes: dict[str, Any]) -> None:
    rows = pa.Table.from_pylist([HELD | changes], schema=SCHEMA)
    table = ibis.duckdb.connect().create_table("trials", rows)
    assert with_quic_verdict(table).to_pyarrow()["verdict"].to_pylist() == [verdict]
