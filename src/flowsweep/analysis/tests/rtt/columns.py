"""Columns of the summary that round-trip times fill, each with its type."""

from typing import TypedDict


class RttColumns(TypedDict):
    """What is of probes of the round-trip time."""

    echo: str | None
    rtt_probes: int | None
    rtt_probe_min_ms: float | None
    rtt_probe_median_ms: float | None
    rtt_probe_p99_ms: float | None
    rtt_probe_loss: float | None
    rtt_idle_ms: float | None
    rtt_loaded_ms: float | None
    rtt_after_ms: float | None
    rtt_loaded_p99_ms: float | None
    rtt_loaded_loss: float | None
    responsiveness_rpm: float | None
    probe_buffer_delay_percent: float | None


RTT_COLUMNS = tuple(RttColumns.__annotations__)
"""Their names."""
ONE_TRIAL_COLUMNS = (*RTT_COLUMNS, "remarks")
"""What `flowsweep rtt --format json` has beside the columns of all tests."""
