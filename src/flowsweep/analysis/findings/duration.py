"""How long a trial has to be: from what the longer ones would have told if cut, and from durations tried."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from flowsweep.analysis.findings.finding import Decision, FigureKey
from flowsweep.analysis.findings.hypothesis import Question
from flowsweep.analysis.findings.sentences import percent
from flowsweep.analysis.statistics.design import Design, coded
from flowsweep.analysis.statistics.least_squares import Fit
from flowsweep.analysis.statistics.level_effects import LevelComparison, compare_levels
from flowsweep.analysis.statistics.observations import DIRECTION, Observations, Row
from flowsweep.defaults import EQUIVALENCE_MARGIN, SECOND_NS
from flowsweep.wording import counted, format_change, format_duration, format_margin, format_share

MOST_TRIALS = 0.9
"""A duration is enough if not only the mean, but this share of the trials is within the margin."""

Cuts = Mapping[str, Mapping[int, float]]
"""trial_id → duration in ns → goodput in bit/s, of `durations_cut`."""


@dataclass(frozen=True, slots=True)
class _Cut:
    """What trials of one duration would have told, against what the whole ones did."""

    duration_ns: int
    mean: float
    """Of log goodput, cut − whole."""
    half: float
    """Of its 95 % interval."""
    within: float
    """The share of trials whose goodput is within the margin of that of the whole one."""


def cut_questions(
    observed: Observations, cuts: Cuts, *, margin: float = EQUIVALENCE_MARGIN
) -> list[Question]:
    """Describe from which duration on trials would have told the same.

    Args:
        observed: Trials of one sweep and mode; goodput in bit/s.
        cuts: The goodput of the same trials, cut short.
        margin: Of practical equivalence, relative.

    Returns:
        One description of the longest trials of the sweep, if there are any that can be cut. The effect is
        the shortest duration (s, what is omitted included) from which on the 95 % interval of the mean
        difference of log goodput between cut and whole trials lies within the margin (two one-sided tests:
        Schuirmann 1987, Journal of Pharmacokinetics and Biopharmaceutics 15), and at least 90 % of the single
        trials are within it. The mean is over points; the noise is how trials of the same point differ.
    """
    longest = max(row["duration_s"] or 0.0 for row in observed.rows)
    rows = [row for row in observed.rows if row["duration_s"] == longest and cuts.get(row["trial_id"])]
    common = set.intersection(*(set(cuts[row["trial_id"]]) for row in rows)) if rows else set()
    found = [
        cut for duration_ns in sorted(common) if (cut := _cut(observed, rows, cuts, duration_ns, margin))
    ]
    if not found:
        return []
    enough = _from_where_on([_agrees(cut, margin) for cut in found])
    said = _say_cut(found, enough, longest, len(rows), margin)
    return [
        Question(
            kind="duration",
            sweep=observed.sweep,
            mode=observed.mode,
            axis="duration_s",
            say=lambda _: said,
            effect=longest if enough is None else found[enough].duration_ns / SECOND_NS,
            effect_unit="s",
            n=len(rows),
            method=(
                "trials cut to their first intervals against the whole ones: mean difference of log goodput, "
                f"two one-sided t tests against ±{format_margin(margin)}, and {format_margin(MOST_TRIALS)} "
                "of the trials within it"
            ),
            evidence=tuple(row["trial_id"] for row in rows),
            figure=FigureKey("duration", observed.sweep, observed.mode),
        )
    ]


def _cut(
    observed: Observations, rows: Sequence[Row], cuts: Cuts, duration_ns: int, margin: float
) -> _Cut | None:
    goodputs = [cuts[row["trial_id"]][duration_ns] for row in rows]
    if min(goodputs) <= 0:
        return None
    shifts = np.log(goodputs) - np.log([row["goodput_bps"] for row in rows])
    factors = [name for name in observed.factors if name != DIRECTION]
    points = coded([(row[DIRECTION], *(_hashable(row[name]) for name in factors)) for row in rows])
    repeated = len(points) >= 2 * (int(points.max()) + 1)
    cells = points if repeated else np.zeros_like(points)
    fit = Fit(shifts, cells, np.zeros_like(points))
    if fit.freedom < 1:
        return None
    count = int(cells.max()) + 1
    mean = fit.compare(shifts, np.full((1, count), 1 / count))
    within = np.abs(shifts) <= math.log1p(margin)
    return _Cut(duration_ns, float(mean.value[0]), float(mean.half_widths()[0]), float(within.mean()))


def _hashable(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def _agrees(cut: _Cut, margin: float) -> bool:
    return abs(cut.mean) + cut.half <= math.log1p(margin) and cut.within >= MOST_TRIALS


def _from_where_on(agree: Sequence[bool]) -> int | None:
    """The first place from which on all agree; None if the last does not."""
    places = [place for place in range(len(agree)) if all(agree[place:])]
    return places[0] if places else None


def _say_cut(found: Sequence[_Cut], enough: int | None, longest: float, count: int, margin: float) -> str:
    whole = format_duration(round(longest * SECOND_NS))
    chosen = found[-1 if enough is None else enough]
    change = format_change(
        *(percent(value) for value in (chosen.mean, chosen.mean - chosen.half, chosen.mean + chosen.half))
    )
    short = format_duration(chosen.duration_ns)
    share = f"{format_share(chosen.within)} of {counted(count, 'trial')} are within {format_margin(margin)}"
    if enough is None:
        return (
            f"No shorter duration than {whole} tells the same: goodput of the first {short} differs by "
            f"{change}, and {share}."
        )
    return f"Trials of {short} would tell the same as those of {whole}: {change} on average, and {share}."


def duration_questions(
    observed: Observations, grid: Design, *, margin: float = EQUIVALENCE_MARGIN
) -> list[Question]:
    """Ask whether the duration matters, where several were tried.

    Args:
        observed: Trials of one sweep and mode; goodput in bit/s.
        grid: Their design.
        margin: Of practical equivalence, relative.

    Returns:
        One question if the sweep varies the duration. The effect is the shortest duration (s) from which on
        none differs from the longest by more than the margin, with 95 % confidence for all of them together
        (Bonferroni); null if there is none. Trials whose duration nobody told are left out. Method:
        `compare_levels`.
    """
    if "duration_s" not in grid.axes:
        return []
    known = grid.where_known("duration_s")
    compared = compare_levels(known, "duration_s")
    if compared is None:
        return []
    last = len(compared.levels) - 1
    against = {
        level: compared.difference((last, level), comparisons=last)
        for level in range(last)
        if (level, last) in compared.pairs
    }
    allowed = math.log1p(margin)
    agree = [
        level in against and max(-against[level][1], against[level][2]) <= allowed for level in range(last)
    ]
    enough = _from_where_on(agree)
    return [
        Question(
            kind="duration",
            sweep=observed.sweep,
            mode=observed.mode,
            axis="duration_s",
            say=partial(_say_tried, compared, against, enough, margin),
            effect=None if enough is None else _seconds(compared, enough),
            effect_unit=None if enough is None else "s",
            p_value=compared.p_value,
            within_margin=enough == 0,
            second_opinion=compared.permuted,
            n=len(known.trials),
            method=(
                "linear model of log goodput over durations that were tried, "
                f"{counted(compared.freedom, 'degree')} of freedom; each against the longest, Bonferroni "
                f"over {counted(last, 'duration')}"
            ),
            evidence=known.trials,
            figure=FigureKey("duration", observed.sweep, observed.mode),
        )
    ]


def _say_tried(
    compared: LevelComparison,
    against: Mapping[int, tuple[float, float, float]],
    enough: int | None,
    margin: float,
    decision: Decision,
) -> str:
    last = len(compared.levels) - 1
    longest = _words(compared, last)
    if decision == "no practical effect":
        return (
            f"The duration does not matter: {_words(compared, 0)} tells the same as {longest}, "
            f"within {format_margin(margin)}."
        )
    shortest = min(against, default=None)
    difference = ""
    if shortest is not None:
        change = format_change(*(percent(value) for value in against[shortest]))
        difference = f"goodput in {_words(compared, shortest)} differs by {change} from that in {longest}"
    lead = (
        f"The duration matters: {difference}"
        if decision == "effect"
        else (f"Whether the duration matters is undecided: {difference}")
    )
    if enough is None:
        return f"{lead}; none is shown to agree with it within {format_margin(margin)}."
    return f"{lead}; from {_words(compared, enough)} on they agree within {format_margin(margin)}."


def _seconds(compared: LevelComparison, level: int) -> float:
    return float(str(compared.levels[level]))


def _words(compared: LevelComparison, level: int) -> str:
    return format_duration(round(_seconds(compared, level) * SECOND_NS))


def cuts_of(rows: Sequence[Row]) -> dict[str, dict[int, float]]:
    """Put rows of `durations_cut` together by trial (duration in ns, goodput in bit/s)."""
    cuts: dict[str, dict[int, float]] = {}
    for row in rows:
        cuts.setdefault(row["trial_id"], {})[row["duration_ns"]] = row["goodput_bps"]
    return cuts
