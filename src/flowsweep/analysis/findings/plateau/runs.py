"""Neighbouring levels against others: what hypotheses of a dip and of a decline have in common."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from flowsweep.analysis.findings.finding import Decision
from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.findings.plateau.apart import told_apart
from flowsweep.analysis.findings.plateau.sentences import FEWEST_LEVELS, tried
from flowsweep.analysis.findings.sentences import percent
from flowsweep.analysis.statistics.level_means import LevelMeans
from flowsweep.analysis.statistics.observations import Observations, trial_ids
from flowsweep.defaults import SIGNIFICANCE
from flowsweep.wording import counted, format_change, format_share

LONGEST = 3
"""Neighbouring levels that one run may span."""


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring window sums, or numbers of flows, `first` to `last`: the most telling that may be."""

    means: LevelMeans
    first: int
    last: int
    change: tuple[float, float, float]
    """Between them and others: natural logarithm, below 0 for a dip or decline, and its interval."""
    seen: bool
    """Whether there is a dip or a decline at all, beyond chance or not."""
    p_value: float
    at_most: float
    """How deep one may be anywhere, with 95 % confidence: natural logarithm."""
    candidates: int
    """Runs that it was chosen from."""
    margin: float
    shown: bool = True
    """As `Hypothesis.shown`."""

    def at(self, level: int) -> str:
        """Write a level."""
        return tried(self.means, level)

    @property
    def levels(self) -> str:
        """Its first and its last level in words."""
        return " … ".join(dict.fromkeys((self.at(self.first), self.at(self.last))))

    @property
    def within_margin(self) -> bool:
        """Whether none is deeper than the margin, with 95 % confidence."""
        return self.at_most <= -math.log1p(-self.margin)

    @property
    def bound(self) -> str:
        """How deep one may be anywhere, in words after a sentence; nothing where none can be."""
        return f" (at most {format_share(-math.expm1(-self.at_most))})" if self.at_most > 0 else ""

    @property
    def difference(self) -> str:
        """The change of goodput in words."""
        return format_change(*(percent(value) for value in self.change))

    @property
    def why_undecided(self) -> str:
        """Why nothing is claimed of it, in words: it may be chance, by itself or as one of many."""
        if self.p_value >= SIGNIFICANCE:
            return "it may be chance"
        return (
            f"by itself that is beyond chance (p = {self.p_value:.2g}), corrected for all that was tested it "
            "may be chance"
        )


def run_hypotheses(
    kind: Literal["dip", "decline"],
    observed: Observations,
    compared: Sequence[LevelMeans],
    most_telling: Callable[[LevelMeans], Run],
    say: Callable[[Run, Decision], str],
    method: str,
) -> list[Hypothesis]:
    """Put a hypothesis on the most telling run of levels, for each with at least three levels.

    Args:
        kind: What is sought.
        observed: Trials of one sweep and mode; goodput in bit/s.
        compared: From `split_by_interaction`.
        most_telling: Chooses among the runs.
        say: The sentence for each decision.
        method: In words, with places for `freedom` and the number of `runs` or `tops` that it is chosen from.
    """
    return [
        Hypothesis(
            kind,
            observed.scope(means.direction),
            partial(say, run),
            trial_ids(means.rows),
            Estimate.in_percent(run.change if run.seen else None),
            axis=means.axis,
            p_value=run.p_value,
            within_margin=run.within_margin,
            shown=run.shown,
            method=method.format(
                freedom=counted(means.fit.freedom, "degree"),
                runs=counted(run.candidates, "run"),
                tops=counted(run.candidates, "top"),
            )
            + told_apart(means),
            figure="product",
        )
        for means in compared
        if len(means.levels) >= FEWEST_LEVELS and means.fit is not None
        for run in [most_telling(means)]
    ]
