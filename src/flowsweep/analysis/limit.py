"""What limits a flow at the moment of a sample, and for which share of a trial.

The rule, its reasons and what was measured of it: docs/statistics.md, "What limits".
"""

import ibis
import ibis.expr.types as ir

from flowsweep.analysis.ranks import tenfold_decile

FILLED = 0.9
"""From this share on a window counts as filled: a sender holds data back to make larger segments of it."""
BUFFER_FILLED = 0.5
"""The same of the send buffer: a blocked writer is woken when a third is free, overhead of data included."""
LIMITS = ("cwnd", "peer_window", "send_buffer", "none")


def decided(rows: ir.Table) -> ir.Table:
    """Add cwnd_fill, peer_window_fill, send_buffer_fill, limited_by and idle.

    Args:
        rows: bytes_in_flight, path_segments, snd_cwnd, snd_mss_bytes, peer_window_bytes, send_buffer_bytes,
            unsent_bytes; int64, any of them may be null.
    """
    shares = rows.mutate(
        cwnd_fill=_share(rows.path_segments, rows.snd_cwnd),
        peer_window_fill=_share(rows.bytes_in_flight, rows.peer_window_bytes),
        send_buffer_fill=_share(rows.bytes_in_flight, rows.send_buffer_bytes),
    )
    # A window only holds back what is there to be sent; less than a segment waits for more (Nagle).
    waiting = shares.unsent_bytes >= shares.snd_mss_bytes
    by_cwnd = waiting & (
        (shares.cwnd_fill >= FILLED) | (shares.snd_cwnd - shares.path_segments <= 1)
    ).coalesce(False)
    by_peer = waiting & (
        (shares.peer_window_fill >= FILLED)
        | (shares.peer_window_bytes - shares.bytes_in_flight < shares.snd_mss_bytes)
    ).coalesce(False)
    peer_is_fuller = (shares.peer_window_fill >= shares.cwnd_fill).coalesce(True)
    # Beside a limit of its own making, such as a pace, the buffer is full of what waits.
    by_buffer = (shares.send_buffer_fill >= BUFFER_FILLED) & (
        shares.unsent_bytes * 2 <= shares.bytes_in_flight
    )
    limited_by = ibis.cases(
        (by_peer & (~by_cwnd | peer_is_fuller), "peer_window"),
        (by_cwnd, "cwnd"),
        (by_buffer, "send_buffer"),
        (shares.bytes_in_flight.notnull(), "none"),
    )
    return shares.mutate(limited_by=limited_by, idle=(limited_by == "none") & ~waiting)


def trial_limits(states: ir.Table) -> ir.Table:
    """Sum up each trial's flows over the time that counts.

    Args:
        states: From `flowsweep.analysis.flow_states`.

    Returns:
        One row per trial with a counted sample: trial_id; limit_cwnd_share, limit_peer_window_share,
        limit_send_buffer_share, limit_none_share (float64, of all flows' time; they add up to 1) and
        sender_idle_share (of the same time, part of the last); kernel_peer_window_share and
        kernel_send_buffer_share (float64, of the time: what the kernel itself counted as limited by either);
        retransmitted_bytes, recoveries (int64, Σ over flows); rtt_median_ms (float64, of the smoothed
        round-trip times in all samples of all flows).
    """
    counted = states.filter(states.counted)
    length = (counted.end_ns - counted.start_ns).cast("float64")
    known = length.sum(where=counted.limited_by.notnull())

    def share(chosen: ir.BooleanValue) -> ir.FloatingValue:
        # Divided by null where the kernel did not say enough for any sample.
        return length.sum(where=chosen).coalesce(0.0) / known.nullif(0)

    sums = counted.group_by("trial_id").aggregate(
        **{f"limit_{limit}_share": share(counted.limited_by == limit) for limit in LIMITS},
        # Unknown where nothing limits and the kernel does not say what waits.
        sender_idle_share=ibis.cases((counted.idle.notnull().any(), share(counted.idle))),
        kernel_peer_window_share=(counted.peer_window_limited_share * length).sum() / length.sum().nullif(0),
        kernel_send_buffer_share=(counted.send_buffer_limited_share * length).sum() / length.sum().nullif(0),
        retransmitted_bytes=counted.retransmitted_bytes.sum().cast("int64"),
        recoveries=counted.recoveries.sum().cast("int64"),
        rtts_us=counted.rtt_us.collect(where=counted.rtt_us > 0),
    )
    ordered = sums.mutate(rtts_us=sums.rtts_us.sort())
    median = tenfold_decile(ordered.rtts_us, decile=5).cast("float64") / 10_000
    return ordered.mutate(rtt_median_ms=median).drop("rtts_us")


def _share(part: ir.IntegerValue, whole: ir.IntegerValue) -> ir.FloatingValue:
    return part.cast("float64") / whole.nullif(0)
