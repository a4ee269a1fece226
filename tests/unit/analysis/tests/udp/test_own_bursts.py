"""Losses that a late source's own bursts may have made."""

from typing import Any

import pytest

from flowsweep.analysis.tests.udp.own_bursts import may_be_own_bursts

LATE: dict[str, Any] = {
    "loss": 0.03, "lost": 3000, "loss_bursts": 1000, "loss_burst_max": 20, "burst_max": 60,
    "pacing_lag_max_ms": 2.0, "flows": 1, "length_bytes": 64,
}  # fmt: skip
"""Datagrams of 64 B: packets of 92 B over IPv4, of 112 B over IPv6."""


@pytest.mark.parametrize(
    ("family", "packet_bytes"), [(None, 92), (4, 92), (6, 112)], ids=["not asked for", "IPv4", "IPv6"]
)
def test_what_is_offered_counts_with_the_headers_of_its_family(family: int | None, packet_bytes: int) -> None:
    path_bps = 100_000_000
    full_bps = path_bps * 64 / packet_bytes
    asked = {**LATE, "family": family, "path_rate_bps": path_bps}
    assert may_be_own_bursts({**asked, "rate_sum_bps": 0.99 * full_bps})  # type: ignore[typeddict-item]
    assert not may_be_own_bursts({**asked, "rate_sum_bps": 1.03 * full_bps})  # type: ignore[typeddict-item]
