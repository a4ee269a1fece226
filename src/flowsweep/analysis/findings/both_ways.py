"""What traffic both ways at once costs a direction, against the same settings one way at a time."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean

import scipy

from flowsweep.analysis.axes import AXIS_NAMES, level_of, setting_axes, setting_words
from flowsweep.analysis.background.words import background_names
from flowsweep.analysis.findings.finding import Decision, FigureKey
from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.findings.sentences import percent
from flowsweep.analysis.statistics.intervals import half_width
from flowsweep.analysis.statistics.observations import DIRECTION, Observations, ObservedRow, Scope, trial_ids
from flowsweep.analysis.summarising.trial_row import goodput_of
from flowsweep.defaults import EQUIVALENCE_MARGIN, FEWEST_FOR_INTERVAL
from flowsweep.grouping import grouped
from flowsweep.scatter import LEAST_SPREAD
from flowsweep.wording import counted, format_change, format_margin, format_rate, rounds_to_nothing


@dataclass(frozen=True, slots=True)
class _Compared:
    """A direction at one setting, in the repeats that have it both ways at once and one way at a time."""

    apart: tuple[ObservedRow, ...]
    at_once: tuple[ObservedRow, ...]
    logs: tuple[float, ...]
    """Of goodput both ways at once to that one way at a time, of each repeat."""

    def estimate(self, settings: int) -> tuple[float, float, float]:
        """Natural logarithm, and the ends of its interval, with that of all `settings` right together."""
        mean = fmean(self.logs)
        half = half_width(self._error, len(self.logs) - 1, comparisons=settings)
        return mean, mean - half, mean + half

    @property
    def p_value(self) -> float:
        """Of "no change", two-sided."""
        return 2 * float(scipy.stats.t.sf(abs(fmean(self.logs)) / self._error, len(self.logs) - 1))

    @property
    def _error(self) -> float:
        return max(float(scipy.stats.sem(self.logs)), LEAST_SPREAD / math.sqrt(len(self.logs)))


def both_ways_hypotheses(
    campaign: Sequence[Observations],
    *,
    asked_bps: Mapping[str, int] | None = None,
    margin: float = EQUIVALENCE_MARGIN,
) -> Iterator[Hypothesis]:
    """Ask of each direction that ran alone and with the other at once how its goodput differs.

    Args:
        campaign: Trials of each sweep and mode; goodput in bit/s.
        asked_bps: What the traffic beside each trial is asked to send (`background_asked_bps`).
        margin: Of practical equivalence, relative.

    Yields:
        One hypothesis for each direction with a setting, alike in all axes and in what ran beside, names,
        flows and rate, that ran in both ways in three repeats: of several settings for the one that differs
        most beyond what its repeats scatter by, that of the least p. The effect is in percent of goodput one
        way at a time.

    Method:
        Mean log goodput of each repeat, paired differences, Student's t, Bonferroni over settings, for p and
        for the interval.
    """
    rows = [(observed.mode, row) for observed in campaign for row in observed.rows]
    for (mode, *_), own in grouped(rows, lambda one: (one[0], one[1]["src"], one[1]["dst"])).items():
        settings = grouped((row for _, row in own), partial(_setting, asked_bps or {})).values()
        compared = [found for setting in settings if (found := _compared(setting)) is not None]
        if compared:
            most = min(compared, key=lambda one: (one.p_value, -abs(fmean(one.logs))))
            yield _hypothesis(
                mode, most, _place(most, own) if len(compared) > 1 else "", len(compared), margin
            )


def _place(most: _Compared, own: Sequence[tuple[str | None, ObservedRow]]) -> str:
    """Name the setting among those of its direction: " (1 flow)"."""
    named = setting_words(most.apart[0], setting_axes([row for _, row in own]))
    return f" ({named})" if named else ""


def _setting(asked_bps: Mapping[str, int], row: ObservedRow) -> tuple[object, ...]:
    beside = (background_names(row), row.get("flows_beside"), asked_bps.get(row["trial_id"]))
    return (row.get("test"), *beside, *(level_of(row, axis) for axis in AXIS_NAMES))


def _compared(rows: Sequence[ObservedRow]) -> _Compared | None:
    at_once, apart = (
        _by_repeat([row for row in rows if bool(row["simultaneous"]) is way]) for way in (True, False)
    )
    both = [repeat for repeat in at_once if repeat in apart]
    if len(both) < FEWEST_FOR_INTERVAL:
        return None
    return _Compared(
        apart=tuple(row for repeat in both for row in apart[repeat]),
        at_once=tuple(row for repeat in both for row in at_once[repeat]),
        logs=tuple(_mean_log(at_once[repeat]) - _mean_log(apart[repeat]) for repeat in both),
    )


def _by_repeat(rows: Sequence[ObservedRow]) -> dict[int, list[ObservedRow]]:
    return grouped(rows, lambda row: row["repeat"])


def _mean_log(rows: Sequence[ObservedRow]) -> float:
    return fmean(math.log(goodput_of(row)) for row in rows)


def _hypothesis(mode: str | None, most: _Compared, place: str, settings: int, margin: float) -> Hypothesis:
    row = most.at_once[0]
    estimate = most.estimate(settings)
    _, low, high = estimate
    return Hypothesis(
        "direction",
        Scope(row["sweep"], mode, row[DIRECTION]),
        partial(_said, most, estimate, place, margin),
        trial_ids((*most.apart, *most.at_once)),
        Estimate.in_percent(estimate),
        axis="simultaneous",
        figure=FigureKey("effects", row["sweep"], mode, axis="simultaneous"),
        p_value=min(1.0, most.p_value * settings),
        within_margin=settings == 1 and max(-low, high) <= math.log1p(margin),
        method=(
            f"paired differences of mean log goodput, {counted(len(most.logs), 'repeat')}; t interval; p and "
            f"interval after Bonferroni over {counted(settings, 'setting')}"
        ),
    )


def _said(
    most: _Compared, estimate: tuple[float, float, float], place: str, margin: float, decision: Decision
) -> str:
    percents = [percent(value) for value in estimate]
    change = format_change(*percents)
    alone, at_once = (
        format_rate(math.exp(fmean(map(_mean_log, _by_repeat(rows).values()))))
        for rows in (most.apart, most.at_once)
    )
    where = most.apart[0][DIRECTION]
    numbers = f"{alone} alone, {at_once} with traffic both ways, {change}{place}"
    if decision == "effect" and not rounds_to_nothing(*percents):
        return f"{where}: traffic both ways at once takes goodput from {alone} to {at_once}, {change}{place}."
    if decision == "undecided":
        return f"{where}: whether traffic both ways at once changes goodput is undecided: {numbers}."
    return (
        f"{where}: traffic both ways at once changes goodput by less than {format_margin(margin)}: {numbers}."
    )
