"""How long it took each trial to come up to speed."""

import ibis
import ibis.expr.types as ir

from flowsweep.analysis.binning.resampling import bins, intervals
from flowsweep.analysis.expressions import column_or_null, quotient
from flowsweep.defaults import MICROSECOND_NS, SECOND_NS

SPEED_SHARE = 0.9
"""Of the headline goodput: from here on a trial is up to speed."""
SOUGHT_NS = 60 * SECOND_NS
"""Only this much of the beginning is looked at."""
_UNKNOWN_US = 0xFFFF_FFFF
"""Linux's least round-trip time before it has one."""


def slow_starts(samples: ir.Table, trials: ir.Table, flows: ir.Table, headline: ir.Table) -> ir.Table:
    """Find when goodput reached 90 % of the trial's headline for the first time.

    Args:
        samples: As in an archive.
        trials: As in an archive.
        flows: As in an archive.
        headline: One row per trial: trial_id, goodput_bps (bit/s), as in a summary.

    Returns:
        One row per trial that got there within its first minute: trial_id, slow_start_ns (int64: from when
        the last flow's first byte arrived to the end of the first step in which the sum over the flows was
        that fast), step_ns (int64: the width of a step, and how far the time may be too long).

    Method:
        The same resampling as of the intervals, with the sample interval as the width, or as many of them as
        a round trip takes: within one, slow start sends in bursts. No omission. What slow start is: RFC 5681,
        section 3.1.
    """
    early = samples.filter(samples.start_ns < SOUGHT_NS)
    source = early.filter(early.role == "source")
    rtt_us = column_or_null(source, "min_rtt_us").nullif(_UNKNOWN_US)
    trips = source.mutate(rtt_us=rtt_us).group_by("trial_id").aggregate(rtt_us=ibis._.rtt_us.min())
    known = trials.filter(trials.sample_interval_ns.notnull()).left_join(trips, "trial_id")
    width = known.sample_interval_ns
    in_trip = quotient(known.rtt_us.coalesce(0) * MICROSECOND_NS + width - 1, width)
    fine = known.select(
        "trial_id",
        "flows",
        interval_ns=width * ibis.greatest(in_trip, 1),
        omit_ns=ibis.literal(0, "int64"),
        expected_bins=ibis.literal(SOUGHT_NS, "int64"),
    )
    steps = intervals(bins(early, fine, flows), fine)
    joined = steps.filter(steps.complete).inner_join(
        headline.select("trial_id", headline_bps="goodput_bps"), "trial_id"
    )
    fast = joined.filter(joined.goodput_bps >= SPEED_SHARE * joined.headline_bps)
    first = fast.group_by("trial_id").aggregate(first_bin=fast.bin.min())
    timed = first.inner_join(fine, "trial_id")
    return timed.select(
        "trial_id", slow_start_ns=(timed.first_bin + 1) * timed.interval_ns, step_ns=timed.interval_ns
    ).order_by("trial_id")
