"""The check that no byte was lost or invented between the sender's application and the bins."""

import ibis.expr.types as ir


def balance(flows: ir.Table, samples: ir.Table, bins: ir.Table) -> ir.Table:
    """Compare the counts of application bytes that were kept independently of each other.

    Args:
        flows: As in an archive.
        samples: As in an archive.
        bins: From `flowsweep.analysis.bins`.

    Returns:
        One row per trial and flow that either end reported: trial_id, flow, bytes_sent (by the source),
        bytes_read (by the sink), bytes_sampled (Σ of the sink's samples), bytes_binned (Σ of the bins),
        balanced (all four are known and equal; no sample of nothing is nothing).
    """
    ends = flows.group_by("trial_id", "flow").aggregate(
        bytes_sent=flows.bytes.sum(where=flows.role == "source"),
        bytes_read=flows.bytes.sum(where=flows.role == "sink"),
    )
    sink = samples.filter(samples.role == "sink")
    sampled = sink.group_by("trial_id", "flow").aggregate(bytes_sampled=sink.bytes.sum())
    binned = bins.group_by("trial_id", "flow").aggregate(bytes_binned=bins.bytes.sum())
    joined = ends.left_join(sampled, ["trial_id", "flow"]).drop("trial_id_right", "flow_right")
    joined = joined.left_join(binned, ["trial_id", "flow"]).drop("trial_id_right", "flow_right")
    counts = joined.mutate(
        bytes_sampled=joined.bytes_sampled.coalesce(0), bytes_binned=joined.bytes_binned.coalesce(0)
    )
    equal = (
        (counts.bytes_sent == counts.bytes_read)
        & (counts.bytes_read == counts.bytes_sampled)
        & (counts.bytes_sampled == counts.bytes_binned)
    )
    return counts.mutate(balanced=equal.coalesce(False))
