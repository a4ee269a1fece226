"""The unit of a column, which its name says."""

_SHARES = (
    "cores_busy_recv", "cores_busy_send", "coverage", "cpu_send", "cpu_recv", "loss", "loss_at_sender",
    "loss_at_hosts", "loss_on_path", "rate_search_loss_max", "rtt_loaded_loss", "rtt_probe_loss",
    "search_confidence", "search_precision", "share", "softirq_core_recv", "thread_busy_recv",
    "thread_busy_send",
)  # fmt: skip
_BY_NAME = dict.fromkeys(_SHARES, "share of 1") | {
    "bytes": "bytes", "bytes_sent": "bytes",
    "jain_flows": "index, 1/n to 1", "jain_groups": "index, 1/n to 1", "responsiveness_rpm": "1/min",
    "retransmits": "segments", "started_at": "UTC", "transfer_time_ratio": "ratio",
}  # fmt: skip
_BY_ENDING = {
    "_s_per_gb": "s/GB", "_bytes_per_byte": "bytes/byte", "_ns_per_byte": "ns/byte", "_bps": "bit/s",
    "_bytes": "bytes", "_s": "s", "_ms": "ms", "_us": "µs", "_ns": "ns", "_share": "share of 1",
    "_percent": "%", "_at": "UTC", "_packets": "packets", "_segments": "segments",
}  # fmt: skip


def unit_of_column(name: str) -> str:
    """Return the unit of a column of any table; empty for counts and words."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    return next((unit for ending, unit in _BY_ENDING.items() if name.endswith(ending)), "")
