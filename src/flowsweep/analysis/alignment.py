"""One axis of time for all flows of a trial, whose ends are on hosts with clocks of their own."""

import ibis.expr.types as ir


def flow_starts(samples: ir.Table, flows: ir.Table, *, role: str) -> ir.Table:
    """Find when each flow began, at the ends of one role.

    Args:
        samples: As in an archive; their times count from the origin of their end.
        flows: As in an archive; `origin_ns` is where that origin lies on the axis of the trial.
        role: "source" or "sink".

    Returns:
        One row per trial and flow that has samples there: trial_id, flow, origin_ns (int64; 0 for an end that
        did not report), at_ns (int64: the beginning of the first sample, on the axis of the trial).
    """
    rows, ends = samples.filter(samples.role == role), flows.filter(flows.role == role)
    first = rows.group_by("trial_id", "flow").aggregate(start_ns=rows.start_ns.min())
    origins = ends.select("trial_id", "flow", "origin_ns")
    joined = first.left_join(origins, ["trial_id", "flow"]).drop("trial_id_right", "flow_right")
    placed = joined.mutate(origin_ns=joined.origin_ns.coalesce(0))
    return placed.select("trial_id", "flow", "origin_ns", at_ns=placed.start_ns + placed.origin_ns)
