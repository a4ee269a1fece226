"""A hypothesis put to a campaign: everything a finding says, but what was decided."""

from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import NamedTuple, Self

from flowsweep.analysis.findings.finding import Decision, FigureKey, FigureKind, FindingKind
from flowsweep.analysis.findings.sentences import WIDEST, percent
from flowsweep.analysis.statistics.observations import Scope


class Estimate(NamedTuple):
    """How large an effect is, with ends as `Finding.interval_low` has them; null where there is no number."""

    effect: float | None = None
    unit: str | None = None
    """As `Finding.effect_unit`."""
    low: float | None = None
    high: float | None = None

    @classmethod
    def in_percent(cls, logs: Iterable[float] | None) -> Self:
        """Turn a natural logarithm and the ends of its interval into a change in percent.

        Nothing of none, and of an interval that reaches to a millionth or the millionfold.
        """
        values = () if logs is None else tuple(logs)
        if not values or max(map(abs, values)) > WIDEST:
            return cls()
        effect, low, high = map(percent, values)
        return cls(effect, "%", low, high)


NO_ESTIMATE = Estimate()


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A hypothesis with its estimate. Whether there is an effect is decided over all hypotheses together.

    A hypothesis that may claim an effect has a p-value, and Holm's correction counts it. One without only
    describes: nothing that could be a matter of chance may be claimed in it.
    """

    kind: FindingKind
    scope: Scope
    """The trials that it is about."""
    claim: str | Callable[[Decision], str]
    """The sentence for each decision; one that only describes is asked for "described"."""
    evidence: tuple[str, ...]
    """trial_id of the trials that show it."""
    estimate: Estimate = NO_ESTIMATE
    _: KW_ONLY
    method: str
    figure: FigureKind | FigureKey | None = None
    """Which figure shows it; of a kind alone that of `scope`."""
    axis: str | None = None
    trials: int | None = None
    """How many the answer rests on; absent: as many as are its evidence."""
    p_value: float | None = None
    """Of "there is no effect", not corrected."""
    untestable: bool = False
    """It would have been tested, but there are too few trials: undecided, and no part of the correction."""
    within_margin: bool = False
    """Whether whatever effect there may be lies within the margin of practical equivalence, with 95 %
    confidence."""
    shown: bool = True
    """Whether it makes a finding. One of which another finding says the answer makes none; it counts in the
    correction all the same, since that was not known before."""
    second_opinion: Callable[[], float] | None = None
    """A p-value by another way, as by permutation. Asked for only where an effect would be claimed; if it
    does not bear the claim out, the hypothesis stays undecided."""
    since: tuple[tuple[str, ...], ...] = ()
    """Of a step, or of two: trial_id of all trials since each, in the order of time; none where there may be
    no step."""
    second_method: str = "permutation within blocks"
    """How `second_opinion` is found."""

    def say(self, decision: Decision) -> str:
        """Return the sentence for a decision."""
        return self.claim if isinstance(self.claim, str) else self.claim(decision)

    @property
    def n(self) -> int:
        """Trials that the answer rests on."""
        return len(self.evidence) if self.trials is None else self.trials

    @property
    def figure_key(self) -> FigureKey | None:
        """The figure that shows it."""
        if self.figure is None or isinstance(self.figure, FigureKey):
            return self.figure
        return FigureKey(self.figure, *self.scope)


unrepeated = partial(Hypothesis, method="none: nothing tells the noise", untestable=True)
"""One that stays undecided, since points ran once."""

over_time = partial(Hypothesis, axis="started_at", figure="time_series")
"""One on how goodput changed over the campaign."""
