"""What limited a trial of files: a disk, a file system, a CPU or the network."""

import ibis
import ibis.expr.types as ir

from flowsweep.analysis.verdict_rules import always_busy, rate_reached
from flowsweep.analysis.verdicts import (
    APPLICATION_RATE,
    MOST,
    MOVED,
    NETWORK,
    NOT_CLEAR,
    RECEIVER_CPU,
    SENDER_CPU,
    SINK_DISK,
    SINK_FILE_SYSTEM,
    SOME,
    SOURCE_DISK,
    SOURCE_FILE_SYSTEM,
)

SMALL_BYTES = 256 << 10
"""What is synced in pieces of up to so much takes a file system more than a device that is free."""
LEAST_WAITS = 0.05
"""Two stages that wait less for each other, as a share of the time, are as fast as each other."""

LEAST_USED = 0.5
"""Storage that worked for less of the time is not what took it: a short job may lie in buffers at once."""


def with_file_verdict(rows: ir.Table) -> ir.Table:
    """Settle `verdict` of trials of files, and `network_limit`; others keep theirs.

    Args:
        rows: One row per trial, with columns as in a summary: test, verdict (of the connections, as TCP's),
            goodput_bps, flows, pacing_rate_bps, thread_busy_send, thread_busy_recv and those of `file_facts`.

    Returns:
        The rows; network_limit is what limited the connections, where the network limits.

    Method:
        The first rule that holds: the pace that was asked for came; of two stages that meet, the one that
        the other waited for in MOST of what either waited is the slower one. The source's storage limits
        if it is slower than sending, read for at least half of the time, and the sink's storage is not
        slower than receiving; likewise the sink's; the network if it is the slower one at both ends.
        Where a thread of that stage was always busy it is the CPU of its host. Where it is storage, the
        device below it moved at least half of the files' bytes, and was not idle for most of the time while
        small files were synced one by one; or it is the file system that took the time: the page cache,
        memory, its journal, or one in the network. Else it is not clear.
    """
    paced = rate_reached(rows, rows.pacing_rate_bps)
    sending = always_busy(rows.thread_busy_send - rows.source_storage_cpu_share)
    receiving = always_busy(rows.thread_busy_recv - rows.sink_storage_cpu_share)
    reading_busy = always_busy(rows.source_storage_cpu_share)
    writing_busy = always_busy(rows.sink_storage_cpu_share)
    slow_source, fast_source = _compared(rows.source_storage_share, rows.source_storage_idle_share)
    slow_sink, fast_sink = _compared(rows.sink_storage_share, rows.sink_storage_idle_share)
    reading, writing = (
        slow_source & ~slow_sink & _used(rows, "source"),
        slow_sink & ~slow_source & _used(rows, "sink"),
    )
    between = fast_source & fast_sink
    from_disk = (rows.source_device_bytes_per_byte >= MOVED).coalesce(False)
    to_disk = (rows.sink_device_bytes_per_byte >= MOVED).coalesce(False) & ~_syncing(rows)
    found = ibis.cases(
        (rows.goodput_bps.isnull() | rows.network_share.isnull(), ibis.null("string")),
        (paced, APPLICATION_RATE),
        (between & sending & receiving, NOT_CLEAR),
        ((reading & reading_busy) | (between & sending), SENDER_CPU),
        ((writing & writing_busy) | (between & receiving), RECEIVER_CPU),
        (reading & from_disk, SOURCE_DISK),
        (reading, SOURCE_FILE_SYSTEM),
        (writing & to_disk, SINK_DISK),
        (writing, SINK_FILE_SYSTEM),
        (between, NETWORK),
        else_=NOT_CLEAR,
    )
    of_files = rows.test == "file"
    return rows.mutate(
        verdict=of_files.ifelse(found, rows.verdict),
        network_limit=(of_files & (found == NETWORK)).ifelse(rows.verdict, ibis.null("string")),
    )


def _compared(
    waited_for: ir.FloatingValue, idle: ir.FloatingValue
) -> tuple[ir.BooleanValue, ir.BooleanValue]:
    """Whether storage is slower, and faster, than the network thread that it meets."""
    waits = waited_for + idle
    known = (waits >= LEAST_WAITS).coalesce(False)
    return (
        known & (waited_for >= MOST * waits).coalesce(False),
        known & (idle >= MOST * waits).coalesce(False),
    )


def _used(rows: ir.Table, end: str) -> ir.BooleanValue:
    """Whether storage of an end worked for most of the time, by its calls or by its thread's CPU time."""
    by_calls = (rows[f"{end}_storage_call_share"] >= LEAST_USED).coalesce(False)
    return by_calls | (rows[f"{end}_storage_cpu_share"] >= LEAST_USED).coalesce(False)


def _syncing(rows: ir.Table) -> ir.BooleanValue:
    """Whether the sink was busy with syncs of small files, of which its device had little to do.

    Time in which a control group holds requests back is not a device's: of larger files, an idle device
    says nothing.
    """
    idle = rows.sink_device_busy_share < SOME
    most = rows.sync_share >= MOST * rows.sink_storage_call_share
    file_bytes = rows.bytes.cast("float64") / rows.files_moved.nullif(0)
    return (idle & most & (file_bytes <= SMALL_BYTES)).coalesce(False)
