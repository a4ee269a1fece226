"""The unit of a column, which its name says."""

_BY_NAME = {
    "bytes": "bytes", "bytes_sent": "bytes", "coverage": "share of 1", "cpu_send": "share of 1",
    "cpu_recv": "share of 1", "retransmits": "segments", "started_at": "UTC",
}  # fmt: skip
_BY_ENDING = {
    "_s_per_gb": "s/GB", "_bps": "bit/s", "_bytes": "bytes", "_s": "s", "_ms": "ms", "_us": "µs", "_ns": "ns",
    "_share": "share of 1", "_percent": "%", "_at": "UTC", "_packets": "packets", "_segments": "segments",
}  # fmt: skip


def unit_of_column(name: str) -> str:
    """Return the unit of a column of any table; empty for counts and words."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    return next((unit for ending, unit in _BY_ENDING.items() if name.endswith(ending)), "")
