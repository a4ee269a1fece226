"""Data in flight, from what the source's kernel said."""

import ibis
import ibis.expr.types as ir


def flying(source: ir.Table) -> ir.Table:
    """Add bytes_in_flight (int64) to samples of sources.

    The differences of the byte counters where the kernel has them, since segments that are not full count in
    full among the unacknowledged ones; never below 0, since `bytes_acked` also counts the SYN.
    """
    sent, retransmitted, acknowledged = (
        column_or_null(source, name) for name in ("bytes_sent", "bytes_retrans", "bytes_acked")
    )
    counted = sent - retransmitted - acknowledged
    segments = column_or_null(source, "unacked") * column_or_null(source, "snd_mss_bytes")
    return source.mutate(bytes_in_flight=ibis.coalesce(not_below_0(counted), segments))


def column_or_null(table: ir.Table, name: str) -> ir.IntegerValue:
    """Return a column of the kernel's, or null where the engine did not record it."""
    return table[name] if name in table.columns else ibis.null("int64")


def not_below_0(value: ir.IntegerValue) -> ir.IntegerValue:
    """Return the value or 0, whichever is greater; null stays null: `greatest` of some backends prefers 0."""
    return value * (value > 0).cast("int64")
