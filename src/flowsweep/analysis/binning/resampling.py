"""From samples to exact intervals: bins of each flow, then their sum over the flows of a trial."""

import ibis
import ibis.expr.types as ir

from flowsweep.analysis.binning.alignment import flow_starts
from flowsweep.analysis.expressions import quotient, share

FLOW, TRIAL = ("trial_id", "flow"), ("trial_id",)
"""Whose bins: of each flow, or of all flows of a trial together."""


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
    return binned(samples, trials, flow_starts(samples, flows))


def binned(
    samples: ir.Table,
    trials: ir.Table,
    starts: ir.Table,
    begun: ir.Table | None = None,
    whose: tuple[str, ...] = FLOW,
) -> ir.Table:
    """Resample as `bins`.

    Args:
        samples: As in an archive.
        trials: As in an archive.
        starts: From `flowsweep.analysis.binning.alignment.flow_starts`; other flows are left out.
        begun: From `begun_in_bins`, if it was computed.
        whose: `FLOW`, or `TRIAL`: bytes and covered_ns are sums over its flows, and there is no flow.
    """
    begun = begun_in_bins(samples, trials, starts, whose) if begun is None else begun
    bin_columns = (*whose, "bin", "bytes", "covered_ns")
    reaching = begun.filter(begun.next_covered_ns > 0)
    next_bins = reaching.select(
        *whose, bin=reaching.bin + 1, bytes="next_bytes", covered_ns="next_covered_ns"
    )
    # Few samples, if any, reach further than the next bin.
    long = begun.filter(begun.reaches_further).select(*whose).distinct()
    rows = _sink_samples(samples.semi_join(long, whose), trials, starts)
    further = _further(rows.filter(_reaches_further(rows)))
    pieces = begun.select(*bin_columns).union(next_bins).union(further.select(*bin_columns))
    return pieces.group_by(*whose, "bin").aggregate(
        bytes=pieces.bytes.sum().cast("int64"), covered_ns=pieces.covered_ns.sum().cast("int64")
    )


def begun_in_bins(
    samples: ir.Table, trials: ir.Table, starts: ir.Table, whose: tuple[str, ...] = FLOW
) -> ir.Table:
    """Sum up the samples of sinks by the bin that they begin in, in one pass over them.

    Returns:
        One row per trial, flow (if `whose` has it) and bin that a sample begins in: trial_id, flow, bin
        (int64); bytes and covered_ns (int64: what of these samples lies in this bin), next_bytes and
        next_covered_ns (int64: in the next bin, of samples that end there), reaches_further (boolean: some of
        them end after the next bin).
    """
    rows = _sink_samples(samples, trials, starts)
    spans = rows.length_ns > rows.room_ns
    kept = spans.ifelse(share(rows.bytes, rows.room_ns, rows.length_ns), rows.bytes)
    split = rows.mutate(
        bin=rows.index - rows.lead_bins,
        kept_bytes=kept,
        kept_ns=spans.ifelse(rows.room_ns, rows.length_ns),
        further=_reaches_further(rows),
    )
    ends_next = (~split.further).cast("int64")
    return split.group_by(*whose, "bin").aggregate(
        bytes=split.kept_bytes.sum().cast("int64"),
        covered_ns=split.kept_ns.sum().cast("int64"),
        next_bytes=((split.bytes - split.kept_bytes) * ends_next).sum().cast("int64"),
        next_covered_ns=((split.length_ns - split.kept_ns) * ends_next).sum().cast("int64"),
        reaches_further=split.further.any(),
    )


def _sink_samples(samples: ir.Table, trials: ir.Table, starts: ir.Table) -> ir.Table:
    return _placed(samples.filter(samples.role == "sink"), _frame(trials, starts))


def _reaches_further(rows: ir.Table) -> ir.BooleanValue:
    """Whether a sample ends after the bin that follows the one it begins in."""
    return rows.length_ns > rows.room_ns + rows.interval_ns


def _placed(rows: ir.Table, frame: ir.Table) -> ir.Table:
    """Samples in time since the start of a bin that lies before all of them, so that no index is negative.

    `index` is of the bin that a sample begins in, `room_ns` what of that bin is left from there.
    """
    placed = rows.inner_join(frame, ["trial_id", "flow"]).select(
        "trial_id",
        "flow",
        "bytes",
        frame.interval_ns,
        frame.lead_bins,
        start=rows.start_ns - frame.base_ns,
        length_ns=rows.end_ns - rows.start_ns,
    )
    indexed = placed.mutate(index=quotient(placed.start, placed.interval_ns))
    return indexed.mutate(room_ns=(indexed.index + 1) * indexed.interval_ns - indexed.start)


def _frame(trials: ir.Table, starts: ir.Table) -> ir.Table:
    """Per trial and flow: the interval, and the base on the flow's own axis.

    The base lies a whole number of intervals (`lead_bins`) before the origin of the trial.
    """
    trial = ibis.window(group_by="trial_id")
    sinks = starts.filter(starts.role == "sink")
    joined = sinks.inner_join(trials.select("trial_id", "interval_ns", "omit_ns"), "trial_id").mutate(
        last_ns=sinks.at_ns.max().over(trial), first_ns=sinks.at_ns.min().over(trial)
    )
    lead_ns = joined.last_ns + joined.omit_ns - joined.first_ns
    counted = joined.mutate(lead_bins=quotient(lead_ns + joined.interval_ns - 1, joined.interval_ns))
    base_ns = counted.last_ns + counted.omit_ns - counted.lead_bins * counted.interval_ns
    return counted.select("trial_id", "flow", "interval_ns", "lead_bins", base_ns=base_ns - counted.origin_ns)


def _further(rows: ir.Table) -> ir.Table:
    """Of samples that reach into several bins, the pieces in all but the first of each."""
    last_index = quotient(rows.start + rows.length_ns - 1, rows.interval_ns)
    spread = rows.mutate(at=ibis.range(rows.index + 1, last_index + 1).unnest())
    lower = spread.at * spread.interval_ns - spread.start
    edged = spread.mutate(lower=lower, upper=ibis.least(spread.length_ns, lower + spread.interval_ns))
    return edged.select(
        "trial_id",
        "flow",
        bin=edged["at"] - edged.lead_bins,
        bytes=share(edged.bytes, edged.upper, edged.length_ns)
        - share(edged.bytes, edged.lower, edged.length_ns),
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
