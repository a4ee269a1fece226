"""What theory predicts for each trial, from what its flows saw; beside it stands what was measured.

The formulas and their sources: `flowsweep.analysis.theory` and docs/explanation/theory.md.
"""

import ibis
import ibis.expr.types as ir

from flowsweep.analysis import theory
from flowsweep.analysis.expressions import column_or_null
from flowsweep.defaults import SECOND_MS, SECOND_US
from flowsweep.packets import TLS_RECORD_BYTES, TLS_RECORD_EXTRA_BYTES, header_bytes


def flow_predictions(totals: ir.Table) -> ir.Table:
    """Apply the formulas that are of one flow to each, and sum up each trial.

    Args:
        totals: From `flowsweep.analysis.tests.tcp.flow_totals`.

    Returns:
        One row per trial: trial_id; theory_mathis_bps, theory_padhye_bps, theory_cubic_bps (float64, Σ over
        flows, bit/s; null unless each of them lost something: without loss these formulas have no bound);
        loss_share (float64: bytes retransmitted / bytes sent), loss_event_share (episodes of recovery /
        segments sent), tcp_efficiency_percent (RFC 6349); rtt_mean_ms, rtt_variation_ms (mean deviation,
        RFC 6298), rtt_at_loss_ms (float64; the mean round-trip time when recoveries began, null without any);
        rwnd_open_share (float64, 0 to 1: the receiver's window, mean / highest, mean over flows).
    """
    predicted = _with_formulas(totals.filter(totals.counted_ns.notnull()))
    sums = predicted.group_by("trial_id").aggregate(
        count=predicted.count(),
        sent_bytes=predicted.sent_bytes.sum().cast("float64"),
        retransmitted=predicted.retransmitted_bytes.sum().cast("float64"),
        recoveries=predicted.recoveries.sum().cast("float64"),
        segments=predicted.segments.sum(),
        rtt_mean_ms=predicted.rtt_mean_us.mean() / 1_000,
        rtt_variation_ms=predicted.rttvar_mean_us.mean() / 1_000,
        rtt_at_loss=predicted.rtt_at_loss_us.sum().cast("float64"),
        losses_seen=predicted.losses_seen.sum().cast("float64"),
        rwnd_open_share=(predicted.rwnd_mean_bytes / predicted.rwnd_highest_bytes.nullif(0)).mean(),
        **{name: predicted[name].sum() for name in ("mathis", "padhye", "cubic")},
        **{f"{name}_known": predicted[name].count() for name in ("mathis", "padhye", "cubic")},
    )
    return sums.select(
        "trial_id",
        "rtt_mean_ms",
        "rtt_variation_ms",
        "rwnd_open_share",
        loss_share=sums.retransmitted / sums.sent_bytes.nullif(0.0),
        loss_event_share=sums.recoveries / sums.segments.nullif(0.0),
        tcp_efficiency_percent=theory.tcp_efficiency_percent(sums.sent_bytes.nullif(0.0), sums.retransmitted),
        rtt_at_loss_ms=sums.rtt_at_loss / sums.losses_seen.nullif(0.0) / 1_000,
        **{
            f"theory_{name}_bps": ibis.cases((sums[f"{name}_known"] == sums["count"], sums[name]))
            for name in ("mathis", "padhye", "cubic")
        },
    )


def _with_formulas(totals: ir.Table) -> ir.Table:
    """Apply Mathis, Padhye and CUBIC's response function to each flow, in bit/s."""
    segments = totals.sent_bytes.cast("float64") / totals.mss_bytes.nullif(0)
    flows = totals.mutate(
        segments=segments,
        loss=(totals.recoveries.nullif(0).cast("float64") / segments.nullif(0.0)),
        rtt_s=totals.rtt_mean_us / SECOND_US,
        rto_s=totals.rto_mean_us / SECOND_US,
        mss=totals.mss_bytes.cast("float64"),
        window=totals.rwnd_highest_bytes.cast("float64") / totals.mss_bytes.nullif(0),
    )
    return flows.mutate(
        mathis=theory.mathis_bps(flows.mss, flows.rtt_s, flows.loss),
        # Beyond a half the model has no meaning.
        padhye=ibis.cases(
            (
                flows.loss < 0.5,
                theory.padhye_bps(flows.mss, flows.rtt_s, flows.loss, flows.rto_s, flows.window),
            )
        ),
        cubic=theory.cubic_bps(flows.mss, flows.rtt_s, flows.loss),
    )


def with_predictions(rows: ir.Table) -> ir.Table:
    """Add what is predicted for a trial as a whole.

    Args:
        rows: Trials as in an archive with goodput_mean_bps, rtt_min_ms, window_usable_bytes and the columns
            of `flow_predictions`.

    Returns:
        The rows with path_rate_bps (int64; what the plan's emulated links carry, null for other paths),
        link_payload_bps (float64, bit/s: of that, the payload in full packets, without what encryption adds),
        theory_window_bps (float64, bit/s: usable window × flows / minimum round-trip time, without that,
        too), buffer_delay_percent and transfer_time_ratio (float64, RFC 6349). Null where an input is not
        known.
    """
    rate_bps = column_or_null(rows, "path_rate_bps").cast("float64")
    mtu_bytes = column_or_null(rows, "path_mtu_bytes").cast("float64")
    # A plan that asks for a segment size makes packets of that and of headers, not of the path's MTU.
    headers = (rows.family == 6).ifelse(header_bytes(6), header_bytes(4)).cast("float64")
    mss = rows.mss_granted_bytes.cast("float64")
    packet_bytes = rows.mss_bytes.notnull().ifelse(ibis.least(mss + headers, mtu_bytes), mtu_bytes)
    rtt_min_ms = rows.rtt_min_ms.nullif(0.0)
    flying = rows.window_usable_bytes.cast("float64") * rows.flows
    share = _application_share(rows)
    payload_bps = theory.link_payload_bps(rate_bps, packet_bytes, packet_bytes - mss) * share
    return rows.mutate(
        path_rate_bps=column_or_null(rows, "path_rate_bps"),
        link_payload_bps=payload_bps,
        theory_window_bps=theory.window_bps(flying, rtt_min_ms / SECOND_MS) * share,
        buffer_delay_percent=theory.buffer_delay_percent(rows.rtt_mean_ms, rtt_min_ms),
        transfer_time_ratio=theory.transfer_time_ratio(payload_bps, rows.goodput_mean_bps.nullif(0.0)),
    )


def _application_share(rows: ir.Table) -> ir.FloatingValue:
    """What applications count, of what TCP carries: records of TLS take the rest."""
    records = (rows.length_bytes / TLS_RECORD_BYTES).ceil()
    share = rows.length_bytes / (rows.length_bytes + records * TLS_RECORD_EXTRA_BYTES)
    return (rows.encryption == "tls").coalesce(False).ifelse(share, 1.0)
