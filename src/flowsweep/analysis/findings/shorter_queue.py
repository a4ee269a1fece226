"""Which level of an axis has shorter round trips under load than another at no loss of goodput."""

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import permutations
from operator import attrgetter
from statistics import fmean, median

import scipy

from flowsweep.analysis.axes import level_of, setting_axes, setting_words
from flowsweep.analysis.findings.bufferbloat import BLOAT_MS
from flowsweep.analysis.findings.finding import Decision
from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.findings.modes import is_other_path
from flowsweep.analysis.findings.sentences import percent
from flowsweep.analysis.statistics.intervals import half_width
from flowsweep.analysis.statistics.observations import Observations, ObservedRow, trial_ids
from flowsweep.analysis.summarising.trial_row import goodput_of, known, quantity_of
from flowsweep.defaults import EQUIVALENCE_MARGIN, FEWEST_FOR_INTERVAL
from flowsweep.grouping import grouped
from flowsweep.scatter import LEAST_SPREAD
from flowsweep.tests import facts_of
from flowsweep.wording import format_change, format_margin, format_milliseconds, format_rate, format_share

_GOODPUT = "goodput_mean_bps"
_OF_MEASURING = frozenset({"duration_s", "omit_s"})
"""Axes of how it is measured: a trial that is short ends before a queue has filled."""
_NOTHING_LESS = 0.005
"""Goodput that is less by this share is none to speak of."""
_NOTABLE_LOSS = 0.001
"""Of all bytes: less that is sent again is no cost to others."""


@dataclass(frozen=True, slots=True)
class _Spread:
    """Of the logarithms of a quantity between repeats, pooled over all points of a direction."""

    deviation: float
    freedom: int

    def error(self, one: Sequence[ObservedRow], other: Sequence[ObservedRow]) -> float:
        """Of the difference of two means."""
        return self.deviation * math.sqrt(1 / len(one) + 1 / len(other))


@dataclass(frozen=True, slots=True)
class _Compared:
    """Two levels at one point of the other axes."""

    name: str
    """Of the point; empty where there is only one."""
    shorter: tuple[ObservedRow, ...]
    longer: tuple[ObservedRow, ...]
    rtt_column: str
    spreads: tuple[_Spread, _Spread]
    """Of round trips and goodput."""
    margin: float

    @property
    def less_ms(self) -> float:
        """By how much round trips are shorter."""
        shorter_ms, longer_ms = (self._rtt_ms(rows) for rows in (self.shorter, self.longer))
        return longer_ms - shorter_ms

    @property
    def log_ratio(self) -> tuple[float, float, float]:
        """Of the shorter round trip to the longer one, and the ends of its interval."""
        ratio = self._log_ratio(self.rtt_column)
        spread = self.spreads[0]
        half = half_width(spread.error(self.shorter, self.longer), spread.freedom)
        return ratio, ratio - half, ratio + half

    @property
    def gain(self) -> float:
        """Logarithm of the goodput to that with the longer round trips."""
        return self._log_ratio(_GOODPUT)

    @property
    def p_value(self) -> float:
        """Of "no shorter, or less goodput by more than the margin"."""
        beyond = (-self._log_ratio(self.rtt_column), self.gain - math.log(1 - self.margin))
        return max(
            float(scipy.stats.t.sf(value / spread.error(self.shorter, self.longer), spread.freedom))
            for value, spread in zip(beyond, self.spreads, strict=True)
        )

    @property
    def words(self) -> str:
        """The round trips and goodputs of both."""
        times = (format_milliseconds(self._rtt_ms(rows)) for rows in (self.shorter, self.longer))
        rates = (format_rate(math.exp(_mean_log(rows, _GOODPUT))) for rows in (self.shorter, self.longer))
        less = format_change(*map(percent, self.log_ratio))
        where = f" ({self.name})" if self.name else ""
        return f"{' against '.join(times)}, {less}, at {' against '.join(rates)}{where}"

    def _rtt_ms(self, rows: Sequence[ObservedRow]) -> float:
        return math.exp(_mean_log(rows, self.rtt_column))

    def _log_ratio(self, column: str) -> float:
        return _mean_log(self.shorter, column) - _mean_log(self.longer, column)


@dataclass(frozen=True, slots=True)
class _Choice:
    """A level of an axis in place of another."""

    axis: str
    points: tuple[_Compared, ...]
    """Of the other axes; the one at which round trips become shorter by least first."""

    @property
    def holds(self) -> bool:
        """Whether it looks shorter everywhere, and notably somewhere, at no loss of goodput."""
        least, most = self.points[0].less_ms, self.points[-1].less_ms
        kept = min(point.gain for point in self.points) >= math.log(1 - self.points[0].margin)
        return least > 0 and most >= BLOAT_MS and kept


def shorter_queue_hypotheses(
    observed: Observations, *, margin: float = EQUIVALENCE_MARGIN
) -> Iterator[Hypothesis]:
    """Ask which levels cut the round trip under load, other axes being equal, and cost no goodput.

    Args:
        observed: Trials of one sweep and mode; goodput in bit/s.
        margin: Goodput may be this much less, relative, and counts as no loss.

    Yields:
        For each direction and axis of which a level looks like that against another by at least BLOAT_MS, the
        pair that differs most. Directions whose trials took paths of unlike length take no part. The effect
        is the shorter round trip as a share of the longer one (unit "1"), at the point of the other axes
        where that is highest.

    Method:
        At each point of the other axes one-sided t tests of the logarithms of the round trip, and of the mean
        goodput against the margin; the spread is that of the repeats of all points of the direction. All have
        to hold, so that the largest p-value counts (Berger 1982, Multiparameter hypothesis testing and
        acceptance sampling, Technometrics 24), times the number of ordered pairs of levels.
    """
    if facts_of(observed.rows[0].get("test")).datagrams:
        return
    choices = {
        (direction, axis): found
        for direction, rows in observed.by_direction(lambda row: row.get("rtt_median_ms"))
        if _of_one_length(rows)
        for axis in setting_axes(rows)
        if axis not in _OF_MEASURING
        if (found := list(_choices(rows, axis, margin)))
    }
    asked = sum(map(len, choices.values()))
    for (direction, _), found in choices.items():
        if holding := [choice for choice in found if choice.holds]:
            best = max(holding, key=lambda choice: fmean(point.less_ms for point in choice.points))
            yield _hypothesis(observed, direction, best, asked)


def _of_one_length(rows: Sequence[ObservedRow]) -> bool:
    """Whether all trials took a path of the same length, by their minimum round trips, as far as known."""
    least_ms = [least for row in rows if (least := row.get("rtt_min_ms")) is not None]
    return not least_ms or not is_other_path(max(least_ms) - min(least_ms), min(least_ms))


def _choices(rows: Sequence[ObservedRow], axis: str, margin: float) -> Iterator[_Choice]:
    """Every ordered pair of levels that ran three times or more at each point of the other axes."""
    axes = setting_axes(rows)
    others = [name for name in axes if name != axis]
    rtt = "rtt_loaded_ms" if all(row.get("rtt_loaded_ms") for row in rows) else "rtt_median_ms"
    spreads = _spread(rows, axes, rtt), _spread(rows, axes, _GOODPUT)
    points = [_levels(point, axis) for point in _points(rows, others)]
    for short, long in permutations(_levels(rows, axis), 2):
        compared = [
            _Compared(
                setting_words(levels[short][0], others), tuple(levels[short]), tuple(levels[long]), rtt,
                spreads, margin,
            )
            for levels in points
            if min(len(levels.get(level, ())) for level in (short, long)) >= FEWEST_FOR_INTERVAL
        ]  # fmt: skip
        if len(compared) == len(points):
            yield _Choice(axis, tuple(sorted(compared, key=lambda point: point.less_ms)))


def _points(rows: Sequence[ObservedRow], axes: Sequence[str]) -> list[list[ObservedRow]]:
    return list(grouped(rows, lambda row: tuple(level_of(row, name) for name in axes)).values())


def _levels(rows: Sequence[ObservedRow], axis: str) -> dict[Hashable, list[ObservedRow]]:
    return grouped(rows, partial(level_of, axis=axis))


def _spread(rows: Sequence[ObservedRow], axes: Sequence[str], column: str) -> _Spread:
    points = _points(rows, axes)
    squares = sum(
        (math.log(_value(row, column)) - _mean_log(own, column)) ** 2 for own in points for row in own
    )
    freedom = len(rows) - len(points)
    return _Spread(max(math.sqrt(squares / max(freedom, 1)), LEAST_SPREAD), freedom)


def _hypothesis(observed: Observations, direction: str, choice: _Choice, asked: int) -> Hypothesis:
    least = max(choice.points, key=lambda point: point.log_ratio[0])
    rows = [row for point in choice.points for row in (*point.shorter, *point.longer)]
    probed = least.rtt_column == "rtt_loaded_ms"
    measured = "median of the probes under load" if probed else "median smoothed round trip"
    return Hypothesis(
        "latency",
        observed.scope(direction),
        partial(_said, direction, choice),
        trial_ids(rows),
        Estimate(math.exp(least.log_ratio[0]), "1", *map(math.exp, least.log_ratio[1:])),
        axis=choice.axis,
        figure="rtt_time" if probed else "limits",
        p_value=min(1.0, max(point.p_value for point in choice.points) * asked),
        method=(
            f"log of the {measured}, and of mean goodput against the margin: one-sided t tests at each point "
            f"of the other axes, spread of the repeats of all points, {least.spreads[0].freedom} degrees of "
            f"freedom; largest p-value (intersection-union), Bonferroni over {asked} ordered pairs of levels"
        ),
    )


def _said(direction: str, choice: _Choice, decision: Decision) -> str:
    several = len(choice.points) > 2
    points = (choice.points[0], choice.points[-1]) if several else choice.points
    short, long = (
        setting_words(rows[0], [choice.axis]) for rows in (choice.points[0].shorter, choice.points[0].longer)
    )
    numbers = "; ".join(point.words for point in points)
    between = f"; by least and by most of {len(choice.points)} points" if several else ""
    shorter = f"round trips under load are shorter with {short} than with {long}"
    if decision == "effect":
        return f"{direction}: {shorter}, {_price(choice)}: {numbers}{between}.{_sent_again(choice)}"
    return f"{direction}: whether {shorter} at no loss of goodput is undecided: {numbers}{between}."


def _price(choice: _Choice) -> str:
    """What it costs of goodput."""
    if all(point.gain >= -_NOTHING_LESS for point in choice.points):
        return "at no loss of goodput"
    return f"at no more than {format_margin(choice.points[0].margin)} less goodput"


def _sent_again(choice: _Choice) -> str:
    """Warn where the shorter queue goes with losses that the other level does not have."""
    shorter, longer = (
        median(row.get("loss_share") or 0.0 for point in choice.points for row in rows(point))
        for rows in (attrgetter("shorter"), attrgetter("longer"))
    )
    if shorter < _NOTABLE_LOSS or shorter < 2 * longer:
        return ""
    return (
        f" It sends {format_share(shorter)} of all bytes again, against {format_share(longer)}: what shares "
        "the path pays for that."
    )


def _mean_log(rows: Sequence[ObservedRow], column: str) -> float:
    return fmean(math.log(_value(row, column)) for row in rows)


def _value(row: ObservedRow, column: str) -> float:
    return goodput_of(row) if column == _GOODPUT and not row.get(column) else known(quantity_of(row, column))
