"""The check that no byte was lost or invented between the sender's application and the bins."""

import ibis
import ibis.expr.types as ir

from flowsweep.analysis.expressions import column_or_null, columns_added, quotient


def balance(flows: ir.Table, samples: ir.Table, bins: ir.Table) -> ir.Table:
    """Compare the counts of application bytes that were kept independently of each other.

    Args:
        flows: As in an archive.
        samples: As in an archive.
        bins: From `flowsweep.analysis.bins`.

    Returns:
        One row per trial and flow that either end reported: trial_id, flow, bytes_sent (by the source),
        bytes_read (by the sink), bytes_sampled (Σ of the sink's samples), bytes_binned (Σ of the bins),
        balanced (all four are known and equal; no sample of nothing is nothing). Datagrams may be lost: of a
        flow of these sent and read are equal after what was lost is taken off, in whole datagrams.
    """
    read = samples.filter(samples.role == "sink")
    sampled = read.group_by("trial_id", "flow").aggregate(bytes_sampled=read.bytes.sum().cast("int64"))
    binned = bins.group_by("trial_id", "flow").aggregate(bytes_binned=bins.bytes.sum().cast("int64"))
    both = columns_added(sampled, [binned], ["trial_id", "flow"])
    return balanced(flows, both)


def read_totals(starts: ir.Table, intervals: ir.Table) -> ir.Table:
    """Sum up what the sinks read.

    Args:
        starts: From `flowsweep.analysis.binning.alignment.flow_starts`.
        intervals: From `flowsweep.analysis.binning.interval_goodput.trial_intervals`.

    Returns:
        One row per trial and flow with samples: trial_id, flow, bytes_sampled, bytes_binned, as of `balance`,
        but that bytes_binned is either the same or null: null if the sums over the trial differ.
    """
    sinks = starts.filter(starts.role == "sink")
    binned = intervals.group_by("trial_id").aggregate(bytes_binned=intervals.bytes.sum().cast("int64"))
    trial = ibis.window(group_by="trial_id")
    joined = sinks.mutate(trial_bytes=sinks.bytes.sum().over(trial)).left_join(binned, "trial_id")
    equal = joined.trial_bytes == joined.bytes_binned
    return joined.select(
        "trial_id", "flow", bytes_sampled=joined.bytes, bytes_binned=ibis.cases((equal, joined.bytes))
    )


def balanced(flows: ir.Table, read: ir.Table) -> ir.Table:
    """Compare as `balance`, with `read` from `read_totals`, say."""
    flows = flows.mutate(datagrams=column_or_null(flows, "udp_datagrams"))
    ends = flows.group_by("trial_id", "flow").aggregate(
        bytes_sent=flows.bytes.sum(where=flows.role == "source"),
        bytes_read=flows.bytes.sum(where=flows.role == "sink"),
        datagrams_sent=flows.datagrams.sum(where=flows.role == "source"),
        datagrams_read=flows.datagrams.sum(where=flows.role == "sink"),
    )
    joined = columns_added(ends, [read], ["trial_id", "flow"])
    counts = joined.mutate(
        bytes_sampled=joined.bytes_sampled.coalesce(0), bytes_binned=joined.bytes_binned.coalesce(0)
    )
    # Each datagram of a flow is as long as any other.
    lost = counts.datagrams_sent - counts.datagrams_read
    lost_bytes = lost * quotient(counts.bytes_sent, counts.datagrams_sent.nullif(0)).coalesce(0)
    expected = (counts.datagrams_sent.isnull()).ifelse(counts.bytes_sent, counts.bytes_sent - lost_bytes)
    equal = (
        (expected == counts.bytes_read)
        & (lost >= 0).coalesce(True)
        & (counts.bytes_read == counts.bytes_sampled)
        & (counts.bytes_sampled == counts.bytes_binned)
    )
    return counts.mutate(balanced=equal.coalesce(False)).drop("datagrams_sent", "datagrams_read")
