"""Which samples of a source lie between what is omitted and the end of the duration."""

import ibis
import ibis.expr.types as ir

from flowsweep.analysis.alignment import flow_starts


def within_duration(rows: ir.Table, trials: ir.Table, flows: ir.Table) -> ir.Table:
    """Add `counted`: whether a sample begins in [S + omit, S + duration), S when the trial's last flow began.

    Args:
        rows: Samples of sources: role, trial_id, flow, start_ns and more.
        trials: As in an archive.
        flows: As in an archive: they bring several sources to one axis of time.
    """
    starts = flow_starts(rows, flows, role="source")
    last = starts.mutate(last_ns=starts.at_ns.max().over(ibis.window(group_by="trial_id")))
    times = last.inner_join(trials.select("trial_id", "omit_ns", "duration_ns"), "trial_id")
    # On the axis of the flow's own end, where its samples are.
    own = times.select("trial_id", "flow", "omit_ns", "duration_ns", begin_ns=times.last_ns - times.origin_ns)
    timed = rows.inner_join(own, ["trial_id", "flow"])
    since_ns = timed.start_ns - timed.begin_ns
    counted = (since_ns >= timed.omit_ns) & (since_ns < timed.duration_ns)
    return timed.mutate(counted=counted).select(*rows.columns, "counted")
