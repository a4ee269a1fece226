"""The columns of the summary that programs outside rely on."""

STABLE_COLUMNS = (
    "trial_id", "sweep", "repeat", "started_at", "src", "dst", "test", "flows", "window_bytes",
    "window_sum_bytes", "length_bytes", "congestion", "duration_s", "status", "error", "goodput_bps",
    "goodput_p10_bps", "goodput_p90_bps", "coverage", "bytes", "retransmits", "rtt_min_ms",
    "window_granted_send_bytes", "window_granted_recv_bytes", "verdict", "cpu_send", "cpu_recv",
    "goodput_mean_bps", "goodput_method", "window_usable_bytes", "mode",
)  # fmt: skip
"""The first columns of every summary, in this order; programs outside rely on them."""
