"""What limited a trial of files: a disk, a file system, a CPU or the network."""

import ibis
import ibis.expr.types as ir

from flowsweep.analysis.verdicts import (
    BUSY,
    MOST,
    NETWORK,
    NOT_CLEAR,
    RATE_REACHED,
    SINK_DISK,
    SINK_FILE_SYSTEM,
    SOURCE_DISK,
    SOURCE_FILE_SYSTEM,
)

MOVED = 0.5
"""A device that moved less than this share of the files' bytes is not what they waited for."""


def with_file_verdict(rows: ir.Table) -> ir.Table:
    """Settle `verdict` of trials of files, and `network_limit`; others keep theirs.

    Args:
        rows: One row per trial, with columns as in a summary: test, verdict (of the connections, as TCP's),
            goodput_bps, flows, pacing_rate_bps, thread_busy_send, thread_busy_recv and those of `file_facts`.

    Returns:
        The rows; network_limit is what limited the connections, where the network limits.

    Method:
        The first rule that holds: the pace that was asked for came; a stage has MOST of the time, which the
        others waited for it. Where a thread of that stage was always busy it is the CPU of its host. Where it
        is storage, the device below it moved at least half of the files' bytes, or it is the file system that
        took the time: the page cache, memory, or one in the network. Else it is not clear.
    """
    paced = (rows.goodput_bps >= rows.pacing_rate_bps.cast("float64") * rows.flows * RATE_REACHED).coalesce(
        False
    )
    sending = (rows.thread_busy_send - rows.source_storage_cpu_share >= BUSY).coalesce(False)
    receiving = (rows.thread_busy_recv - rows.sink_storage_cpu_share >= BUSY).coalesce(False)
    reading_busy = (rows.source_storage_cpu_share >= BUSY).coalesce(False)
    writing_busy = (rows.sink_storage_cpu_share >= BUSY).coalesce(False)
    reading = (rows.source_storage_share >= MOST).coalesce(False)
    writing = (rows.sink_storage_share >= MOST).coalesce(False)
    between = (rows.network_share >= MOST).coalesce(False)
    from_disk = (rows.source_device_bytes_per_byte >= MOVED).coalesce(False)
    to_disk = (rows.sink_device_bytes_per_byte >= MOVED).coalesce(False)
    found = ibis.cases(
        (rows.goodput_bps.isnull() | rows.network_share.isnull(), ibis.null("string")),
        (paced, "application rate"),
        (between & sending & receiving, NOT_CLEAR),
        ((reading & reading_busy) | (between & sending), "sender CPU"),
        ((writing & writing_busy) | (between & receiving), "receiver CPU"),
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
