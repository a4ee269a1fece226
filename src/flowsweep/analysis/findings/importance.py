"""In which order findings are shown: the most important first, and no kind crowding out the others."""

from collections import Counter
from collections.abc import Iterable
from operator import itemgetter
from typing import get_args

from flowsweep.analysis.findings.finding import Decision, Finding, FindingKind
from flowsweep.analysis.findings.last_trials import tells_last_trials

_KINDS: tuple[FindingKind, ...] = get_args(FindingKind)
_HEADLINES = frozenset(_KINDS[: _KINDS.index("plateau") + 1])
"""What a person came for: shown before the rest unless undecided, tested or not."""
_RANK: dict[Decision, int] = {"effect": 0, "no practical effect": 1, "described": 2, "undecided": 3}


def most_important_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Order findings: of each kind and axis one for both directions, then the next ones of each."""
    before: Counter[tuple[object, ...]] = Counter()
    rounds: list[tuple[int, Finding]] = []
    for finding in sorted(findings, key=_importance):
        same = (finding.kind, finding.axis, finding.decision == "undecided")
        rounds.append((before[same] // 2, finding))
        before[same] += 1
    return tuple(finding for _, finding in sorted(rounds, key=itemgetter(0)))


def _importance(finding: Finding) -> tuple[float, ...]:
    headline = finding.kind in _HEADLINES and finding.decision != "undecided"
    size = abs(finding.effect) if finding.effect is not None and finding.effect_unit == "%" else 0.0
    first = -size if finding.decision == "effect" else 0.0
    if tells_last_trials(finding):  # whatever was measured, it is over
        return (-3,)
    if finding.kind in ("emulation", "empty"):  # they say what all others are not about
        return (-2 if finding.kind == "emulation" else -1,)
    return (0 if headline else 1, _RANK[finding.decision], first, _KINDS.index(finding.kind), -size)
