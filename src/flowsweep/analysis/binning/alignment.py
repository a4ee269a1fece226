"""One axis of time for all flows of a trial, whose ends are on hosts with clocks of their own."""

import ibis
import ibis.expr.types as ir

from flowsweep.archive import Tables

_END = ("trial_id", "role", "flow")


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
    first = samples.group_by(_END).aggregate(
        start_ns=samples.start_ns.min(),
        end_ns=samples.end_ns.max(),
        length_ns=(samples.end_ns - samples.start_ns).sum().cast("int64"),
        rows=samples.count(),
        bytes=samples.bytes.sum().cast("int64"),
    )
    joined = first.left_join(flows.select(*_END, "origin_ns"), _END)
    return _placed(joined.mutate(origin_ns=joined.origin_ns.coalesce(0)))


def kept_starts(tables: Tables) -> ir.Table:
    """Find the same of all flows without a look at their samples, where the archive has kept it.

    Args:
        tables: As in an archive; all samples of its trials.

    Returns:
        As `flow_starts`.

    Method:
        What the archive adds up when it writes a trial (`flowsweep.archive.sampled_flows`). Samples are read
        of trials without it, which older versions wrote, and where an end did not report its flows.
    """
    flows = tables.flows
    if "sample_rows" not in flows.columns:
        return flow_starts(tables.samples, flows)
    known = flows.group_by("trial_id").aggregate(known=flows.sample_rows.notnull().all())
    kept_of = known.filter(known.known)
    others = tables.samples.semi_join(tables.trials.anti_join(kept_of, "trial_id"), "trial_id")
    kept = flows.semi_join(kept_of, "trial_id").select(
        *_END,
        "origin_ns",
        start_ns="sampled_from_ns",
        end_ns="sampled_to_ns",
        length_ns="sampled_ns",
        rows="sample_rows",
        bytes="sampled_bytes",
    )
    return _placed(kept.filter(kept["rows"] > 0)).union(flow_starts(others, flows))


def _placed(ends: ir.Table) -> ir.Table:
    """Bring sums of samples onto the axis of the trial."""
    return ends.select(
        *_END,
        "origin_ns",
        at_ns=ends.start_ns + ends.origin_ns,
        rows="rows",
        bytes="bytes",
        gapless=ends.length_ns == ends.end_ns - ends.start_ns,
    )


BEFORE, COUNTED, AFTER = range(3)
"""Phases of a trial: what is omitted, what counts, and all else, also where no duration is known."""


def with_phase(rows: ir.Table, trials: ir.Table, starts: ir.Table, *also: str) -> ir.Table:
    """Add `phase`: COUNTED if a sample begins in [S + omit, S + duration), S when the last flow began.

    Args:
        rows: Samples of sources: trial_id, flow, start_ns and more.
        trials: As in an archive.
        starts: From `flow_starts`: they bring several sources to one axis of time.
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
