"""Columns of the summary that round-trip times fill."""

RTT_COLUMNS = (
    "echo", "rtt_probes", "rtt_probe_min_ms", "rtt_probe_median_ms", "rtt_probe_p99_ms", "rtt_probe_loss",
    "rtt_idle_ms", "rtt_loaded_ms", "rtt_after_ms", "rtt_loaded_p99_ms", "rtt_loaded_loss",
    "responsiveness_rpm", "probe_buffer_delay_percent",
)  # fmt: skip
"""Columns of the summary that are of questions for the round-trip time."""
