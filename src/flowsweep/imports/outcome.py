"""From what a file says of a test to a trial that an archive takes in."""

import hashlib
import json
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from typing import Any

import pyarrow as pa

from flowsweep.archive import GoodputMethod, ImportedOutcome, ImportedTrial
from flowsweep.archive.parquet import NEEDED_SAMPLE_FIELDS
from flowsweep.defaults import MILLISECOND_NS, MINIMUM_BINS
from flowsweep.imports.transfer import Report, Transfer
from flowsweep.run.outcome import FLOWS_SCHEMA

_POINT = (
    "sweep", "src", "dst", "flows", "window_send_bytes", "window_recv_bytes", "length_bytes", "congestion",
    "duration_ns",
)  # fmt: skip
"""What trials of one point have in common."""
_SAMPLES_SCHEMA = pa.schema(NEEDED_SAMPLE_FIELDS)


class Numbering:
    """Which repeat of its point a trial is: trials are numbered as they come."""

    def __init__(self, earlier: Iterable[ImportedTrial]) -> None:
        self._counts = Counter(tuple(getattr(trial, name) for name in _POINT) for trial in earlier)

    def next_repeat(self, point: dict[str, Any]) -> int:
        """Count one more trial of a point."""
        key = tuple(point[name] for name in _POINT)
        self._counts[key] += 1
        return self._counts[key]


def content_ids(transfers: Sequence[Transfer]) -> list[str]:
    """Make a trial_id of what each transfer says; those of a file that say the same get ids of their own."""
    texts = [json.dumps(asdict(transfer), sort_keys=True, default=str) for transfer in transfers]
    seen: Counter[str] = Counter()
    ids = []
    for text in texts:
        seen[text] += 1
        ids.append(hashlib.sha256(f"{seen[text]} {text}".encode()).hexdigest()[:12])
    return ids


def outcome_of(
    transfer: Transfer, trial_id: str, *, sweep: str, imported_from: str, numbering: Numbering
) -> ImportedOutcome:
    """Make a trial of a transfer.

    Goodput is what the receiver's intervals give, as of own trials, where there are enough of them; else the
    median over the sender's, else what the file has for the whole transfer.
    """
    transfer = replace(transfer, role=transfer.role or "source")
    interval_ns, count = _intervals(transfer)
    method, reported = _goodput(transfer, count)
    point = {
        "sweep": sweep,
        "src": transfer.src,
        "dst": transfer.dst,
        "flows": transfer.flow_count,
        "window_send_bytes": transfer.window_send_bytes,
        "window_recv_bytes": transfer.window_recv_bytes,
        "length_bytes": transfer.length_bytes,
        "congestion": transfer.congestion,
        "duration_ns": transfer.duration_ns,
    }
    record = ImportedTrial(
        **point,
        trial_id=trial_id,
        imported_from=imported_from,
        repeat=numbering.next_repeat(point),
        started_at=transfer.started_at,
        elapsed_ns=transfer.total.end_ns,
        window_granted_send_bytes=transfer.window_granted_send_bytes,
        window_granted_recv_bytes=transfer.window_granted_recv_bytes,
        interval_ns=interval_ns,
        expected_bins=count if transfer.role == "sink" else 0,
        goodput_method=method,
        reported_bytes=transfer.total.size_bytes,
        reported_goodput_bps=reported,
    )
    return ImportedOutcome(record, samples=_samples(transfer), flows=_flows(transfer))


def _goodput(transfer: Transfer, intervals: int) -> tuple[GoodputMethod, float | None]:
    """Choose the method, and take the goodput of the file where samples of a receiver do not tell it."""
    if transfer.role == "sink":
        return ("receiver_median", None) if intervals else ("receiver_mean", transfer.total.rate_bps)
    if not intervals:
        return "sender_mean", transfer.total.rate_bps
    columns = zip(*(flow.intervals[:intervals] for flow in transfer.flows), strict=True)
    sums = [sum(report.rate_bps for report in reports) for reports in columns]
    return "sender_median", statistics.median(sums)


def _intervals(transfer: Transfer) -> tuple[int | None, int]:
    """Find the width of the intervals and how many all flows have; None and 0 where they are too few."""
    rows = [flow.intervals for flow in transfer.flows]
    if not rows or not all(rows):
        return None, 0
    width_ns = _nearest_millisecond(
        statistics.median(_width(report) for reports in rows for report in reports)
    )
    count = min(
        sum(_nearest_millisecond(_width(report)) == width_ns for report in reports) for reports in rows
    )
    return (width_ns, count) if width_ns > 0 and count >= MINIMUM_BINS else (None, 0)


def _width(report: Report) -> int:
    return report.end_ns - report.start_ns


def _nearest_millisecond(time_ns: float) -> int:
    return round(time_ns / MILLISECOND_NS) * MILLISECOND_NS


def _hosts(transfer: Transfer) -> dict[str, str | None]:
    host, peer = transfer.src, transfer.dst
    if transfer.role == "sink":
        host, peer = peer, host
    return {"host": host, "peer": peer, "role": transfer.role}


def _samples(transfer: Transfer) -> pa.Table:
    rows = [
        {
            "flow": flow,
            "start_ns": report.start_ns,
            "end_ns": report.end_ns,
            "bytes": report.size_bytes,
            **_hosts(transfer),
        }
        for flow, told in enumerate(transfer.flows)
        for report in told.intervals
    ]
    return pa.Table.from_pylist(rows, schema=_SAMPLES_SCHEMA)


def _flows(transfer: Transfer) -> pa.Table:
    rows = [
        {
            "flow": flow,
            "origin_ns": 0,
            "bytes": told.whole.size_bytes,
            "end_ns": told.whole.end_ns,
            "local_port": told.source_port if transfer.role == "source" else told.sink_port,
            "remote_port": told.sink_port if transfer.role == "source" else told.source_port,
            **_hosts(transfer),
        }
        for flow, told in enumerate(transfer.flows)
    ]
    return pa.Table.from_pylist(rows, schema=FLOWS_SCHEMA)
