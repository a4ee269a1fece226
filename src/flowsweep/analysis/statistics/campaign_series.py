"""Goodput over the time of a campaign, with what was varied taken out."""

from dataclasses import dataclass
from datetime import datetime

import numpy as np

from flowsweep.analysis.statistics.design import Design, coded
from flowsweep.analysis.statistics.least_squares import Codes, Fit, Floats

MANY_REPEATS = 8
"""From here on the repeats themselves are the series; fewer tell too little of how much repeats differ."""
LEAST_TIME_TOLD = 0.1
"""Share of the squares of time within repeats that the points must leave."""
LEAST_TIME_WITHIN = 0.01
"""Share of the squares of time over the campaign that must lie within repeats: seven of equal length leave a
fiftieth. A slope seen within moments says nothing of the weeks between them."""


@dataclass(frozen=True, slots=True)
class CampaignSeries:
    """Values over time that are alike but for noise, if nothing changes."""

    times_s: Floats
    """(n,) since the first trial; the part that the values can tell of, see `values`."""
    values: Floats
    """(n,) natural logarithm of goodput: of a whole repeat, or of a point within its repeat."""
    blocks: Codes
    """(n,) values of one block may be exchanged for each other; all 0 where all may."""
    freedom: int
    """Degrees of freedom of the values."""
    starts_s: Floats
    """(n,) since the first trial."""
    span_s: float
    """From the first trial's start to the last's."""
    trials: tuple[str, ...]


def campaign_series(grid: Design) -> CampaignSeries | None:
    """Take out of log goodput what the plan varied.

    Args:
        grid: Of trials of one sweep and mode; goodput in bit/s.

    Returns:
        With eight repeats or more one value for each repeat, freed of the points' means: repeats may differ
        by chance, and only how they differ over time tells a change from that. With fewer one value for each
        unit, freed of the points' means and of the repeats: then a change must show within repeats, too. None
        where neither leaves degrees of freedom, where it is not known when trials began, or where each repeat
        has the points in the same order, so that time cannot be told from the points.
    """
    starts = [[row["started_at"] for row in unit.rows] for unit in grid.units]
    if not starts or any(start is None for unit in starts for start in unit):
        return None
    began = np.array([np.mean([_seconds(start) for start in unit]) for unit in starts])
    starts_s = began - began.min()
    logs, points, repeats = grid.logs, grid.codes(*grid.axes), grid.repeats
    count = int(repeats.max()) + 1
    if count >= MANY_REPEATS:
        # The roles of cells and blocks are exchanged: what is wanted are the means of the repeats.
        middle_s = np.bincount(repeats, starts_s) / np.bincount(repeats)
        values = Fit(logs, repeats, points).cell_means
        return CampaignSeries(
            times_s=middle_s - middle_s.mean(), values=values - values.mean(), starts_s=middle_s,
            blocks=np.zeros(count, dtype=np.intp), freedom=count - 1,
            span_s=float(np.ptp(starts_s)), trials=grid.trials,
        )  # fmt: skip
    fit = Fit(logs, points, repeats)
    times_s = Fit(starts_s, points, repeats).residuals
    least_told = max(
        LEAST_TIME_TOLD * _within(starts_s, repeats),
        LEAST_TIME_WITHIN * float(np.square(starts_s - starts_s.mean()).sum()),
    )
    if fit.freedom < 1 or times_s @ times_s < least_told:
        return None
    return CampaignSeries(
        times_s=times_s, values=fit.residuals, starts_s=starts_s,
        blocks=coded(repeats.tolist()), freedom=fit.freedom,
        span_s=float(np.ptp(starts_s)), trials=grid.trials,
    )  # fmt: skip


def _within(starts_s: Floats, repeats: Codes) -> float:
    """The sum of squares of starts about the mean of their repeat."""
    means = np.bincount(repeats, starts_s) / np.bincount(repeats)
    return float(np.square(starts_s - means[repeats]).sum())


def _seconds(started_at: str) -> float:
    return datetime.fromisoformat(started_at).timestamp()


def shuffled(series: CampaignSeries, generator: np.random.Generator) -> Floats:
    """Exchange the values of each block at random: as they might have come if time did not matter.

    Args:
        series: Of n values.
        generator: Draws the arrangement.

    Returns:
        (n,) natural logarithms, for a test by permutation within blocks (Good, Permutation, Parametric, and
        Bootstrap Tests of Hypotheses, 2005).
    """
    order = np.lexsort((generator.random(len(series.blocks)), series.blocks))
    at = np.argsort(series.blocks, kind="stable")
    values = np.empty_like(series.values)
    values[at] = series.values[order]
    return values
