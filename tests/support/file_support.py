"""Synthetic trials of files with known answers, without an engine."""

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from analysis_support import BULK, SECOND_NS, STARTED_AT, Row, make_flows, make_record, make_samples, trial_of
from flowsweep.archive.parquet import NEEDED_FIELDS
from flowsweep.run.outcome import TrialOutcome
from flowsweep.schedule import Trial
from flowsweep.schedule.tests.file import FileParameters

SECONDS = 4
JOB_BYTES = 40_000_000


def make_file_trial(*, repeat: int = 1, **changes: Any) -> Trial:
    """Make a trial of one file from "a" to "b"; further keywords go to its parameters."""
    own = {
        "duration_ns": 60 * SECOND_NS, "drain_timeout_ns": 300 * SECOND_NS, "congestion": "cubic",
        "pacing_rate_bps": None, "mss_bytes": None, "no_delay": False, "fwmark": None, "part": "whole",
        "cache": "direct", "sync": "file", "files": 1, "file_size_bytes": JOB_BYTES, "content": "random",
        "verify": "received", "existing": None,
    }  # fmt: skip
    return trial_of(FileParameters(**(BULK | own | changes)), sweep="files", repeat=repeat)


@dataclass(frozen=True)
class Seen:
    """What the ends of one flow saw; of a pair, the source's comes first."""

    waits: tuple[float, float] = (0.0, 0.0)
    """Share of each second that the network thread waited for storage."""
    idle: tuple[float, float] | None = None
    """Share of each second that the storage thread waited; as of a stage that is much faster, if absent."""
    calls: tuple[float, float] | None = None
    """Share of each second in calls that read or write; all that the thread does not wait, if absent."""
    syncs: float = 0.0
    """Share of each second in which the sink syncs."""
    last_sync_s: int = 0
    """At the end, for how many of SECONDS nothing arrives any more."""
    device: str | None = "7:0"
    """Below the files of both ends."""
    device_bytes_per_byte: tuple[float, float] = (1.0, 1.0)
    """What it moved for each byte of a file."""
    device_busy: tuple[float, float] = (0.9, 0.9)
    """Share of each second that it had something to do."""
    cpu: tuple[float, float] = (0.1, 0.1)
    """Of both threads of a flow, as a share of one."""
    storage_cpu: tuple[float, float] = (0.05, 0.05)
    """Of the storage thread alone."""
    moved_bytes: int = JOB_BYTES
    files: int = 1
    """That are whole in the end."""
    seconds: float = SECONDS
    """How long it took."""
    first_byte_s: tuple[float, float] = (0.0, 0.0)
    """When each end had its first byte, by its own clock."""

    @property
    def arriving(self) -> int:
        """Rows in which something arrives."""
        return SECONDS - self.last_sync_s

    def idle_of(self, end: int) -> float:
        """Of one end: storage that nobody waits for waits itself."""
        if self.idle is not None:
            return self.idle[end]
        return 0.0 if self.waits[end] > _NOBODY else 0.9

    def calls_of(self, end: int) -> float:
        """Of one end: storage that does not wait reads or writes."""
        return 1 - self.idle_of(end) if self.calls is None else self.calls[end]

    @property
    def row_ns(self) -> int:
        """How long a row is."""
        return round(self.seconds / SECONDS * SECOND_NS)


def make_file_outcome(trial: Trial, **seen: Any) -> TrialOutcome:
    """Make an outcome of one flow; keywords are those of `Seen`."""
    what = Seen(**seen)
    storage = [_storage_row(what, end, at) for end in (0, 1) for at in range(SECONDS)]
    devices = [_device_row(what, end, row) for end in (0, 1) for row in storage if row["role"] == _ROLES[end]]
    samples: list[Row] = [
        {name: row[name] for name in ("role", "flow", "start_ns", "end_ns")} | {"bytes": row["storage_bytes"]}
        for row in storage
    ]
    ends = [
        {
            "role": role, "flow": 0, "bytes": what.moved_bytes // what.arriving * what.arriving,
            "first_byte_ns": round(first_byte_s * SECOND_NS),
            "end_ns": round(what.seconds * SECOND_NS), "cpu_system_us": 0,
            "cpu_user_us": round(busy * what.seconds * 1_000_000),
            "cpu_elapsed_us": round(what.seconds * 1_000_000),
        }
        for role, busy, first_byte_s in zip(_ROLES, what.cpu, what.first_byte_s, strict=True)
    ]  # fmt: skip
    tables = {"storage": storage, "devices": devices}
    return TrialOutcome(
        make_record(trial, started_at=STARTED_AT),
        samples=make_samples(samples),
        flows=make_flows(ends),
        of_tests={
            name: pa.Table.from_pylist(rows, schema=pa.schema(NEEDED_FIELDS[name]))
            for name, rows in tables.items()
        },
    )


_NOBODY = 0.3
_ROLES = ("source", "sink")
_HOSTS = ({"host": "a", "peer": "b"}, {"host": "b", "peer": "a"})


def _storage_row(seen: Seen, end: int, at: int) -> Row:
    arrives, of_sink = at < seen.arriving, end == 1
    share = seen.moved_bytes // seen.arriving if arrives else 0
    last = of_sink and at == SECONDS - 1
    return {
        **_HOSTS[end], "role": _ROLES[end], "flow": 0,
        "start_ns": at * seen.row_ns, "end_ns": (at + 1) * seen.row_ns,
        "storage_bytes": share, "network_bytes": share,
        "storage_call_ns": round((seen.calls_of(end) if arrives else end) * seen.row_ns),
        "network_call_ns": round((1 - seen.waits[end]) * seen.row_ns) if arrives else 0,
        "synced_bytes": seen.moved_bytes if last else 0, "files": seen.files if last else 0,
        "sync_call_ns": round((seen.syncs if arrives else 1) * seen.row_ns) if of_sink else 0,
        "waits_for_storage_ns": round(seen.waits[end] * seen.row_ns) if arrives else 0,
        "waits_for_network_ns": round(seen.idle_of(end) * seen.row_ns) if arrives else 0,
        "storage_cpu_us": round(seen.storage_cpu[end] * seen.row_ns / 1000),
    }  # fmt: skip


def _device_row(seen: Seen, end: int, row: Row) -> Row:
    bounds = {name: row[name] for name in ("role", "start_ns", "end_ns")}
    if seen.device is None:
        return {**_HOSTS[end], **bounds, "file_system": "tmpfs"}
    moved = round(row["storage_bytes"] * seen.device_bytes_per_byte[end])
    return {
        **_HOSTS[end], **bounds, "device": seen.device, "file_system": "ext2/ext3/ext4",
        "read_bytes": moved, "written_bytes": moved,
        "busy_us": round(seen.row_ns * seen.device_busy[end] / 1000),
        "queued_us": 0,
    }  # fmt: skip
