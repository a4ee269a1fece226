"""What parts of the way teach: which of disks and network the whole way is bound by."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
import scipy

from flowsweep.analysis.axes import AXIS_NAMES, level_of, level_words
from flowsweep.analysis.findings.finding import Decision, FigureKey
from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.statistics.intervals import half_width
from flowsweep.analysis.statistics.observations import Scope, carried, trial_ids
from flowsweep.analysis.summarising.trial_row import TrialRow, goodput_of
from flowsweep.analysis.tests.file.words import from_disk_to_disk
from flowsweep.analysis.verdicts import MOST, STAGES_AT_ONCE
from flowsweep.axes import PART
from flowsweep.defaults import EQUIVALENCE_MARGIN, FEWEST_FOR_INTERVAL
from flowsweep.grouping import grouped
from flowsweep.scatter import LEAST_SPREAD_OF_FEW
from flowsweep.wording import direction, format_margin, format_rate, format_share, with_interval

_WHOLE = "whole"
_BOUNDS = {
    "read": "the source's storage alone",
    "network": "the network alone",
    "write": "the sink's storage alone",
}
"""What each part of the way is, as trials of it measure it."""
_METHOD = (
    "mean goodput of each part of the way; Welch's t test of the logarithms of the two lowest bounds; "
    "Welch's interval of whole / lowest bound; trials taken as independent"
)


@dataclass(frozen=True, slots=True)
class _Part:
    """The trials of one part at one point."""

    name: str
    rows: tuple[TrialRow, ...]

    @property
    def logs(self) -> list[float]:
        """Natural logarithms of their goodputs."""
        return [math.log(goodput_of(row)) for row in self.rows]

    @property
    def mean_bps(self) -> float:
        """Their mean goodput."""
        return fmean(map(goodput_of, self.rows))

    def rate(self) -> str:
        """The mean in words, with its interval where there are trials enough."""
        if len(self.rows) < FEWEST_FOR_INTERVAL:
            return format_rate(self.mean_bps)
        width = half_width(math.sqrt(_spread(self.logs)), len(self.rows) - 1)
        low, high = (self.mean_bps * math.exp(side * width) for side in (-1, 1))
        return with_interval(format_rate, self.mean_bps, low, high)


def bound_hypotheses(summary: Sequence[TrialRow], *, margin: float = EQUIVALENCE_MARGIN) -> list[Hypothesis]:
    """Ask of each point with the whole way and parts of it which part bounds it.

    Args:
        summary: Rows of a campaign.
        margin: Of practical equivalence, relative.

    Returns:
        One hypothesis for each direction and point with trials of the whole way and of a part. With two parts
        or more it is tested whether the lowest is below the next; the effect is whole / lowest (unit "1").
    """
    return [
        _hypothesis(place, parts, margin)
        for place, parts in _points(summary).items()
        if _WHOLE in parts and len(parts) > 1
    ]


_Place = tuple[Scope, tuple[tuple[str, object], ...]]


def _points(summary: Sequence[TrialRow]) -> dict[_Place, dict[str, _Part]]:
    """Trials of files with a goodput, by direction and point, then by part."""
    good = [row for row in summary if row["test"] in PART.tests and carried(row)]

    def place_of(row: TrialRow) -> _Place:
        where = direction(row["src"], row["dst"], simultaneous=row["simultaneous"])
        varied = tuple(
            (axis, level_of(row, axis))
            for axis in AXIS_NAMES
            if len({level_of(other, axis) for other in good if other["sweep"] == row["sweep"]}) > 1
        )
        return Scope(row["sweep"], _WHOLE, where), varied

    return {
        place: {
            name: _Part(name, tuple(rows))
            for name, rows in grouped(own, lambda row: row["mode"] or _WHOLE).items()
        }
        for place, own in grouped(good, place_of).items()
    }


def _hypothesis(place: _Place, parts: dict[str, _Part], margin: float) -> Hypothesis:
    scope, varied = place
    whole = parts[_WHOLE]
    bounds = sorted((parts[name] for name in _BOUNDS if name in parts), key=lambda part: part.mean_bps)
    lowest, others = bounds[0], bounds[1:]
    ratio, low, high = _ratio(whole, lowest)
    p_value, alike = _below(lowest, others[0], margin) if others else (None, False)
    levels = [f"{AXIS_NAMES[axis]} {level_words(axis, level)}" for axis, level in varied]
    where = f"{scope.direction}{', ' if levels else ''}{', '.join(levels)}"
    share = with_interval(format_share, ratio, low, high)
    together = _together(bounds, ratio, high)
    go = "go from disk to disk" if all(map(from_disk_to_disk, whole.rows)) else "get across"

    def claim(decision: Decision) -> str:
        reached = f"{where}: files {go} at {whole.rate()}, {share} of the lowest bound"
        given = "; ".join(f"{_BOUNDS[part.name]} gives {part.rate()}" for part in others)
        least = f"{_BOUNDS[lowest.name]}, {lowest.rate()}"
        if not others:
            return f"{reached} that was measured: {least}.{together}"
        if decision == "effect":
            return f"{reached}: {least}. {given[0].upper()}{given[1:]}.{together}"
        next_words = (
            f"{_BOUNDS[lowest.name]} ({lowest.rate()}) or {_BOUNDS[others[0].name]} ({others[0].rate()})"
        )
        rest = "; ".join(f"{_BOUNDS[part.name]} gives {part.rate()}" for part in others[1:])
        last = f" {rest[0].upper()}{rest[1:]}." if rest else ""
        if decision == "no practical effect":
            alike_words = f"they differ by no more than {format_margin(margin)}"
            return f"{reached}, which is {next_words}: {alike_words}.{last}{together}"
        return f"{reached}; whether that is {next_words} is undecided.{last}{together}"

    return Hypothesis(
        "bounds",
        scope,
        claim,
        trial_ids(row for part in (whole, *bounds) for row in part.rows),
        Estimate(ratio, "1", low, high),
        method=_METHOD,
        figure=FigureKey("stages", *scope),
        p_value=p_value,
        untestable=bool(others) and p_value is None,
        within_margin=alike,
    )


def _together(parts: Sequence[_Part], ratio: float, high: float | None) -> str:
    """Say that no part alone holds the whole up, where that is shown, or plain though not shown."""
    if len(parts) < len(_BOUNDS) or (ratio >= MOST if high is None else high >= STAGES_AT_ONCE):
        return ""
    few = "" if high is not None else ", as far as so few trials tell"
    return f" That is less than any part alone{few}: they wait for each other, or share a disk or a CPU."


def _spread(logs: Sequence[float]) -> float:
    """Variance of the mean."""
    return max(float(np.std(logs, ddof=1)), LEAST_SPREAD_OF_FEW) ** 2 / len(logs)


def _difference(first: _Part, second: _Part) -> tuple[float, float, float] | None:
    """Mean difference of logarithms, its error and degrees of freedom; None without repeats of both."""
    if min(len(first.rows), len(second.rows)) < 2:
        return None
    logs = first.logs, second.logs
    spreads = [_spread(own) for own in logs]
    freedom = sum(spreads) ** 2 / sum(
        spread**2 / (len(own) - 1) for spread, own in zip(spreads, logs, strict=True)
    )
    return fmean(logs[0]) - fmean(logs[1]), math.sqrt(sum(spreads)), freedom


def _ratio(whole: _Part, bound: _Part) -> tuple[float, float | None, float | None]:
    """Return whole / bound, with its interval where there are trials enough."""
    ratio = whole.mean_bps / bound.mean_bps
    found = _difference(whole, bound)
    if found is None or min(len(whole.rows), len(bound.rows)) < FEWEST_FOR_INTERVAL:
        return ratio, None, None
    difference, error, freedom = found
    width = half_width(error, freedom)
    return math.exp(difference), math.exp(difference - width), math.exp(difference + width)


def _below(lowest: _Part, following: _Part, margin: float) -> tuple[float | None, bool]:
    """P of "the lowest two are alike", two-sided, and whether they are within the margin of each other.

    Which is the lowest was chosen from what is tested, so that one side would be too few.
    """
    found = _difference(lowest, following)
    if found is None:
        return None, False
    difference, error, freedom = found
    width = half_width(error, freedom)
    alike = max(abs(difference - width), abs(difference + width)) <= math.log1p(margin)
    return float(2 * scipy.stats.t.sf(abs(difference) / error, freedom)), alike
