"""What parts of the way teach: which of disks and network the whole way is bound by."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np
import scipy

from flowsweep.analysis.axes import AXIS_NAMES, level_of, level_words
from flowsweep.analysis.findings.finding import Decision, FigureKey
from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.findings.outliers import standing_out
from flowsweep.analysis.statistics.design import design
from flowsweep.analysis.statistics.intervals import half_width
from flowsweep.analysis.statistics.observations import Scope, carried, observations, trial_ids
from flowsweep.analysis.statistics.repeat_noise import repeat_noise
from flowsweep.analysis.statistics.usual_trials import fit_of_repeats
from flowsweep.analysis.summarising.trial_row import TrialRow, goodput_of
from flowsweep.analysis.tests.file.words import from_disk_to_disk
from flowsweep.analysis.verdicts import MOST, STAGES_AT_ONCE
from flowsweep.axes import PART
from flowsweep.defaults import EQUIVALENCE_MARGIN, FEWEST_FOR_INTERVAL, SIGNIFICANCE
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
    "geometric mean of the goodput of each part of the way, without trials that stand out; "
    "Welch's t test of the logarithms of the lowest bound and each other one, the largest p; of one whose "
    "every trial is far above, its least trial against the lowest bound's, if that p is less; "
    "Welch's interval of whole / lowest bound; trials taken as independent"
)

_CLEAR = SIGNIFICANCE / 50
"""p of a part that is shown to be above the lowest, whatever else of a campaign is tested, as a rule."""


@dataclass(frozen=True, slots=True)
class _Part:
    """The trials of one part at one point."""

    name: str
    rows: tuple[TrialRow, ...]
    """Without those that stand out."""
    left_out: int

    @property
    def logs(self) -> list[float]:
        """Natural logarithms of their goodputs."""
        return [math.log(goodput_of(row)) for row in self.rows]

    @property
    def mean_bps(self) -> float:
        """Their geometric mean, which is what is tested."""
        return math.exp(fmean(self.logs))

    def rate(self) -> str:
        """The mean in words, with its interval where there are trials enough."""
        if len(self.rows) < FEWEST_FOR_INTERVAL:
            return format_rate(self.mean_bps)
        width = half_width(math.sqrt(_spread(self.logs)), len(self.rows) - 1)
        low, high = (self.mean_bps * math.exp(side * width) for side in (-1, 1))
        return with_interval(format_rate, self.mean_bps, low, high)


def bound_hypotheses(
    summary: Sequence[TrialRow], since: Collection[str] = (), *, margin: float = EQUIVALENCE_MARGIN
) -> list[Hypothesis]:
    """Ask of each point with the whole way and parts of it which part bounds it.

    Args:
        summary: Rows of a campaign.
        since: trial_id of those since steps in goodput, if there were some: trials stand out from their
            repeats on the same side.
        margin: Of practical equivalence, relative.

    Returns:
        One hypothesis for each direction and point with trials of the whole way and of a part. With two parts
        or more it is tested whether the lowest is below each other one; the effect is whole / lowest (unit
        "1"). Trials that stand out from their repeats are left out, as a sentence says.
    """
    return [
        _hypothesis(place, parts, margin)
        for place, parts in _points(summary, since).items()
        if _WHOLE in parts and len(parts) > 1
    ]


def parts_hold_each_other_up(rows: Sequence[TrialRow]) -> bool:
    """Tell whether files got across slower than through any part of the way alone.

    Args:
        rows: Of a single point, of the whole way and parts of it, without trials that stand out.

    Returns:
        What `bound_hypotheses` says of the same trials: then a faster part gains nothing.
    """
    good = [row for row in rows if carried(row)]
    parts = {name: _Part(name, tuple(own), 0) for name, own in grouped(good, _name_of).items()}
    return _WHOLE in parts and bool(_together(parts[_WHOLE], _bounds(parts)))


_Place = tuple[Scope, tuple[tuple[str, object], ...]]


def _points(summary: Sequence[TrialRow], since: Collection[str]) -> dict[_Place, dict[str, _Part]]:
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

    unusual = _standing_out(good, since)
    return {
        place: {name: _part(name, rows, unusual) for name, rows in grouped(own, _name_of).items()}
        for place, own in grouped(good, place_of).items()
    }


def _standing_out(rows: Sequence[TrialRow], since: Collection[str]) -> frozenset[str]:
    """Name the trials that stand out from their repeats."""
    sides = dict.fromkeys(since, 1)
    noises = (
        repeat_noise(design(replace(observed, sides=sides), paired=False)) for observed in observations(rows)
    )
    return frozenset(
        noise.rows[place]["trial_id"]
        for noise in noises
        if noise is not None and (found := fit_of_repeats(noise)) is not None
        for place in standing_out(noise, found)
    )


def _name_of(row: TrialRow) -> str:
    return row["mode"] or _WHOLE


def _bounds(parts: Mapping[str, _Part]) -> list[_Part]:
    """Parts of the whole way, the lowest first."""
    return sorted((parts[name] for name in _BOUNDS if name in parts), key=lambda part: part.mean_bps)


def _part(name: str, rows: Sequence[TrialRow], unusual: frozenset[str]) -> _Part:
    usual = tuple(row for row in rows if row["trial_id"] not in unusual)
    return _Part(name, usual or tuple(rows), len(rows) - len(usual) if usual else 0)


def _hypothesis(place: _Place, parts: dict[str, _Part], margin: float) -> Hypothesis:
    scope, varied = place
    whole = parts[_WHOLE]
    bounds = _bounds(parts)
    lowest, others = bounds[0], bounds[1:]
    ratio, low, high = _ratio(whole, lowest)
    p_value, rivals = _below_each(lowest, others)
    alike = bool(rivals) and all(_alike(lowest, rival, margin) for rival in rivals)
    levels = [f"{AXIS_NAMES[axis]} {level_words(axis, level)}" for axis, level in varied]
    where = f"{scope.direction}{', ' if levels else ''}{', '.join(levels)}"
    share = with_interval(format_share, ratio, low, high)
    end = f"{_together(whole, bounds)}{_left_out((whole, *bounds))}"
    go = "go from disk to disk" if all(map(from_disk_to_disk, whole.rows)) else "get across"

    def claim(decision: Decision) -> str:
        reached = f"{where}: files {go} at {whole.rate()}, {share} of the lowest bound"
        least = f"{_BOUNDS[lowest.name]}, {lowest.rate()}"
        if not others:
            return f"{reached} that was measured: {least}.{end}"
        if decision == "effect":
            return f"{reached}: {least}.{_given(others)}{end}"
        *first, final = (f"{_BOUNDS[part.name]} ({part.rate()})" for part in (lowest, *rivals))
        which = f"{', '.join(first)} or {final}"
        last = f"{_given([part for part in others if part not in rivals])}{end}"
        if decision == "no practical effect":
            they = "they differ" if len(rivals) == 1 else "the others differ from the first"
            return f"{reached}, which is {which}: {they} by no more than {format_margin(margin)}.{last}"
        return f"{reached}; whether that is {which} is undecided.{last}"

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


def _given(parts: Sequence[_Part]) -> str:
    """Say what parts that are not the lowest carry."""
    said = "; ".join(
        f"{_BOUNDS[part.name]} gives {part.rate()}{' (1 trial)' if len(part.rows) == 1 else ''}"
        for part in parts
    )
    return f" {said[0].upper()}{said[1:]}." if said else ""


def _left_out(parts: Sequence[_Part]) -> str:
    """Say how many trials have no part in it, and of what."""
    names = {_WHOLE: "the whole way"} | _BOUNDS
    said = [f"{part.left_out} of {names[part.name]}" for part in parts if part.left_out]
    return f" Trials that stand out from their repeats are left out: {', '.join(said)}." if said else ""


def _together(whole: _Part, parts: Sequence[_Part]) -> str:
    """Say that no part alone holds the whole up, where that is shown of each, or plain though not shown."""
    shares = [_ratio(whole, part) for part in parts]
    less = (ratio < MOST if high is None else high < STAGES_AT_ONCE for ratio, _, high in shares)
    if len(parts) < len(_BOUNDS) or not all(less):
        return ""
    few = ", as far as so few trials tell" if any(high is None for _, _, high in shares) else ""
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
    found = _difference(whole, bound)
    if found is None or min(len(whole.rows), len(bound.rows)) < FEWEST_FOR_INTERVAL:
        return whole.mean_bps / bound.mean_bps, None, None
    difference, error, freedom = found
    width = half_width(error, freedom)
    return math.exp(difference), math.exp(difference - width), math.exp(difference + width)


def _below_each(lowest: _Part, others: Sequence[_Part]) -> tuple[float | None, list[_Part]]:
    """P of "the lowest is no lower than some other one", two-sided, and those of which it may be so.

    The largest p counts, since the lowest must be below each other one (intersection-union: Berger 1982).
    Which is the lowest was chosen from what is tested, so that one side would be too few. None without
    repeats of a part. Others of a campaign are tested, too, by how many p is multiplied is not known here.
    """
    p_values = [_p_below(lowest, other) for other in others]
    if not p_values:
        return None, []
    known = [1.0 if p_value is None else p_value for p_value in p_values]
    rivals = [
        other
        for other, p_value in zip(others, known, strict=True)
        if p_value >= (SIGNIFICANCE if _is_far(lowest, other) else _CLEAR) or p_value == max(known)
    ]
    return None if None in p_values else max(known), rivals


def _is_far(lowest: _Part, other: _Part) -> bool:
    """Whether each trial carried far more than any of the lowest: it may scatter, but only upwards."""
    return max(lowest.logs) - min(other.logs) < math.log(MOST)


def _p_below(lowest: _Part, other: _Part) -> float | None:
    """Two-sided; None of a part without repeats, unless it is the other one, and far above."""
    found = _difference(lowest, other)
    p_value = None
    if found is not None:
        difference, error, freedom = found
        p_value = float(2 * scipy.stats.t.sf(abs(difference) / error, freedom))
    count = len(lowest.rows)
    if count < 2 or not _is_far(lowest, other):
        return p_value
    error = math.sqrt(_spread(lowest.logs) * (count + 1))
    of_least = float(2 * scipy.stats.t.sf((min(other.logs) - fmean(lowest.logs)) / error, count - 1))
    return of_least if p_value is None else min(of_least, p_value)


def _alike(first: _Part, second: _Part, margin: float) -> bool:
    """Whether two parts are shown to be within the margin of each other."""
    found = _difference(first, second)
    if found is None:
        return False
    difference, error, freedom = found
    width = half_width(error, freedom)
    return max(abs(difference - width), abs(difference + width)) <= math.log1p(margin)
