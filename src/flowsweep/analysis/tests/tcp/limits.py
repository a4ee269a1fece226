"""What limits a flow at the moment of a sample, and for which share of a trial.

The rule, its reasons and what was measured of it: docs/explanation/statistics.md, "What limits".
"""

import ibis
import ibis.expr.types as ir

from flowsweep.analysis.tests.tcp.columns import LIMITS
from flowsweep.defaults import MICROSECOND_NS

FILLED_TENTHS = 9
"""From so many tenths on a window counts as filled: a sender holds data back for larger segments."""
BUFFER_FILLED_TENTHS = 5
"""The same of the send buffer: a blocked writer is woken when a third is free, overhead of data included."""

KNOWN_LEAST = 0.95
"""What limited for less of the time than that says nothing of the rest, which may be of one kind."""


def windows_decided(rows: ir.Table) -> ir.Table:
    """Add waiting (boolean: a segment or more is there to be sent) and full_window ("cwnd", "rwnd").

    Args:
        rows: bytes_in_flight, path_segments, snd_cwnd, snd_mss_bytes, rwnd_bytes, unsent_bytes; int64,
            any of them may be null.
    """
    # A window only holds back what is there to be sent; less than a segment waits for more (Nagle). Whole
    # numbers in float64, exact below 2⁵³, since this is computed for every sample, and DuckDB looks for an
    # overflow of each integer; a condition that is null does not hold.
    flight, segments, cwnd, rwnd, mss = (
        rows[name].cast("float64")
        for name in ("bytes_in_flight", "path_segments", "snd_cwnd", "rwnd_bytes", "snd_mss_bytes")
    )
    flags = rows.mutate(
        waiting=rows.unsent_bytes >= rows.snd_mss_bytes,
        cwnd_full=(segments * 10 >= cwnd * FILLED_TENTHS) | (cwnd - segments <= 1),
        rwnd_full=(flight * 10 >= rwnd * FILLED_TENTHS) | (rwnd - flight < mss),
        # Of two fractions, the products of numerators with denominators.
        rwnd_fuller=flight * cwnd >= segments * rwnd,
    )
    by_peer = flags.waiting & flags.rwnd_full
    full_window = ibis.cases(
        (
            flags.waiting & flags.cwnd_full,
            ibis.ifelse(by_peer & flags.rwnd_fuller, "rwnd", "cwnd"),
        ),
        (by_peer, "rwnd"),
    )
    return flags.mutate(full_window=full_window).drop("cwnd_full", "rwnd_full", "rwnd_fuller")


def decided(rows: ir.Table) -> ir.Table:
    """Add cwnd_fill, rwnd_fill, send_buffer_fill, limited_by and idle.

    Args:
        rows: From `windows_decided`, with send_buffer_bytes (int64, may be null).
    """
    # Beside a limit of its own making, such as a pace, the buffer is full of what waits.
    send_buffer_full = (rows.bytes_in_flight * 10 >= rows.send_buffer_bytes * BUFFER_FILLED_TENTHS) & (
        rows.unsent_bytes * 2 <= rows.bytes_in_flight
    )
    limited_by = ibis.cases(
        (rows.full_window.notnull(), rows.full_window),
        (send_buffer_full, "send_buffer"),
        # Linux before 5.4 does not tell the receive window: what waits may wait for that.
        (rows.bytes_in_flight.notnull() & (rows.rwnd_bytes.notnull() | ~rows.waiting), "none"),
    )
    limited = rows.mutate(limited_by=limited_by)
    return limited.mutate(
        idle=(limited.limited_by == "none") & ~limited.waiting,
        cwnd_fill=_share(limited.path_segments, limited.snd_cwnd),
        rwnd_fill=_share(limited.bytes_in_flight, limited.rwnd_bytes),
        send_buffer_fill=_share(limited.bytes_in_flight, limited.send_buffer_bytes),
    )


def trial_limits(totals: ir.Table) -> ir.Table:
    """Sum up each trial's flows over the time that counts.

    Args:
        totals: From `flowsweep.analysis.tests.tcp.flow_totals`.

    Returns:
        One row per trial with a counted sample: trial_id; limit_cwnd_share, limit_rwnd_share,
        limit_send_buffer_share, limit_none_share (float64, of all flows' time; they add up to 1) and
        sender_idle_share (of the same time, part of the last; all null where the kernel said too little
        for a twentieth of the time); kernel_rwnd_share and kernel_send_buffer_share (float64, of the
        time: what the kernel itself counted as limited by either);
        retransmitted_bytes, recoveries (int64, Σ over flows); windows_scaled (boolean: on every flow both
        ends agreed to scale windows).
    """
    counted = totals.filter(totals.counted_ns.notnull())
    known = sum((counted[f"{limit}_ns"] for limit in LIMITS), start=ibis.literal(0, "int64"))
    counted_ns = counted.counted_ns.sum().cast("float64").nullif(0.0)
    # Divided by null where the kernel did not say enough for nearly all of the time.
    most_known = known.sum().cast("float64") >= counted_ns * KNOWN_LEAST
    known_ns = ibis.cases((most_known, known.sum().cast("float64")))

    def share(name: str, all_ns: ir.FloatingValue) -> ir.FloatingValue:
        return counted[name].sum().cast("float64") / all_ns

    return counted.group_by("trial_id").aggregate(
        **{f"limit_{limit}_share": share(f"{limit}_ns", known_ns) for limit in LIMITS},
        sender_idle_share=share("idle_ns", known_ns),
        kernel_rwnd_share=share("rwnd_limited_time_us", counted_ns) * MICROSECOND_NS,
        kernel_send_buffer_share=share("send_buffer_limited_us", counted_ns) * MICROSECOND_NS,
        retransmitted_bytes=counted.retransmitted_bytes.sum().cast("int64"),
        recoveries=counted.recoveries.sum().cast("int64"),
        windows_scaled=counted.scales.min() > 0,
    )


def _share(part: ir.IntegerValue, whole: ir.IntegerValue) -> ir.FloatingValue:
    return part.cast("float64") / whole.nullif(0)
