"""Which samples of a source lie between what is omitted and the end of the duration."""

import ibis
import ibis.expr.types as ir

BEFORE, COUNTED, AFTER = range(3)
"""Phases of a trial: what is omitted, what counts, and all else, also where no duration is known."""


def with_phase(rows: ir.Table, trials: ir.Table, starts: ir.Table, *also: str) -> ir.Table:
    """Add `phase`: COUNTED if a sample begins in [S + omit, S + duration), S when the last flow began.

    Args:
        rows: Samples of sources: trial_id, flow, start_ns and more.
        trials: As in an archive.
        starts: From `flowsweep.analysis.alignment.flow_starts`: they bring several sources to one axis of
            time.
        also: Further columns of `trials` to add.
    """
    sources = starts.filter(starts.role == "source")
    last = sources.mutate(last_ns=sources.at_ns.max().over(ibis.window(group_by="trial_id")))
    times = last.inner_join(trials.select("trial_id", "omit_ns", "duration_ns", *also), "trial_id")
    # On the axis of the flow's own end, where its samples are.
    begin_ns = times.last_ns - times.origin_ns
    own = times.select(
        "trial_id",
        "flow",
        *also,
        counted_from_ns=begin_ns + times.omit_ns,
        counted_to_ns=begin_ns + times.duration_ns,
    )
    timed = rows.inner_join(own, ["trial_id", "flow"])
    phase = ibis.cases(
        (timed.start_ns < timed.counted_from_ns, BEFORE),
        (timed.start_ns < timed.counted_to_ns, COUNTED),
        else_=AFTER,
    )
    return timed.mutate(phase=phase).select(*rows.columns, *also, "phase")
