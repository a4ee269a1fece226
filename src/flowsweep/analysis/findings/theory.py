"""How the measurement compares with theory, where theory has something to say."""

from collections.abc import Sequence
from dataclasses import dataclass

from flowsweep.analysis.axes import level_of
from flowsweep.analysis.background.words import background_names
from flowsweep.analysis.findings.finding import FigureKey
from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.findings.verdict import drops_early
from flowsweep.analysis.predicted import PATH_RTT_MS
from flowsweep.analysis.statistics.means import GeometricMean, geometric_mean
from flowsweep.analysis.statistics.observations import Observations, ObservedRow, trial_ids
from flowsweep.analysis.summarising.trial_row import goodput_of, known, quantity_of
from flowsweep.analysis.verdicts import LOSS, QUEUE, SEND_WINDOW, WINDOWS
from flowsweep.defaults import EQUIVALENCE_MARGIN
from flowsweep.grouping import grouped
from flowsweep.wording import counted, format_number, some_of, with_interval

_LINK = "link_payload_bps"
_BEYOND_LINK = 1.005
"""Shown as more than 1."""
_LESS_IN_THE_MEAN = 0.005
"""Of what a link carries: what losses cost, which median intervals do not show."""
_BEYOND_GRANTED = 2.0
"""Times the granted send buffer in flight; 1.14 was the most where goodput was what windows allow
(docs/explanation/windows.md)."""


@dataclass(frozen=True, slots=True)
class _Theory:
    """A prediction, and the trials that it is of."""

    verdicts: tuple[str, ...]
    column: str
    where: str
    what: str
    source: str
    congestion: tuple[str, ...] | None = None
    """Only for these; None: for all."""

    def is_of(self, row: ObservedRow) -> bool:
        """Whether a trial is limited by what the theory is about."""
        return row.get("verdict") in self.verdicts and (
            self.congestion is None or row["congestion"] in self.congestion
        )


_THEORIES = (
    _Theory(
        WINDOWS, "theory_window_bps", "where windows limit",
        "of the most that they allow, usable window × flows / minimum round trip", "RFC 6349, section 3.3.1",
    ),
    _Theory(
        (QUEUE,), _LINK, "where the path itself limits",
        "of what its packets can carry as payload", "RFC 6349, section 4.1.1",
    ),
    _Theory(
        (LOSS,), "theory_cubic_bps", "where loss limits CUBIC",
        "of CUBIC's response function at the loss that was seen", "RFC 9438, section 5", ("cubic",),
    ),
    _Theory(
        (LOSS,), "theory_padhye_bps", "where loss limits Reno",
        "of what Padhye et al. predict from the loss, round trip and timeouts that were seen",
        "Padhye et al. 1998, equation 32", ("reno",),
    ),
)  # fmt: skip


def theory_hypotheses(observed: Observations) -> list[Hypothesis]:
    """Ask of each direction how its goodput compares with theory.

    Args:
        observed: Trials of one sweep and mode.

    Returns:
        For each direction and theory with trials that it is of, one hypothesis; it only describes. The effect
        is goodput as a multiple of the prediction (unit "1"), with a 95 % interval where the trials are of at
        least three repeats.

    Method:
        In each repeat the geometric mean of goodput / prediction over its trials; of these means, which are
        independent of each other as seconds and points are not, `geometric_mean`.
    """
    return [
        _hypothesis(observed, direction, theory, own, limited=sum(map(theory.is_of, rows)))
        for direction, rows in observed.by_direction()
        for theory in _THEORIES
        if (own := [row for row in rows if theory.is_of(row) and _applies(theory, row)])
    ]


def _applies(theory: _Theory, row: ObservedRow) -> bool:
    """Whether the theory has something to say of a trial that it is about."""
    if not row.get(theory.column):
        return False
    if theory.column == _LINK and drops_early(row):
        return False
    if theory.verdicts is WINDOWS and _beyond_granted(row):
        return False
    return bool(row["rtt_min_ms"] and row["rtt_min_ms"] >= PATH_RTT_MS)


def _beyond_granted(row: ObservedRow) -> bool:
    """Whether far more was in flight at moments than the send buffer was granted.

    It limits the writer and not the flight, of which the plateau then tells no window.
    """
    usable, granted = quantity_of(row, "window_usable_bytes"), quantity_of(row, "window_granted_send_bytes")
    of_sender = row.get("verdict") == SEND_WINDOW
    return bool(of_sender and usable and granted and usable >= _BEYOND_GRANTED * granted)


def _hypothesis(
    observed: Observations, direction: str, theory: _Theory, rows: Sequence[ObservedRow], *, limited: int
) -> Hypothesis:
    scope = observed.scope(direction)
    ratio, repeats = _ratio(rows, theory.column)
    trials = f"{some_of(len(rows), limited, 'trial')} in {counted(repeats, 'repeat')}"
    others = background_names(rows[0])
    beside = f" beside {others}" if others else ""
    claim = (
        f"{scope.direction}: {theory.where} ({trials}), goodput{beside} is "
        f"{with_interval(format_number, ratio.value, ratio.low, ratio.high)}"
        f"{_by_point(observed, rows, theory.column)} {theory.what}."
        f"{_in_the_mean(observed, rows, theory)}"
    )
    return Hypothesis(
        "theory",
        scope,
        claim,
        trial_ids(rows),
        Estimate(ratio.value, "1", ratio.low, ratio.high),
        figure=FigureKey("product", *scope, axis="window_sum_bytes"),
        method=f"mean of log(goodput / prediction) by repeat, {_interval_words(ratio)}; {theory.source}",
    )


def _interval_words(ratio: GeometricMean) -> str:
    return "too few repeats for an interval" if ratio.low is None else "t interval over repeats"


def _by_point(observed: Observations, rows: Sequence[ObservedRow], column: str) -> str:
    """Between what means of points it lies, where they differ by more than what is of practical effect."""
    means = [_mean_ratio(own, column) for own in _points(observed, rows)]
    if max(means) <= (1 + EQUIVALENCE_MARGIN) * min(means):
        return ""
    return f" ({format_number(min(means))} to {format_number(max(means))} by point)"


def _in_the_mean(observed: Observations, rows: Sequence[ObservedRow], theory: _Theory) -> str:
    """What it is in the mean over a trial, where that is less; why a point is above what can be carried."""
    means = [row | {"goodput_bps": row.get("goodput_mean_bps") or row["goodput_bps"]} for row in rows]
    if theory.verdicts is WINDOWS:
        return _more_than_a_window(observed, rows, means, theory.column)
    if theory.column != _LINK:
        return ""
    ratio, _ = _ratio(means, _LINK)
    if max(_mean_ratio(own, _LINK) for own in _points(observed, rows)) < _BEYOND_LINK:
        if ratio.value > _ratio(rows, _LINK)[0].value - _LESS_IN_THE_MEAN:
            return ""
        return (
            " That is of median intervals; in the mean over a trial it is "
            f"{with_interval(format_number, ratio.value, ratio.low, ratio.high)}"
            f"{_by_point(observed, means, _LINK)}."
        )
    return (
        " These are medians of intervals, and no mean of what the link carried: data that waited behind a "
        "lost packet, or in a buffer, count when they are read. In the mean over a trial it is "
        f"{with_interval(format_number, ratio.value, ratio.low, ratio.high)}."
    )


def _more_than_a_window(
    observed: Observations, rows: Sequence[ObservedRow], means: Sequence[ObservedRow], column: str
) -> str:
    """Why a point is above what windows allow: some intervals hold one more of them than others."""
    highest, in_the_mean = (
        max(_mean_ratio(own, column) for own in _points(observed, of)) for of in (rows, means)
    )
    if highest <= 1 or in_the_mean >= highest:
        return ""
    return (
        " These are medians of intervals, some of which hold one window more than others; in the mean over a "
        f"trial the highest point is at {format_number(in_the_mean)}."
    )


def _points(observed: Observations, rows: Sequence[ObservedRow]) -> list[list[ObservedRow]]:
    return list(grouped(rows, lambda row: tuple(level_of(row, axis) for axis in observed.factors)).values())


def _ratio(rows: Sequence[ObservedRow], column: str) -> tuple[GeometricMean, int]:
    """Mean over repeats, each the mean over its trials; and how many repeats there are."""
    repeats = grouped(rows, lambda row: row["repeat"])
    return geometric_mean([_mean_ratio(own, column) for own in repeats.values()]), len(repeats)


def _mean_ratio(rows: Sequence[ObservedRow], column: str) -> float:
    return geometric_mean([goodput_of(row) / known(quantity_of(row, column)) for row in rows]).value
