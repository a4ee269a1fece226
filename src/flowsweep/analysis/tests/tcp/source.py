"""What the source's kernel said: usable window, round-trip time, retransmissions."""

import ibis
import ibis.expr.types as ir

from flowsweep.analysis.expressions import columns_added, quotient
from flowsweep.analysis.quantiles import tenfold_decile


def sender_facts(totals: ir.Table, trials: ir.Table) -> ir.Table:
    """Sum up the sources of each trial.

    Args:
        totals: From `flowsweep.analysis.tests.tcp.flow_totals`.
        trials: As in an archive.

    Returns:
        One row per trial: trial_id, retransmits (segments, Σ over flows), flows_counted (of how many flows),
        rtt_min_ms (float64), window_usable_bytes (int64, see `usable_windows`). Null where the kernel did not
        say.
    """
    facts = totals.group_by("trial_id").aggregate(
        retransmits=totals.retransmits.sum().cast("int64"),
        flows_counted=totals.retransmits.count(),
        rtt_min_ms=totals.rtt_least_us.min().cast("float64") / 1000,
    )
    return columns_added(facts, [usable_windows(totals, trials)], ["trial_id"])


def usable_windows(totals: ir.Table, trials: ir.Table) -> ir.Table:
    """Find the plateau of data in flight: per flow the 90th percentile, then the median over the flows.

    A high percentile, because a flow that is limited by its window is at the limit but for moments (a sample
    taken just after an acknowledgement, a dip of the congestion window), and the plateau is what those dips
    come from; not the maximum, because one odd sample decides that. The nearest rank, so that it is a value
    that occurred.

    Args:
        totals: From `flowsweep.analysis.tests.tcp.flow_totals`.
        trials: As in an archive.

    Returns:
        trial_id, window_usable_bytes (int64); no row for a trial whose kernel did not say, whose rate the
        plan held down, or whose plateau is less than a segment: nothing was at the limit of a window there.
    """
    known = totals.filter(totals.plateau_bytes.notnull())
    collected = known.group_by("trial_id").aggregate(plateaus=known.plateau_bytes.collect())
    medians = collected.mutate(plateaus=collected.plateaus.sort())
    found = medians.inner_join(
        trials.select("trial_id", "rate_bps", "pacing_rate_bps", "mss_granted_bytes"), "trial_id"
    ).mutate(
        window_usable_bytes=quotient(tenfold_decile(medians.plateaus, decile=5), ibis.literal(10, "int64"))
    )
    free = found.rate_bps.isnull() & found.pacing_rate_bps.isnull()
    full = found.window_usable_bytes >= found.mss_granted_bytes.coalesce(1)
    return found.filter(free & full).select("trial_id", "window_usable_bytes")
