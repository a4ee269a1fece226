"""A point whose repeats come out at two levels: the median between these is a goodput that no trial had."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.figures.grid.cells import format_range
from flowsweep.report.goodput_words import first_of_repeats
from flowsweep.wording import direction_of, format_rate

_LEAST = 0.2
"""Share of a point's repeats at either level, as of all trials in findings."""


@dataclass(frozen=True, slots=True)
class TwoLevels:
    """What stands first of the repeats of a point at either level."""

    low_bps: float
    high_bps: float
    of_low: int
    of_all: int
    least_bps: float
    most_bps: float

    def number(self, ceiling_bps: float | None) -> tuple[str, str]:
        """Both levels, and their unit: "398 or 925", "Mbit/s"; of other units the first keeps its own.

        `ceiling_bps`: what the link carries, where that is known: neither level is shown above it.
        """
        most_bps = math.inf if ceiling_bps is None else ceiling_bps
        low = format_rate(min(self.low_bps, most_bps))
        high, unit = format_rate(min(self.high_bps, most_bps)).split(" ")
        return f"{low.removesuffix(f' {unit}')} or {high}", unit

    @property
    def spread(self) -> str:
        """How many repeats are at the lower one, and what all of them carried."""
        shares = f"{self.of_low} of {self.of_all} repeats at the lower"
        return f"at two levels, {shares}, {format_range(self.least_bps, self.most_bps)}"


def modes_of(findings: Sequence[Finding]) -> list[Finding]:
    """Those of two levels that were found; their evidence is the trials at the lower one."""
    return [one for one in findings if one.kind == "modes" and one.decision == "effect"]


def two_levels(trials: Sequence[TrialRow], findings: Sequence[Finding]) -> TwoLevels | None:
    """Tell the two levels of a point, if findings say that there are two and it has a part at both.

    Args:
        trials: Of one point, all ok and with a goodput.
        findings: Of the same campaign.
    """
    first = trials[0]
    found = (
        one
        for one in modes_of(findings)
        if (one.sweep, one.mode) == (first["sweep"], first["mode"])
        and one.direction in (None, direction_of(first))
    )
    low = {trial for one in found for trial in one.evidence}
    told = [
        (bps, row["trial_id"] in low)
        for row, bps in zip(trials, first_of_repeats(trials), strict=True)
        if bps is not None
    ]
    lower, higher = ([bps for bps, is_low in told if is_low is side] for side in (True, False))
    if min(len(lower), len(higher)) < max(_LEAST * len(told), 1):
        return None
    low_bps, high_bps = median(lower), median(higher)
    middle_bps = math.sqrt(low_bps * high_bps)
    every = [*lower, *higher]
    return TwoLevels(
        low_bps, high_bps, sum(bps < middle_bps for bps in every), len(every), min(every), max(every)
    )
