"""A hypothesis put to a campaign: everything a finding says, but what was decided."""

from collections.abc import Callable
from dataclasses import dataclass

from flowsweep.analysis.findings.finding import Decision, FigureKey, FindingKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Hypothesis:
    """A hypothesis with its estimate. Whether there is an effect is decided over all hypotheses together.

    A hypothesis that may claim an effect has a p-value, and Holm's correction counts it. One without only
    describes: nothing that could be a matter of chance may be claimed in it.
    """

    kind: FindingKind
    sweep: str
    mode: str | None
    say: Callable[[Decision], str]
    """The sentence for each decision; one that only describes is asked for "described"."""
    n: int
    """Trials that the answer rests on."""
    method: str
    direction: str | None = None
    axis: str | None = None
    effect: float | None = None
    """In `effect_unit`, as are the ends of its 95 % interval."""
    effect_unit: str | None = None
    interval_low: float | None = None
    interval_high: float | None = None
    p_value: float | None = None
    """Of "there is no effect", not corrected."""
    untestable: bool = False
    """It would have been tested, but there are too few trials: undecided, and no part of the correction."""
    within_margin: bool = False
    """Whether whatever effect there may be lies within the margin of practical equivalence, with 95 %
    confidence."""
    second_opinion: Callable[[], float] | None = None
    """A p-value by another way, as by permutation. Asked for only where an effect would be claimed; if it
    does not bear the claim out, the hypothesis stays undecided."""
    evidence: tuple[str, ...] = ()
    figure: FigureKey | None = None
