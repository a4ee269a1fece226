"""Percentiles of what engines counted in steps."""

from collections.abc import Mapping, Sequence

import ibis
import ibis.expr.types as ir


def percentiles(histograms: ir.Table, keys: Sequence[str], shares: Mapping[str, int]) -> ir.Table:
    """Find percentiles of histograms that belong together, all their steps joined.

    Args:
        histograms: As in an archive, of one quantity.
        keys: Columns; what is alike in them belongs together.
        shares: Names of the percentiles, and which they are, in per cent.

    Returns:
        One row for each combination of the keys: these, and each percentile (float64, in the quantity's
        unit), null where nothing was counted.

    Method:
        The nearest rank (Hyndman and Fan, 1996, definition 1), and of the step that it falls into the middle
        of the whole numbers in it, so that it is off by at most half a step.
    """
    counts = histograms["count"].sum().cast("int64")
    steps = histograms.group_by(*keys, "low", "high").aggregate(counted=counts)
    through = ibis.window(group_by=list(keys), order_by="low", preceding=None, following=0)
    whole = ibis.window(group_by=list(keys))
    ranked = steps.mutate(
        middle=(steps.low + steps.high - 1).cast("float64") / 2,
        reached=steps.counted.sum().over(through),
        total=steps.counted.sum().over(whole),
    )

    def value(share: int) -> ir.FloatingValue:
        enough = ranked.reached * 100 >= ranked.total * share
        return ranked.middle.min(where=enough & (ranked.counted > 0))

    return ranked.group_by(*keys).aggregate(**{name: value(share) for name, share in shares.items()})
