"""How long it took each trial to come up to speed."""

from typing import TypedDict

import ibis
import ibis.expr.types as ir

from flowsweep.analysis.binning.interval_goodput import trial_intervals
from flowsweep.analysis.expressions import column_or_null, quotient
from flowsweep.analysis.tests.tcp.flow_states import RTT_UNKNOWN_US
from flowsweep.defaults import MICROSECOND_NS, SECOND_NS

SPEED_SHARE = 0.9
"""Of the headline goodput: from here on a trial is up to speed."""
SOUGHT_NS = 60 * SECOND_NS
"""Only this much of the beginning is looked at."""


class SlowStartRow(TypedDict):
    """When a trial was up to speed."""

    trial_id: str
    slow_start_ns: int
    step_ns: int


def slow_starts(
    samples: ir.Table, trials: ir.Table, starts: ir.Table, headline: ir.Table, *, gapless: bool = False
) -> ir.Table:
    """Find when goodput reached 90 % of the trial's headline for the first time.

    Args:
        samples: As in an archive.
        trials: As in an archive.
        starts: From `flowsweep.analysis.binning.alignment.flow_starts`.
        headline: One row per trial: trial_id, goodput_bps (bit/s), as in a summary.
        gapless: As of `flowsweep.analysis.binning.interval_goodput.trial_intervals`.

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
    rtt_us = column_or_null(source, "min_rtt_us").nullif(RTT_UNKNOWN_US)
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
    steps = trial_intervals(early, fine, _early(starts), gapless=gapless)
    asked = fine.select("trial_id", "interval_ns").inner_join(
        headline.select("trial_id", headline_bps="goodput_bps"), "trial_id"
    )
    joined = steps.filter(steps.complete).inner_join(asked, "trial_id")
    goodput_bps = joined.bytes.cast("float64") * 8e9 / joined.interval_ns
    fast = joined.filter(goodput_bps >= SPEED_SHARE * joined.headline_bps)
    first = fast.group_by("trial_id", "interval_ns").aggregate(first_bin=fast.bin.min())
    return first.select(
        "trial_id", slow_start_ns=(first.first_bin + 1) * first.interval_ns, step_ns=first.interval_ns
    ).order_by("trial_id")


def _early(starts: ir.Table) -> ir.Table:
    """Of flows that have samples in the time that is looked at."""
    return starts.filter(starts.at_ns - starts.origin_ns < SOUGHT_NS)
