"""Sums over the connections of each trial, from their last samples at the source."""

import ibis
import ibis.expr.types as ir

_COUNTS = ("packets_lost", "datagrams_sent", "datagram_bytes_sent")
_LIMITED = ("congestion_limited", "flow_control_limited", "application_limited")


def quic_facts(quic: ir.Table, trials: ir.Table) -> ir.Table:
    """Sum up the connections of each trial: running counts never fall.

    Args:
        quic: As in an archive.
        trials: As in an archive.

    Returns:
        One row per trial with connections: trial_id; congestion_limited_share, flow_control_limited_share,
        application_limited_share (float64: of the time between acknowledgements, over all flows, behind what
        is omitted and within the duration; null without any); packets_lost, quic_datagrams_sent,
        datagram_bytes_sent (int64: of whole trials, Σ over flows), quic_rtt_min_ms (float64, least);
        quic_flows (int64: of how many flows these are).
    """
    times = trials.select("trial_id", "omit_ns", "duration_ns")
    source = quic.filter(quic.role == "source").inner_join(times, "trial_id")
    before, within = source.end_ns <= source.omit_ns, source.end_ns <= source.duration_ns
    limited = {
        name: source[f"{name}_us"].max(where=within) - source[f"{name}_us"].max(where=before).coalesce(0)
        for name in _LIMITED
    }
    flows = source.group_by("trial_id", "flow").aggregate(
        **{name: source[name].max() for name in _COUNTS},
        **limited,
        least_us=source.min_rtt_us.nullif(0).min(),
    )
    sums = flows.group_by("trial_id").aggregate(
        **{name: flows[name].sum().cast("int64") for name in (*_COUNTS, *_LIMITED)},
        quic_rtt_min_ms=flows.least_us.min().cast("float64") / 1000,
        quic_flows=flows.count(),
    )
    congestion, windows, application = (sums[name] for name in _LIMITED)
    whole_us = (congestion + windows + application).nullif(0)
    return sums.select(
        "trial_id",
        "packets_lost",
        "datagram_bytes_sent",
        quic_datagrams_sent=sums.datagrams_sent,
        quic_rtt_min_ms=sums.quic_rtt_min_ms,
        quic_flows=sums.quic_flows,
        **{f"{name}_share": sums[name].cast("float64") / whole_us for name in _LIMITED},
    )


def with_connections(rows: ir.Table) -> ir.Table:
    """Tell of connections of QUIC what the kernel tells of TCP's.

    Args:
        rows: One row per trial, with columns as in a summary and those of `quic_facts`.

    Returns:
        The rows; rtt_min_ms is that of the connections where the kernel has none; quic_overhead_percent
        (float64): what all UDP payload of the sources was more than what their applications wrote;
        packets_lost, datagram_bytes_sent and quic_datagrams_sent are null where a flow's source told nothing:
        a sum over the others would be too low.
    """
    whole = rows.quic_flows == rows.flows
    sums = {
        name: ibis.cases((whole, rows[name]))
        for name in ("packets_lost", "datagram_bytes_sent", "quic_datagrams_sent")
    }
    sent = sums["datagram_bytes_sent"].cast("float64")
    return rows.mutate(
        **sums,
        rtt_min_ms=rows.rtt_min_ms.coalesce(rows.quic_rtt_min_ms),
        quic_overhead_percent=(sent / rows.bytes_sent.nullif(0) - 1) * 100,
    )
