"""What limits Multipath TCP where emulated links tell it."""

from typing import Any

import ibis
import pyarrow as pa
import pytest

from flowsweep.analysis.tests.mptcp.verdict import with_subflow_verdict

FULL: dict[str, Any] = {
    "test": "mptcp", "verdict": None, "goodput_bps": 39.81e6, "goodput_mean_bps": 39.7e6, "flows": 1,
    "rate_bps": None, "thread_busy_send": 0.1, "thread_busy_recv": 0.1, "path_rate_bps": 42_000_000,
    "path_mtu_bytes": 1500, "family": 4, "share": None, "beside_along": None,
}  # fmt: skip
"""Links of 30 and 12 Mbit/s carry 1420 of 1500 bytes: 39.76 Mbit/s."""
ONE = {"goodput_bps": 28.4e6, "goodput_mean_bps": 28.4e6}
"""All that the first link carries."""
HALF = {"goodput_bps": 20e6, "goodput_mean_bps": 20e6, "share": 0.5}
SCHEMA = pa.schema(
    [
        ("test", pa.string()), ("verdict", pa.string()), ("goodput_bps", pa.float64()),
        ("goodput_mean_bps", pa.float64()), ("flows", pa.int64()), ("rate_bps", pa.int64()),
        ("thread_busy_send", pa.float64()), ("thread_busy_recv", pa.float64()),
        ("path_rate_bps", pa.int64()), ("path_mtu_bytes", pa.int64()), ("family", pa.int64()),
        ("share", pa.float64()), ("beside_along", pa.bool_()),
    ]
)  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, "congestion window: queue"),
        (ONE | {"path_rate_bps": 30_000_000}, "congestion window: queue"),
        (ONE, None),
        (HALF | {"beside_along": True}, "congestion window: queue"),
        (HALF | {"beside_along": False}, None),
        ({"path_rate_bps": None}, None),
        ({"thread_busy_send": 0.95}, "sender CPU"),
    ],
    ids=[
        "both links",
        "the only link",
        "one of two links",
        "beside others",
        "beside others that go another way",
        "links that nobody knows",
        "CPU",
    ],
)
def test_links_that_are_full_together_limit(changes: dict[str, Any], verdict: str | None) -> None:
    rows = pa.Table.from_pylist([FULL | changes], schema=SCHEMA)
    table = ibis.duckdb.connect().create_table("trials", rows)
    assert with_subflow_verdict(table).to_pyarrow()["verdict"].to_pylist() == [verdict]
