"""From samples to exact intervals: bins of each flow, then their sum over the flows of a trial."""

import ibis
import ibis.expr.types as ir

from flowsweep.analysis.alignment import flow_starts
from flowsweep.analysis.exact import quotient, share


def bins(samples: ir.Table, trials: ir.Table, flows: ir.Table) -> ir.Table:
    """Resample what the sinks read onto exact intervals, keeping every byte.

    Bin k of a trial is [origin + k · interval, origin + (k + 1) · interval), where the origin is when the
    last of its flows began, plus what is omitted. Flows of several sinks are brought to one axis of time by
    their `origin_ns`. A sample that spans bins gives each the difference of its rounded-down cumulative count
    at the bin's edges, so that Σ bins = Σ samples for each flow, in whole bytes.

    Args:
        samples: As in an archive.
        trials: As in an archive.
        flows: As in an archive.

    Returns:
        One row per trial, flow and bin that any sample touches: trial_id, flow, bin (int64; below 0: before
        the origin), bytes (int64), covered_ns (int64: how much of the bin the flow's samples cover).
    """
    rows = _placed(samples.filter(samples.role == "sink"), _frame(samples, trials, flows))
    within = rows.filter(rows.first_index == rows.last_index)
    whole = within.select(
        "trial_id", "flow", "bytes", bin=within.first_index - within.lead_bins, covered_ns=within.length_ns
    )
    pieces = whole.union(_cut(rows.filter(rows.first_index < rows.last_index)))
    return pieces.group_by("trial_id", "flow", "bin").aggregate(
        bytes=pieces.bytes.sum().cast("int64"), covered_ns=pieces.covered_ns.sum().cast("int64")
    )


def _placed(rows: ir.Table, frame: ir.Table) -> ir.Table:
    """Samples in time since the start of a bin that lies before all of them, so that no index is negative."""
    placed = rows.inner_join(frame, ["trial_id", "flow"]).select(
        "trial_id",
        "flow",
        "bytes",
        frame.interval_ns,
        frame.lead_bins,
        start=rows.start_ns - frame.base_ns,
        length_ns=rows.end_ns - rows.start_ns,
    )
    # The last nanosecond that belongs to a sample decides its last bin; one of no length has its own start.
    last = placed.start + ibis.greatest(placed.length_ns, 1) - 1
    return placed.mutate(
        first_index=quotient(placed.start, placed.interval_ns), last_index=quotient(last, placed.interval_ns)
    )


def _frame(samples: ir.Table, trials: ir.Table, flows: ir.Table) -> ir.Table:
    """Per trial and flow: the interval, and the base on the flow's own axis.

    The base lies a whole number of intervals (`lead_bins`) before the origin of the trial.
    """
    starts = flow_starts(samples, flows, role="sink")
    trial = ibis.window(group_by="trial_id")
    joined = starts.inner_join(trials.select("trial_id", "interval_ns", "omit_ns"), "trial_id").mutate(
        last_ns=starts.at_ns.max().over(trial), first_ns=starts.at_ns.min().over(trial)
    )
    lead_ns = joined.last_ns + joined.omit_ns - joined.first_ns
    counted = joined.mutate(lead_bins=quotient(lead_ns + joined.interval_ns - 1, joined.interval_ns))
    base_ns = counted.last_ns + counted.omit_ns - counted.lead_bins * counted.interval_ns
    return counted.select("trial_id", "flow", "interval_ns", "lead_bins", base_ns=base_ns - counted.origin_ns)


def _cut(rows: ir.Table) -> ir.Table:
    """Samples that span bins, one piece for each bin."""
    spread = rows.mutate(index=ibis.range(rows.first_index, rows.last_index + 1).unnest())
    lower = ibis.greatest(spread.start, spread.index * spread.interval_ns) - spread.start
    upper = (
        ibis.least(spread.start + spread.length_ns, (spread.index + 1) * spread.interval_ns) - spread.start
    )
    edged = spread.mutate(lower=lower, upper=upper)
    return edged.select(
        "trial_id",
        "flow",
        bytes=share(edged.bytes, edged.upper, edged.length_ns)
        - share(edged.bytes, edged.lower, edged.length_ns),
        bin=edged.index - edged.lead_bins,
        covered_ns=edged.upper - edged.lower,
    )


def intervals(bins: ir.Table, trials: ir.Table) -> ir.Table:
    """Sum the flows of each trial, bin by bin.

    Args:
        bins: From `bins`.
        trials: As in an archive.

    Returns:
        One row per trial and bin: trial_id, bin, bytes, flows_covering (how many flows cover all of it),
        complete (they are all the trial's flows, and the bin is one of the expected ones) and goodput_bps
        (float64, of the bytes that are there: too low where the bin is not complete).
    """
    asked = trials.select("trial_id", "flows", "interval_ns", "expected_bins")
    joined = bins.inner_join(asked, "trial_id")
    summed = joined.group_by("trial_id", "bin", "flows", "interval_ns", "expected_bins").aggregate(
        bytes=joined.bytes.sum().cast("int64"),
        flows_covering=(joined.covered_ns == joined.interval_ns).sum(),
    )
    expected = (summed.bin >= 0) & (summed.bin < summed.expected_bins)
    return summed.select(
        "trial_id",
        "bin",
        "bytes",
        "flows_covering",
        complete=(summed.flows_covering == summed.flows) & expected,
        goodput_bps=summed.bytes.cast("float64") * 8e9 / summed.interval_ns,
    )
