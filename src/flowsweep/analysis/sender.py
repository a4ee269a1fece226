"""What the source's kernel said: usable window, round-trip time, retransmissions."""

import ibis
import ibis.expr.types as ir

from flowsweep.analysis.exact import quotient
from flowsweep.analysis.flight import column_or_null
from flowsweep.analysis.ranks import nearest_rank, tenfold_decile

_RTT_UNKNOWN_US = 0xFFFF_FFFF
"""What the kernel says before it has measured any."""


def sender_facts(samples: ir.Table, trials: ir.Table, states: ir.Table) -> ir.Table:
    """Sum up the source's samples.

    Args:
        samples: As in an archive.
        trials: As in an archive.
        states: From `flowsweep.analysis.flow_states`.

    Returns:
        One row per trial: trial_id, retransmits (segments, Σ over flows), flows_counted (of how many flows),
        rtt_min_ms (float64), window_usable_bytes (int64, see `usable_windows`). Null where the kernel did not
        say.
    """
    source = samples.filter(samples.role == "source")
    rows = source.select(
        "trial_id",
        "flow",
        rtt_us=column_or_null(source, "min_rtt_us").nullif(_RTT_UNKNOWN_US),
        total_retrans=column_or_null(source, "total_retrans"),
    )
    # The counter never falls, so its greatest value is its last.
    flows = rows.group_by("trial_id", "flow").aggregate(
        retransmits=rows.total_retrans.max(), rtt_us=rows.rtt_us.min()
    )
    facts = flows.group_by("trial_id").aggregate(
        retransmits=flows.retransmits.sum().cast("int64"),
        flows_counted=flows.retransmits.count(),
        rtt_min_ms=flows.rtt_us.min().cast("float64") / 1000,
    )
    return facts.left_join(usable_windows(states, trials), "trial_id").drop("trial_id_right")


def usable_windows(states: ir.Table, trials: ir.Table) -> ir.Table:
    """Find the plateau of data in flight: per flow the 90th percentile, then the median over the flows.

    A high percentile, because a flow that is limited by its window is at the limit but for moments (a sample
    taken just after an acknowledgement, a dip of the congestion window), and the plateau is what those dips
    come from; not the maximum, because one odd sample decides that. The nearest rank, so that it is a value
    that occurred.

    Args:
        states: From `flowsweep.analysis.flow_states`.
        trials: As in an archive.

    Returns:
        trial_id, window_usable_bytes (int64); no row for a trial whose kernel did not say, whose rate the
        plan held down, or whose plateau is less than a segment: nothing was at the limit of a window there.
    """
    flying = states.filter(states.counted & states.bytes_in_flight.notnull())
    flows = flying.group_by("trial_id", "flow").aggregate(flights=flying.bytes_in_flight.collect())
    ordered = flows.mutate(flights=flows.flights.sort())
    plateaus = ordered.select("trial_id", plateau=nearest_rank(ordered.flights, decile=9))
    collected = plateaus.group_by("trial_id").aggregate(plateaus=plateaus.plateau.collect())
    medians = collected.mutate(plateaus=collected.plateaus.sort())
    found = medians.inner_join(
        trials.select("trial_id", "rate_bps", "pacing_rate_bps", "mss_granted_bytes"), "trial_id"
    ).mutate(
        window_usable_bytes=quotient(tenfold_decile(medians.plateaus, decile=5), ibis.literal(10, "int64"))
    )
    free = found.rate_bps.isnull() & found.pacing_rate_bps.isnull()
    full = found.window_usable_bytes >= found.mss_granted_bytes.coalesce(1)
    return found.filter(free & full).select("trial_id", "window_usable_bytes")
