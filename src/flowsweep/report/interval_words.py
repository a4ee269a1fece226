"""What the ends beside a finding's estimate are: few are those of a 95 % interval."""

from collections.abc import Mapping
from typing import Final

from flowsweep.analysis.findings.finding import FigureKind, Finding, FindingKind
from flowsweep.analysis.tests.path.findings import REPEATS_NEEDED
from flowsweep.defaults import CONFIDENCE
from flowsweep.wording import format_margin

_LEVELS: Final = "bounds by tested levels, 95 % together,"
_BRACKETS: Mapping[FindingKind, str] = {
    "rate": "bracket of tried rates",
    "loss": "bracket of offered rates",
    "available": "bracket by trends of delays",
}
"""Kinds whose ends are rates that lie on either side, and no matter of chance."""
_OF_SEARCHES: frozenset[FigureKind] = frozenset({"search", "best"})
_OF_ALL_ENDS: Final = "lowest and highest end of the trials' own"


def interval_words(finding: Finding, confidence: float | None = None) -> str:
    """Name what stands between the ends of a finding.

    Args:
        finding: With at least one end.
        confidence: That its search was asked for, where its trials are steps of one that say so.
    """
    kind = None if finding.figure is None else finding.figure.kind
    if between_levels(finding):
        return _LEVELS
    if finding.kind in _BRACKETS:
        return _BRACKETS[finding.kind]
    if kind == "hop_capacity" and 1 < finding.n < REPEATS_NEEDED:
        return _OF_ALL_ENDS
    sure = confidence if kind in _OF_SEARCHES and confidence is not None else CONFIDENCE
    return f"{format_margin(sure)} interval"


def between_levels(finding: Finding) -> bool:
    """Whether what bounds an estimate are levels that were tested: they tell nothing of what lies between."""
    return finding.kind == "plateau" and finding.figure is not None and finding.figure.kind == "product"
