"""What each flow of some trials delivered and sent again, sample by sample."""

import ibis
import ibis.expr.types as ir

from flowsweep.analysis.binning.alignment import COUNTED, with_phase
from flowsweep.analysis.expressions import column_or_null

_FULL = 1 << 32
"""The kernel's count of segments delivered has 32 bits: at 100 Gbit/s it is full within minutes."""


def loss_samples(samples: ir.Table, trials: ir.Table, starts: ir.Table, trial_ids: list[str]) -> ir.Table:
    """Select the samples of sources that tell of losses.

    Args:
        samples: As in an archive.
        trials: As in an archive.
        starts: From `flowsweep.analysis.binning.alignment.flow_starts`.
        trial_ids: Which.

    Returns:
        One row per trial, flow and sample of its source: trial_id, flow, end_ns (int64), delivered_bytes
        (int64: segments delivered, selectively acknowledged ones included, · their size), retransmitted
        (int64: segments sent again so far), counted (boolean: the sample is of the time that counts). None
        where the kernel did not say what was delivered.
    """
    of_trials = samples.filter(samples.trial_id.isin(trial_ids))
    source = _unwrapped(of_trials.filter(of_trials.role == "source"))
    rows = source.select(
        "trial_id",
        "flow",
        "start_ns",
        "end_ns",
        delivered_bytes=column_or_null(source, "delivered") * column_or_null(source, "snd_mss_bytes"),
        retransmitted=column_or_null(source, "total_retrans"),
    )
    phased = with_phase(rows.filter(rows.delivered_bytes.notnull()), trials, starts)
    return phased.select(
        "trial_id", "flow", "end_ns", "delivered_bytes", "retransmitted", counted=phased.phase == COUNTED
    ).order_by("trial_id", "flow", "end_ns")


def _unwrapped(samples: ir.Table) -> ir.Table:
    """Have segments delivered since the connection began, however often the count began again at 0."""
    if "delivered" not in samples.columns:
        return samples
    flow = ["trial_id", "flow"]
    before = samples.delivered.lag().over(ibis.window(group_by=flow, order_by="start_ns"))
    marked = samples.mutate(fell=(samples.delivered < before).coalesce(False).cast("int64"))
    times = marked.fell.sum().over(ibis.cumulative_window(group_by=flow, order_by="start_ns"))
    return marked.mutate(delivered=marked.delivered + times * _FULL)
