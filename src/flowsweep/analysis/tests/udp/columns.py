"""Columns of the summary that datagrams fill."""

COUNTED_COLUMNS = (
    "datagrams_sent", "datagrams", "lost", "loss", "duplicates", "reordered", "reordering_extent_max",
    "late", "loss_bursts", "loss_burst_max", "loss_at_hosts", "loss_on_path", "jitter_ms",
    "delay_variation_ms", "delay_min_ms", "delay_bound_ms", "flows_broken", "spacing_send_median_us",
    "spacing_send_p99_us", "spacing_recv_median_us", "spacing_recv_p99_us", "pacing_lag_max_ms", "burst_max",
)  # fmt: skip
DATAGRAM_COLUMNS = (
    "spacing_ns", "gso", "gro", "rate_sum_bps", *COUNTED_COLUMNS, "gso_granted", "gro_granted", "remarks",
)  # fmt: skip
"""Columns of the summary that are of datagrams."""
