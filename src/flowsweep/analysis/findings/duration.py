"""How long a trial has to be: from what the longer ones would have shown if cut, and from durations tried."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from flowsweep.analysis.axes import level_of
from flowsweep.analysis.binning.shorter_durations import CutRow
from flowsweep.analysis.findings.effects import PLAIN, trials_left_out
from flowsweep.analysis.findings.finding import Decision
from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis, unrepeated
from flowsweep.analysis.findings.sentences import percent
from flowsweep.analysis.statistics.design import Design, coded, mostly_repeated
from flowsweep.analysis.statistics.independent_trials import Independent, independent
from flowsweep.analysis.statistics.least_squares import Codes
from flowsweep.analysis.statistics.level_effects import Incomparable, LevelComparison, compare_levels
from flowsweep.analysis.statistics.observations import DIRECTION, Observations, ObservedRow, trial_ids
from flowsweep.analysis.statistics.usual_trials import usual_trials
from flowsweep.analysis.summarising.trial_row import goodput_of, known
from flowsweep.defaults import CONFIDENCE, EQUIVALENCE_MARGIN, SECOND_NS, SIGNIFICANCE
from flowsweep.wording import counted, format_change, format_duration, format_margin

MOST_TRIALS = 0.9
"""A duration is enough if this share of independent trials would come within the margin."""

Cuts = Mapping[str, Mapping[int, float]]
"""trial_id → duration in ns → goodput in bit/s, of `durations_cut`."""


@dataclass(frozen=True, slots=True)
class _Cut:
    """What independent trials of one duration would tell."""

    duration_ns: int
    estimate: Independent


def cut_hypotheses(
    observed: Observations, cuts: Cuts, *, margin: float = EQUIVALENCE_MARGIN
) -> list[Hypothesis]:
    """Describe from which duration on trials would have shown the same.

    Args:
        observed: Trials of one sweep and mode; goodput in bit/s.
        cuts: The goodput of the same trials, cut short.
        margin: Of practical equivalence, relative.

    Returns:
        One description of the longest trials of the sweep, if there are any that can be cut. The effect is
        the shortest duration (s, what is omitted included) from which on the 95 % interval of the mean
        difference of log goodput between cut and whole trials lies within the margin (two one-sided tests:
        Schuirmann 1987, Journal of Pharmacokinetics and Biopharmaceutics 15), and at least 90 % of
        independent trials, with 95 % confidence, would come within it of what the whole ones tell on average
        (`independent`); the longest, if no shorter one is; null, if not even that. Undecided where points ran
        once.
    """
    longest = max(row["duration_s"] or 0.0 for row in observed.rows)
    rows = [
        row
        for row in observed.rows
        # One that ended early was cut already.
        if row["duration_s"] == longest and row.get("until_share") is None and cuts.get(row["trial_id"])
    ]
    durations = _common_durations(rows, cuts)
    if not durations:
        return []
    cells, blocks = _placed(observed, rows), coded([row["repeat"] for row in rows])
    whole = np.log([goodput_of(row) for row in rows])
    longest_estimate = independent(whole, whole, cells, blocks, margin) if mostly_repeated(cells) else None
    if longest_estimate is None and len(rows) == 1:
        return []
    if longest_estimate is None:
        claim = "How long a trial has to be is undecided: only repeats tell how much trials differ."
        return [unrepeated("duration", observed.scope(), claim, trial_ids(rows), axis="duration_s")]
    parts = {each: np.log([cuts[row["trial_id"]][each] for row in rows]) for each in durations}
    found = [
        _Cut(duration_ns, estimate)
        for duration_ns, part in parts.items()
        if (estimate := independent(part, whole, cells, blocks, margin)) is not None
    ]
    return [_cut_hypothesis(observed, rows, found, longest_estimate, margin)]


def _cut_hypothesis(
    observed: Observations,
    rows: Sequence[ObservedRow],
    found: Sequence[_Cut],
    whole: Independent,
    margin: float,
) -> Hypothesis:
    longest = known(rows[0]["duration_s"])
    enough = _from_where_on([_agrees(cut.estimate, margin) for cut in found])
    effect = longest if _agrees(whole, margin) else None
    if enough is not None:
        effect = found[enough].duration_ns / SECOND_NS
    said = _say_cut(found, enough, longest, whole, margin)
    return Hypothesis(
        "duration",
        observed.scope(),
        said,
        trial_ids(rows),
        Estimate(effect, None if effect is None else "s"),
        axis="duration_s",
        figure="duration",
        method=(
            "first intervals of trials against whole ones: mean difference of log goodput, two one-sided "
            f"t tests against ±{format_margin(margin)}; variance of the first intervals between repeats, "
            f"with it {format_margin(MOST_TRIALS)} of independent trials within it, 95 % confidence"
        ),
    )


def _common_durations(rows: Sequence[ObservedRow], cuts: Cuts) -> list[int]:
    """Durations at which all trials can be cut and carry something, ascending; ns."""
    common = set.intersection(*(set(cuts[row["trial_id"]]) for row in rows)) if rows else set()
    return [
        duration_ns
        for duration_ns in sorted(common)
        if min(cuts[row["trial_id"]][duration_ns] for row in rows) > 0
    ]


def _placed(observed: Observations, rows: Sequence[ObservedRow]) -> Codes:
    """Number of the point and direction of each trial."""
    factors = [name for name in observed.factors if name != DIRECTION]
    return coded([(row[DIRECTION], *(level_of(row, name) for name in factors)) for row in rows])


def _agrees(estimate: Independent, margin: float) -> bool:
    return abs(estimate.bias) + estimate.half <= math.log1p(margin) and estimate.least_share >= MOST_TRIALS


def _from_where_on(agree: Sequence[bool]) -> int | None:
    """The first place from which on all agree; None if the last does not."""
    places = [place for place in range(len(agree)) if all(agree[place:])]
    return places[0] if places else None


def _say_cut(
    found: Sequence[_Cut], enough: int | None, longest: float, whole: Independent, margin: float
) -> str:
    long = format_duration(round(longest * SECOND_NS))
    if not found:
        return f"No duration below {long} can be judged: too few trials have one."
    chosen = found[-1 if enough is None else enough]
    estimate = chosen.estimate
    change = format_change(*(percent(estimate.bias + half) for half in (0.0, -estimate.half, estimate.half)))
    short = format_duration(chosen.duration_ns)
    if enough is not None:
        return (
            f"Trials of {short} would tell the same as those of {long}: "
            f"{shares_in_words(estimate, 'independent ones', margin)} of the mean of those of {long}, from "
            f"which they differ by {change} on average. This is of median intervals, and says nothing of "
            "longer trials, nor of what losses cost."
        )
    wanted = f"for which at least {format_margin(MOST_TRIALS)} of trials have to"
    lead, themselves = f"No duration below {long} is shown to tell the same, {wanted}", ""
    longer = f" Whether {long} are enough only longer trials tell."
    if not _agrees(whole, margin):
        lead, longer = f"No duration is shown to be long enough, not even the longest, {long}", ""
        themselves = f"; of those of {long} themselves {_share(whole)} do"
    return (
        f"{lead}: "
        f"{shares_in_words(estimate, f'independent trials of {short}', margin)} of the mean of those of "
        f"{long}, from which they differ by {change} on average{themselves}.{longer}"
    )


def shares_in_words(estimate: Independent, trials: str, margin: float) -> str:
    """Say how many trials come within a margin: "92 % (at least 87 % with 95 % confidence) of them"."""
    return f"{_share(estimate)} of {trials} come within {format_margin(margin)}"


def _share(estimate: Independent) -> str:
    """A share and its lower end with 95 % confidence; that end alone where both are the same percent."""
    share, least = map(_whole_percent, (estimate.share, estimate.least_share))
    if share == 0:
        return "fewer than 1 %"
    if share == least:
        return f"at least {least} %"
    return f"{share} % (at least {least} % with {format_margin(CONFIDENCE)} confidence)"


def _whole_percent(share: float) -> int:
    """Downwards, and never all: neither certainty nor a promise is made by rounding."""
    return min(math.floor(100 * share), 99)


def duration_hypotheses(
    observed: Observations, grid: Design, *, margin: float = EQUIVALENCE_MARGIN
) -> list[Hypothesis]:
    """Ask whether the duration matters, where several were tried.

    Args:
        observed: Trials of one sweep and mode; goodput in bit/s.
        grid: Their design.
        margin: Of practical equivalence, relative.

    Returns:
        One hypothesis if the sweep varies the duration. The effect is the shortest duration (s) from which on
        none differs from the longest by more than the margin, with 95 % confidence for all of them together
        (Bonferroni); null if there is none. Trials whose duration is not known are left out. Method:
        `compare_levels`.
    """
    if "duration_s" not in grid.axes:
        return []
    usual, left_out = usual_trials(grid.where_known("duration_s"))
    compared = compare_levels(usual, "duration_s")
    if isinstance(compared, Incomparable):
        return []
    last = len(compared.levels) - 1
    against = {
        level: compared.difference((last, level), comparisons=last)
        for level in range(last)
        if (level, last) in compared.pairs
    }
    allowed = math.log1p(margin)
    chosen, p_value = _chosen_level(compared, against)
    agree = [
        level in against and max(-against[level][1], against[level][2]) <= allowed for level in range(last)
    ]
    enough = _from_where_on(agree)
    return [
        Hypothesis(
            "duration",
            observed.scope(),
            partial(
                _say_tried, compared, None if chosen is None else (chosen, against[chosen]), enough, margin
            ),
            usual.trials,
            Estimate(None if enough is None else _seconds(compared, enough), None if enough is None else "s"),
            axis="duration_s",
            p_value=p_value,
            within_margin=enough == 0,
            second_opinion=compared.permuted,
            method=(
                "linear model of log goodput over durations that were tried, "
                f"{counted(compared.freedom, 'degree')} of freedom; each against the longest, Bonferroni "
                f"over {counted(last, 'duration')}" + trials_left_out(left_out)
            ),
            figure="duration",
        )
    ]


def _chosen_level(
    compared: LevelComparison, against: Mapping[int, tuple[float, float, float]]
) -> tuple[int | None, float]:
    """Choose the duration that stands beside the longest, and the p-value of these two, Bonferroni included.

    The shortest, unless only another one differs beyond chance.
    """
    last = len(compared.levels) - 1
    if not against:
        return None, compared.p_value
    p_values = {level: min(1.0, compared.p_of((level, last)) * last) for level in against}
    shortest, telling = min(against), min(p_values, key=lambda level: p_values[level])
    chosen = telling if p_values[telling] < SIGNIFICANCE and p_values[shortest] >= PLAIN else shortest
    return chosen, p_values[chosen]


def _say_tried(
    compared: LevelComparison,
    chosen: tuple[int, tuple[float, float, float]] | None,
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
    difference = "none ran beside the longest"
    if chosen is not None:
        level, estimate = chosen
        change = format_change(*(percent(value) for value in estimate))
        difference = f"goodput in {_words(compared, level)} differs by {change} from that in {longest}"
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


def cuts_of(rows: Sequence[CutRow]) -> dict[str, dict[int, float]]:
    """Put rows of `durations_cut` together by trial (duration in ns, goodput in bit/s)."""
    cuts: dict[str, dict[int, float]] = {}
    for row in rows:
        cuts.setdefault(row["trial_id"], {})[row["duration_ns"]] = row["goodput_bps"]
    return cuts
