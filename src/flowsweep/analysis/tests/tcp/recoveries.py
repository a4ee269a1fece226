"""Episodes of recovery: in which samples one began, and what the round-trip time was around it."""

import ibis
import ibis.expr.types as ir

from flowsweep.analysis.binning.alignment import COUNTED, with_phase
from flowsweep.analysis.expressions import arg_max, arg_min, column_or_null, is_duckdb

_RECOVERY, _LOSS = 3, 4
"""`tcpi_ca_state`: fast recovery, and recovery after a timeout."""
_FLOW = ["trial_id", "flow"]
_NO_RTT_US = -1
"""Instead of null, which backends pass over when they look for the first and the last."""


def with_recoveries(rows: ir.Table, *, flow: list[str]) -> ir.Table:
    """Add retransmitted_segments, recoveries (int64, since the row before) and rtt_before_us.

    Args:
        rows: Samples, or runs of samples in which nothing changed: start_ns, recovering (boolean),
            last_rtt_us, total_retrans, total_rto_recoveries; null where the kernel did not say.
        flow: The columns that tell flows apart.
    """
    order = ibis.window(group_by=flow, order_by="start_ns")
    risen = rows.mutate(
        recovering_before=rows.recovering.lag().over(order).coalesce(False),
        rtt_before_us=rows.last_rtt_us.lag().over(order),
        retransmitted_segments=retransmitted(rows, flow=flow),
        timeout_recoveries=rows.total_rto_recoveries
        - rows.total_rto_recoveries.lag().over(order).coalesce(0),
    )
    # Between two samples a recovery may come and go; it leaves retransmissions.
    seen = risen.recovering | (risen.retransmitted_segments > 0).coalesce(False)
    began = (seen & ~risen.recovering_before).cast("int64")
    recoveries = ibis.greatest(began, risen.timeout_recoveries.coalesce(0))
    return risen.mutate(recoveries=ibis.cases((risen.recovering.notnull(), recoveries)))


def retransmitted(rows: ir.Table, *, flow: list[str]) -> ir.IntegerColumn:
    """Segments retransmitted since the row before, of the first since the connection began.

    Args:
        rows: start_ns and total_retrans; null where the kernel did not say.
        flow: The columns that tell flows apart.
    """
    order = ibis.window(group_by=flow, order_by="start_ns")
    return rows.total_retrans - rows.total_retrans.lag().over(order).coalesce(0)


def is_recovering(ca_state: ir.IntegerValue) -> ir.BooleanValue:
    """Whether the kernel is in fast recovery, or recovers from a timeout; null where it did not say."""
    return ca_state.isin((_RECOVERY, _LOSS))


def quiet_runs(samples: ir.Table) -> ir.Table:
    """Put samples of a source together in which nothing of recoveries changed: few, where losses are few.

    Args:
        samples: As in an archive.

    Returns:
        One row per trial, flow, recovering and changes (int64: Σ of total_retrans and total_rto_recoveries,
        neither of which ever falls): these; total_retrans, total_rto_recoveries, start_ns, last_start_ns,
        rtt_us, last_rtt_us (int64: of the first and of the last sample; -1 where the kernel did not say).
    """
    rows = _followed(samples)
    is_here = is_duckdb(rows.start_ns)
    first, last = (arg_min, arg_max) if is_here else (ir.Column.argmin, ir.Column.argmax)
    changed = rows.mutate(changes=rows.total_retrans.coalesce(0) + rows.total_rto_recoveries.coalesce(0))
    return changed.group_by(*_FLOW, "recovering", "changes").aggregate(
        total_retrans=changed.total_retrans.max(),
        total_rto_recoveries=changed.total_rto_recoveries.max(),
        rtt_us=first(changed.rtt_us, changed.start_ns),
        last_rtt_us=last(changed.rtt_us, changed.start_ns),
        last_start_ns=changed.start_ns.max(),
        start_ns=changed.start_ns.min(),
    )


def recovery_totals(runs: ir.Table, samples: ir.Table, trials: ir.Table, starts: ir.Table) -> ir.Table:
    """Sum up each flow's recoveries over the time that counts.

    Args:
        runs: From `quiet_runs`.
        samples: As in an archive.
        trials: As in an archive.
        starts: From `flowsweep.analysis.binning.alignment.flow_starts`.

    Returns:
        One row per trial and flow with samples of its source: trial_id, flow; recoveries (int64, Σ; null
        where the kernel did not say); losses_seen (int64: samples in which a recovery began) and
        rtt_at_loss_us (int64: Σ over those of the round-trip time, the longer one of before and after, since
        a queue empties at once; null where there are none).

    Method:
        What begins, begins with the first sample of a run. A flow that was in one state, in another and in
        the first again without a retransmission has no runs: of such a flow each sample is looked at.
    """
    order = ibis.window(group_by=_FLOW, order_by="start_ns")
    placed = runs.mutate(before_ns=runs.last_start_ns.lag().over(order))
    tangled = placed.filter(placed.start_ns < placed.before_ns).select(*_FLOW).distinct()
    rows = _followed(samples).semi_join(tangled, _FLOW)
    single = rows.mutate(last_rtt_us=rows.rtt_us)
    untangled = runs.anti_join(tangled, _FLOW).select(*single.columns)
    followed = with_phase(with_recoveries(untangled.union(single), flow=_FLOW), trials, starts)
    counted = followed.phase == COUNTED
    lost = counted & (followed.recoveries > 0) & (followed.rtt_us != _NO_RTT_US)
    around_us = (followed.rtt_before_us > followed.rtt_us).ifelse(followed.rtt_before_us, followed.rtt_us)
    said = followed.recoveries.count() > 0
    return followed.group_by(_FLOW).aggregate(
        # A run may be longer than the time that counts, and nothing begin in it.
        recoveries=ibis.cases((said, followed.recoveries.sum(where=counted).coalesce(0).cast("int64"))),
        losses_seen=lost.sum().coalesce(0).cast("int64"),
        rtt_at_loss_us=around_us.sum(where=lost).cast("int64"),
    )


def _followed(samples: ir.Table) -> ir.Table:
    """Samples of sources with nothing but what tells of recoveries."""
    source = samples.filter(samples.role == "source")
    return source.select(
        "trial_id",
        "flow",
        "start_ns",
        recovering=is_recovering(column_or_null(source, "ca_state")),
        rtt_us=column_or_null(source, "rtt_us").coalesce(_NO_RTT_US),
        total_retrans=column_or_null(source, "total_retrans"),
        total_rto_recoveries=column_or_null(source, "total_rto_recoveries"),
    )
