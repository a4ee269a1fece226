"""Trials that carried nothing, and repeats of the highest goodput far below their median."""

from collections.abc import Iterator, Sequence
from statistics import median

from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.defaults import SLOW_SHARE
from flowsweep.report.goodput_words import first_of_repeats
from flowsweep.report.two_levels import two_levels
from flowsweep.wording import counted

_FEWEST_OF_A_POINT = 3
_BEHIND = "behind the highest goodput"


def unlike_repeats(
    trials: Sequence[TrialRow], points: Sequence[Sequence[TrialRow]], findings: Sequence[Finding]
) -> Iterator[str]:
    """Say how many trials carried nothing, and how many of those shown carried little.

    Args:
        trials: Rows of a summary.
        points: Of these, the repeats of each point that is shown; all ended ok and have a goodput.
        findings: Of the same campaign: the two levels of a point are told elsewhere.
    """
    empty = sum(map(_is_empty, trials))
    shown = [row for own in points for row in own]
    if empty:
        behind = sum(map(_is_empty, shown))
        told = max(len(shown), empty) < len(trials)
        of_these = f"; of the {len(shown)} {_BEHIND} {behind or 'none'} did" if told else ""
        yield f"{empty} of {counted(len(trials), 'trial')} carried nothing, 0 bit/s{of_these}."
    slow = sum(_slow(own) for own in points if two_levels(own, findings) is None)
    if slow:
        its = "its median" if len(points) == 1 else "the median of their direction"
        others = ", and more than nothing" if empty else ""
        of = f"{slow} of the {counted(len(shown), 'trial')} {_BEHIND}"
        yield f"{of} carried less than half of {its}{others}."


def _is_empty(row: TrialRow) -> bool:
    return row["status"] == "ok" and row["goodput_bps"] == 0


def _slow(own: Sequence[TrialRow]) -> int:
    """Repeats of a point that carried something, and less than half of what stands first of the point."""
    told = [found for found in first_of_repeats(own) if found is not None]
    if len(told) < _FEWEST_OF_A_POINT:
        return 0
    return sum(0 < found < SLOW_SHARE * median(told) for found in told)
