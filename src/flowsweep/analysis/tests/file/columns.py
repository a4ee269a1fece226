"""Columns of the summary that files fill, each with its type."""

from typing import TypedDict


class FileColumns(TypedDict):
    """What there was to do and was done, and which stage of the way the others waited for."""

    job_bytes: int | None
    job_moved_share: float | None
    job_s: float | None
    files_moved: int | None
    source_storage_share: float | None
    network_share: float | None
    sink_storage_share: float | None
    source_storage_idle_share: float | None
    sink_storage_idle_share: float | None
    source_storage_call_share: float | None
    sink_storage_call_share: float | None
    sync_share: float | None
    source_storage_cpu_share: float | None
    sink_storage_cpu_share: float | None
    source_device_bytes_per_byte: float | None
    sink_device_bytes_per_byte: float | None
    source_device_busy_share: float | None
    sink_device_busy_share: float | None
    source_file_system: str | None
    sink_file_system: str | None
    network_limit: str | None


FILE_COLUMNS = tuple(FileColumns.__annotations__)
"""Their names."""
ONE_TRIAL_COLUMNS = ("file_size_bytes", "files", "cache", "sync", *FILE_COLUMNS)
"""What `flowsweep file --format json` has beside the columns of all tests."""
