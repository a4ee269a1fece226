"""What each sample of a source says of its flow: what is in flight, what that fills, what happened since.

The variables of Web100 (Mathis, Heffner and Reddy, "Web100: extended TCP instrumentation", 2003; RFC 4898),
from TCP_INFO. Definitions: docs/explanation/statistics.md.
"""

import ibis
import ibis.expr.types as ir

from flowsweep.analysis.binning.alignment import COUNTED, flow_starts, with_phase
from flowsweep.analysis.expressions import column_or_null, not_below_0
from flowsweep.analysis.tests.tcp.limits import decided, windows_decided
from flowsweep.analysis.tests.tcp.recoveries import is_recovering, retransmitted, with_recoveries
from flowsweep.defaults import MICROSECOND_NS

NO_THRESHOLD = 2_147_483_647
"""Linux's slow-start threshold before it has one (`TCP_INFINITE_SSTHRESH`)."""
RTT_UNKNOWN_US = 0xFFFF_FFFF
"""What the kernel says before it has measured any."""
WINDOWS_SCALED = 4
"""The bit of a connection's options that both ends agreed on scaling of windows (`TCPI_OPT_WSCALE`)."""
_FLOW = ["trial_id", "flow"]
COUNTERS = {
    "sent_bytes": "bytes_sent",
    "retransmitted_bytes": "bytes_retrans",
    "busy_us": "busy_time_us",
    "rwnd_limited_time_us": "rwnd_limited_us",
    "send_buffer_limited_us": "sndbuf_limited_us",
}
"""Counts of an interval, and the kernel's running counts whose differences they are."""


def flow_states(samples: ir.Table, trials: ir.Table, flows: ir.Table) -> ir.Table:
    """Derive the state of each flow at each sample of its source.

    Args:
        samples: As in an archive.
        trials: As in an archive.
        flows: As in an archive.

    Returns:
        One row per trial, flow and sample of the source. Null where the kernel did not say.

        trial_id, flow, start_ns, end_ns; counted (boolean: what is omitted is over, the duration is not).

        At the end of the sample, all int64: bytes_in_flight, unsent_bytes (written, and waiting to be sent),
        cwnd_bytes, cwnd_minus_ssthresh_bytes (below 0: slow start; null without a threshold),
        rwnd_bytes, send_buffer_bytes (as granted; null if the plan asked for none),
        send_buffer_room_bytes (not below 0), rtt_us, rtt_before_us (of the sample before), min_rtt_us, rto_us
        (the retransmission timeout), rttvar_us (the round trip's mean deviation), delivery_rate_bps,
        snd_mss_bytes.

        How far the flight fills each of them, float64: cwnd_fill, rwnd_fill, send_buffer_fill; what
        limits: limited_by ("cwnd", "rwnd", "send_buffer" or "none") and idle (boolean: nothing limits,
        and less than a segment waits to be sent).

        Since the sample before, int64: sent_bytes (retransmissions included), retransmitted_bytes,
        retransmitted_segments, recoveries; as a share of the time, float64, as the kernel counts it:
        busy_share, rwnd_limited_share, send_buffer_limited_share.
    """
    rows = momentary(samples, trials, flow_starts(samples, flows))
    return _since_before(rows.mutate(counted=rows.phase == COUNTED)).select(
        "trial_id", "flow", "start_ns", "end_ns", "counted",
        "bytes_in_flight", "unsent_bytes", "cwnd_bytes", "cwnd_minus_ssthresh_bytes", "rwnd_bytes",
        "send_buffer_bytes", "send_buffer_room_bytes", "rtt_us", "rtt_before_us", "min_rtt_us", "rto_us",
        "rttvar_us", "delivery_rate_bps", "snd_mss_bytes",
        "cwnd_fill", "rwnd_fill", "send_buffer_fill", "limited_by", "idle",
        "sent_bytes", "retransmitted_bytes", "retransmitted_segments", "recoveries",
        "busy_share", "rwnd_limited_share", "send_buffer_limited_share",
    )  # fmt: skip


def shown_states(samples: ir.Table) -> ir.Table:
    """Derive what is drawn of each flow over the time of its trial: no more of `flow_states` than that.

    Args:
        samples: As in an archive.

    Returns:
        One row per trial, flow and sample of the source: trial_id, flow, start_ns, end_ns; bytes_in_flight,
        cwnd_bytes, cwnd_minus_ssthresh_bytes, rwnd_bytes, rtt_us and retransmitted_segments as in
        `flow_states`; bytes_acked and reord_seen, the kernel's running counts. Null where it did not say.
    """
    source = samples.filter(samples.role == "source")
    rows = _gauges(_recorded(source, "bytes_acked", "reord_seen"))
    return rows.select(
        "trial_id", "flow", "start_ns", "end_ns",
        "bytes_in_flight", "cwnd_bytes", "cwnd_minus_ssthresh_bytes", "rwnd_bytes", "rtt_us",
        "bytes_acked", "reord_seen",
        retransmitted_segments=retransmitted(rows, flow=_FLOW),
    )  # fmt: skip


def momentary(samples: ir.Table, trials: ir.Table, starts: ir.Table) -> ir.Table:
    """Derive what holds at the end of each sample of a source, without a look at the sample before.

    Args:
        samples: As in an archive.
        trials: As in an archive.
        starts: From `flowsweep.analysis.binning.alignment.flow_starts`.

    Returns:
        trial_id, flow, start_ns, end_ns, phase (of `analysis.binning.alignment`), the momentary values of
        `flow_states` and the kernel's running counts as they are.
    """
    source = samples.filter(samples.role == "source")
    # DuckDB computes more slowly what comes after a join: what needs nothing of trials comes before.
    own = windows_decided(_gauges(_recorded(source)))
    rows = with_phase(own, trials, starts, "window_granted_send_bytes")
    return decided(_with_room(rows.rename(send_buffer_bytes="window_granted_send_bytes")))


def _recorded(source: ir.Table, *also: str) -> ir.Table:
    """Select what is needed of the kernel's columns, null where the engine did not record one."""
    names = (
        "ca_state", "snd_mss_bytes", "snd_cwnd", "snd_ssthresh", "snd_wnd_bytes", "notsent_bytes", "unacked",
        "sacked", "lost", "retrans", "rtt_us", "min_rtt_us", "rto_us", "rttvar_us",
        "delivery_rate_bytes_per_s", "options", "total_retrans", "total_rto_recoveries", *COUNTERS.values(),
        *also,
    )  # fmt: skip
    kept = {name: column_or_null(source, name) for name in names}
    return flying(source).select("trial_id", "flow", "start_ns", "end_ns", "bytes_in_flight", **kept)


def _gauges(rows: ir.Table) -> ir.Table:
    """Bring momentary values into bytes, microseconds and bit/s."""
    has_threshold = rows.snd_ssthresh < NO_THRESHOLD
    above = (rows.snd_cwnd - rows.snd_ssthresh) * rows.snd_mss_bytes
    return rows.mutate(
        unsent_bytes=rows.notsent_bytes,
        cwnd_bytes=rows.snd_cwnd * rows.snd_mss_bytes,
        cwnd_minus_ssthresh_bytes=ibis.cases((has_threshold, above)),
        # What counts against the congestion window (`tcp_packets_in_flight`): neither what the peer has
        # selectively acknowledged, nor what is believed lost.
        path_segments=not_below_0(rows.unacked - rows.sacked - rows.lost + rows.retrans),
        rwnd_bytes=rows.snd_wnd_bytes,
        scaled=rows.options % (2 * WINDOWS_SCALED) >= WINDOWS_SCALED,
        min_rtt_us=rows.min_rtt_us.nullif(RTT_UNKNOWN_US),
        delivery_rate_bps=rows.delivery_rate_bytes_per_s * 8,
    )


def _with_room(rows: ir.Table) -> ir.Table:
    room = rows.send_buffer_bytes - rows.bytes_in_flight - rows.notsent_bytes
    return rows.mutate(send_buffer_room_bytes=not_below_0(room))


def _since_before(rows: ir.Table) -> ir.Table:
    """Take differences of the running counts; of the first sample, since the connection began."""
    order = ibis.window(group_by=_FLOW, order_by="start_ns")
    before = {name: rows[counter].lag().over(order).coalesce(0) for name, counter in COUNTERS.items()}
    differences = {name: rows[counter] - before[name] for name, counter in COUNTERS.items()}
    shown = rows.mutate(**differences, recovering=is_recovering(rows.ca_state), last_rtt_us=rows.rtt_us)
    risen = with_recoveries(shown, flow=_FLOW)
    length_us = (risen.end_ns - risen.start_ns).nullif(0).cast("float64") / MICROSECOND_NS
    return risen.mutate(
        busy_share=risen.busy_us / length_us,
        rwnd_limited_share=risen.rwnd_limited_time_us / length_us,
        send_buffer_limited_share=risen.send_buffer_limited_us / length_us,
    )


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
