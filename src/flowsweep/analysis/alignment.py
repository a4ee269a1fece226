"""One axis of time for all flows of a trial, whose ends are on hosts with clocks of their own."""

import ibis.expr.types as ir


def flow_starts(samples: ir.Table, flows: ir.Table) -> ir.Table:
    """Find when each flow began, at each of its ends.

    Args:
        samples: As in an archive; their times count from the origin of their end.
        flows: As in an archive; `origin_ns` is where that origin lies on the axis of the trial.

    Returns:
        One row per trial, role and flow that has samples there: trial_id, role, flow, origin_ns (int64; 0 for
        an end that did not report), at_ns (int64: the beginning of the first sample, on the axis of the
        trial), rows (int64: how many samples), bytes (int64: Σ of the samples), gapless (boolean: the samples
        are as long together as from the first to the end of the last).
    """
    end = ["trial_id", "role", "flow"]
    first = samples.group_by(end).aggregate(
        start_ns=samples.start_ns.min(),
        end_ns=samples.end_ns.max(),
        length_ns=(samples.end_ns - samples.start_ns).sum().cast("int64"),
        rows=samples.count(),
        bytes=samples.bytes.sum().cast("int64"),
    )
    joined = first.left_join(flows.select(*end, "origin_ns"), end)
    placed = joined.mutate(origin_ns=joined.origin_ns.coalesce(0))
    return placed.select(
        *end,
        "origin_ns",
        at_ns=placed.start_ns + placed.origin_ns,
        rows="rows",
        bytes="bytes",
        gapless=placed.length_ns == placed.end_ns - placed.start_ns,
    )
