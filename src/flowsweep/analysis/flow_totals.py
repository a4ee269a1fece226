"""What each flow did over the time that counts: the inputs of theory."""

import ibis.expr.types as ir


def flow_totals(states: ir.Table) -> ir.Table:
    """Sum up each flow's samples at its source.

    Args:
        states: From `flowsweep.analysis.flow_states`.

    Returns:
        One row per trial and flow with a counted sample; null where the kernel did not say.

        trial_id, flow; sent_bytes, retransmitted_bytes, recoveries (int64, Σ); mss_bytes, min_rtt_us,
        peer_window_highest_bytes (int64); rtt_mean_us, rttvar_mean_us, rto_mean_us, peer_window_mean_bytes
        (float64, over samples); losses_seen (int64: samples in which a recovery began) and rtt_at_loss_us
        (int64: Σ over those of the round-trip time, the longer one of before and after, since a queue empties
        at once).
    """
    counted = states.filter(states.counted)
    lost = (counted.recoveries > 0) & counted.rtt_us.notnull()
    around_us = (counted.rtt_before_us > counted.rtt_us).ifelse(counted.rtt_before_us, counted.rtt_us)
    return counted.group_by("trial_id", "flow").aggregate(
        sent_bytes=counted.sent_bytes.sum().cast("int64"),
        retransmitted_bytes=counted.retransmitted_bytes.sum().cast("int64"),
        recoveries=counted.recoveries.sum().cast("int64"),
        mss_bytes=counted.snd_mss_bytes.max(),
        min_rtt_us=counted.min_rtt_us.min(),
        rtt_mean_us=counted.rtt_us.mean(where=counted.rtt_us > 0),
        rto_mean_us=counted.rto_us.mean(),
        rttvar_mean_us=counted.rttvar_us.mean(),
        peer_window_highest_bytes=counted.peer_window_bytes.max(),
        peer_window_mean_bytes=counted.peer_window_bytes.mean(),
        losses_seen=lost.sum().cast("int64"),
        rtt_at_loss_us=around_us.sum(where=lost).cast("int64"),
    )
