"""The goodput of each trial, from its exact intervals."""

import ibis
import ibis.expr.types as ir

from flowsweep.analysis.ranks import tenfold_decile


def trial_goodputs(totals: ir.Table, trials: ir.Table) -> ir.Table:
    """Per trial with complete intervals: how many, and the distribution of goodput over them."""
    complete = totals.filter(totals.complete).inner_join(trials.select("trial_id", "interval_ns"), "trial_id")
    collected = complete.group_by("trial_id", "interval_ns").aggregate(
        bins=complete.count(),
        complete_bytes=complete.bytes.sum().cast("int64"),
        bytes=complete.bytes.collect(),
    )
    ordered = collected.mutate(bytes=collected.bytes.sort())
    counts = ordered.mutate(
        **{f"tenfold_{decile}": tenfold_decile(ordered.bytes, decile=decile) for decile in (1, 5, 9)}
    )

    def rate(count: ir.IntegerValue, per: ir.IntegerValue) -> ir.FloatingValue:
        return count.cast("float64") * 8e9 / (per * counts.interval_ns)

    ten = ibis.literal(10, "int64")
    return counts.select(
        "trial_id",
        "bins",
        goodput_bps=rate(counts.tenfold_5, ten),
        goodput_p10_bps=rate(counts.tenfold_1, ten),
        goodput_p90_bps=rate(counts.tenfold_9, ten),
        goodput_mean_bps=rate(counts.complete_bytes, counts.bins),
    )
