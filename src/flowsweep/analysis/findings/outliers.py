"""Trials that stand out from the repeats of their point, and what was special about them."""

import math
from collections.abc import Sequence

import numpy as np

from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.findings.in_a_row import long_runs, runs_in_words
from flowsweep.analysis.findings.sentences import name_point, percent
from flowsweep.analysis.hosts import HOST_COLUMNS
from flowsweep.analysis.statistics.extremes import chance_of_one
from flowsweep.analysis.statistics.observations import DIRECTION, Observations, ObservedRow
from flowsweep.analysis.statistics.repeat_noise import RepeatNoise
from flowsweep.analysis.statistics.robust_fit import RobustFit, robust_fit
from flowsweep.analysis.statistics.usual_trials import alone_above, fit_of_repeats
from flowsweep.analysis.summarising.trial_row import goodput_of, known, quantity_of
from flowsweep.defaults import EQUIVALENCE_MARGIN, SIGNIFICANCE, SLOW_SHARE
from flowsweep.wording import counted, format_margin, format_number, format_rate, format_share

NAMED = 3
"""Trials that a sentence names, at most."""
_SLOW = math.log(SLOW_SHARE)
_MEAN_APART = 0.01
"""Between the median interval's goodput and the mean over the trial; natural logarithm."""
_PAIR = 2
_TIMES = math.log(3)
"""From here on a difference is told as a multiple, not in percent."""
_ALIKE = 0.25
"""What repeats that are said to agree may differ by, relative."""
_EVEN = 0.5
"""What may be likelier than this is said without a number."""
_ROUNDING = 1e-9
"""What logarithms of repeats that agree to the last digit may differ by."""
_WHOLE_LINK = 0.97
"""Share of what a link carries in full packets, from which on nothing can be said to be too fast."""


def outlier_hypotheses(observed: Observations, noise: RepeatNoise | None) -> list[Hypothesis]:
    """Name the trials that stand out from their repeats.

    Args:
        observed: Trials of one sweep and mode; goodput in bit/s.
        noise: Of the same trials; none where points ran once.

    Returns:
        One description, none without repeats. Which trials stand out `robust_fit` says: none of them has a
        part in what is expected of it, so that they neither hide nor accuse each other, and with noise from
        normal to Student's t on three degrees of freedom any is named wrongly in at most 5 % of campaigns.
        Those that carried less than half of what was expected are counted apart. The effect is that of the
        trial that differs most: by how many percent it differs from what is expected from its usual repeats.
        What else was unusual in a trial is found in the same way among the columns of `host_words`. Where it
        is not known which repeats of a point are the unusual ones they are named together.
    """
    found = None if noise is None else fit_of_repeats(noise)
    if noise is None or found is None:
        return []
    return [
        Hypothesis(
            "outliers",
            observed.scope(),
            _said(observed, noise, found),
            _evidence(noise, found),
            Estimate(0.0 if _alike(found) else percent(float(found.deviations[found.farthest])), "%"),
            trials=len(noise.rows),
            figure="time_series",
            method=(
                f"log goodput against medians, then least squares of the usual trials, {_without(noise)}; "
                "gap in the tail of the residuals, and Student's t on 3 degrees of freedom, "
                f"over {counted(len(noise.rows), 'trial')}"
            ),
        )
    ]


def _evidence(noise: RepeatNoise, found: RobustFit) -> tuple[str, ...]:
    every = range(len(noise.rows)) if _alike(found) else _farthest(found)
    return tuple(noise.rows[place]["trial_id"] for place in found.unusual or every)


def _farthest(found: RobustFit) -> tuple[int, ...]:
    """Places of the trial that deviates most, and of the one that may be it as well."""
    return (found.farthest,) if found.beside is None else (found.farthest, found.beside)


def _alike(found: RobustFit) -> bool:
    """Whether no trial differs from what is expected of it by more than rounding."""
    return float(np.max(np.abs(found.deviations))) < _ROUNDING


def _without(noise: RepeatNoise) -> str:
    return noise.without if noise.steps else "points and repeats taken out"


def _repeats(noise: RepeatNoise) -> str:
    return f"the repeats on the same side of {noise.the_steps}" if noise.steps else "the repeats"


def _said(observed: Observations, noise: RepeatNoise, found: RobustFit) -> str:
    if not found.unusual:
        which = _repeats(noise) if noise.steps else "its repeats"
        if _alike(found):
            return f"No trial stands out from {which}: {_expected(noise, found)}."
        return (
            f"No trial stands out from {which}: {_expected(noise, found)}. "
            f"{_deviating_most(observed, noise, found)}{_scattered(observed, noise, found)}"
        )
    outside = sorted(standing_out(noise, found), key=lambda place: -abs(found.deviations[place]))
    slow = [place for place in outside if found.deviations[place] < _SLOW]
    others = [place for place in outside if place not in slow]
    unknown = [places for places in found.undecided if _settled(noise, places) is None]
    sentences = []
    if slow:
        sentences.append(_said_of_slow(observed, noise, found, slow))
    named = [_named(observed, noise, found, place) for place in others]
    named += [_disagreeing(observed, noise, places) for places in unknown]
    if named:
        stand = "stands" if len(named) == 1 else "stand"
        sentences.append(
            f"{counted(len(named), 'trial')} {stand} out from {_repeats(noise)}: {_list(named)}."
        )
    return " ".join(sentences) + _scattered(observed, noise, found)


def _deviating_most(observed: Observations, noise: RepeatNoise, found: RobustFit) -> str:
    """Name the farthest trial; of two that are known by each other alone both."""
    trials = [_trial(observed, noise.rows[place]) for place in _farthest(found)]
    less = f"{_difference(float(found.deviations[found.farthest]))} goodput than expected from"
    if found.beside is None:
        its = "repeats there" if noise.steps else "point and repeat"
        return f"The trial that deviates most is {trials[0]}: {less} its {its}."
    return (
        f"The two trials that deviate most from each other are {' and '.join(trials)}: the former has {less} "
        "its point and the latter; which of them is unusual is not known."
    )


def _said_of_slow(observed: Observations, noise: RepeatNoise, found: RobustFit, slow: Sequence[int]) -> str:
    """Say when many of them followed each other, and name the slowest and those of no such run."""
    hit = {noise.rows[place]["trial_id"] for place in slow}
    runs = long_runs(noise.rows, lambda row: row["trial_id"] in hit)
    several = len({row[DIRECTION] for row in noise.rows}) > 1
    when = runs_in_words(runs, len(slow), several=several)
    in_runs = {row["trial_id"] for run in runs for row in run}
    alone = [place for place in slow[1:] if noise.rows[place]["trial_id"] not in in_runs]
    named = [_named(observed, noise, found, place) for place in (slow[0], *alone)[:NAMED]]
    return (
        f"{len(slow)} of {counted(len(noise.rows), 'trial')} carried less than half of the goodput "
        f"expected from {_repeats(noise)}{f', {when}' if when else ''}: {_list(named, len(slow))}."
    )


def _scattered(observed: Observations, noise: RepeatNoise, found: RobustFit) -> str:
    """Name the points whose repeats all differ: they vary by much, and none of them is the exception."""
    named = []
    for places in found.scattered:
        spread = format_number(math.exp(float(np.ptp(noise.logs[list(places)]))))
        point = name_point(observed, noise.rows[places[0]])
        named.append(f"the {len(places)} of {point} differ by up to {spread} times")
    return f" Repeats scatter where none of them is the exception: {_list(named)}." if named else ""


def _counted(noise: RepeatNoise, found: RobustFit) -> str:
    """How many trials there are to be the farthest of; two that are known by each other alone count once."""
    if found.told == len(noise.rows):
        return counted(found.told, "trial")
    differences = counted(found.told, "difference")
    for groups, whose in ((noise.blocks, "trials of a repeat"), (noise.cells, "repeats of a point")):
        sizes = np.bincount(groups)
        if np.all(sizes == _PAIR) and found.told == len(sizes):
            return f"{differences} between the two {whose}"
    return f"{differences} among {counted(len(noise.rows), 'trial')}"


def _expected(noise: RepeatNoise, found: RobustFit) -> str:
    """Say why the farthest trial does not stand out."""
    margin, own = math.log1p(EQUIVALENCE_MARGIN), abs(float(found.deviations[found.farthest]))
    if float(np.max(np.abs(found.deviations))) <= margin:
        return f"none differs by more than {format_margin(EQUIVALENCE_MARGIN)}"
    chance = chance_of_one(found.reach, found.told)
    of_all = _counted(noise, found)
    if chance < SIGNIFICANCE and own <= margin:
        return f"the clearest difference is less than the margin of {format_margin(EQUIVALENCE_MARGIN)}"
    if chance < SIGNIFICANCE:
        return "too many are far off for any to be the exception"
    if chance > _EVEN:
        return f"of {of_all} that scatter as these do, one as far off as the farthest may be chance"
    likely = format_number(chance)
    return f"of {of_all} that scatter as these do, one is as far off by chance (p up to {likely})"


def _list(named: Sequence[str], of: int | None = None) -> str:
    """Name the first ones, and count the rest of so many."""
    shown = named[:NAMED]
    more = (len(named) if of is None else of) - len(shown)
    return f"{'; '.join(shown)}{f'; and {more} more' if more else ''}"


def standing_out(noise: RepeatNoise, found: RobustFit) -> tuple[int, ...]:
    """Return places of trials that stand out, with those of groups in which `_settled` knows which it is."""
    settled = (_settled(noise, places) for places in found.undecided)
    return (*found.outside, *(place for place in settled if place is not None))


def _settled(noise: RepeatNoise, places: Sequence[int]) -> int | None:
    """Of two repeats the slower one, if the other carries all that its link can; of more: `alone_above`."""
    if len(places) > _PAIR:
        return alone_above(noise, places)
    slower, faster = sorted(places, key=lambda place: float(noise.logs[place]))
    return slower if _fills_link(noise.rows[faster]) else None


def _fills_link(row: ObservedRow) -> bool:
    carried = row.get("link_payload_bps")
    return carried is not None and goodput_of(row) >= _WHOLE_LINK * carried


def _disagreeing(observed: Observations, noise: RepeatNoise, places: Sequence[int]) -> str:
    """Name repeats of a point of which some are unusual, nobody knows which: the fewer that differ first."""
    few, many = _fewer_apart(noise, places)
    return f"{_against(observed, noise, few, many)}; which of them is unusual is not known"


def _fewer_apart(noise: RepeatNoise, places: Sequence[int]) -> tuple[list[int], list[int]]:
    """Split repeats where they differ most; the fewer of them first, of as many the slower ones."""
    ordered = sorted(places, key=lambda place: float(noise.logs[place]))
    cut = 1 + int(np.argmax(np.diff(noise.logs[ordered])))
    slow, fast = ordered[:cut], ordered[cut:]
    return (slow, fast) if len(slow) <= len(fast) else (fast, slow)


def _against(observed: Observations, noise: RepeatNoise, few: Sequence[int], many: Sequence[int]) -> str:
    """Hold one repeat of a point, or a few, against the others."""
    shift = float(np.median(noise.logs[list(few)]) - np.median(noise.logs[list(many)]))
    names = [f"{noise.rows[place]['trial_id']} (repeat {noise.rows[place]['repeat']})" for place in few[1:]]
    who = " and ".join([_trial(observed, noise.rows[few[0]]), *names])
    verb = "has" if len(few) == 1 else "have"
    size = f"{format_number(math.exp(shift))} times the" if shift > _TIMES else f"{_difference(shift)}"
    if len(many) == 1:
        row = noise.rows[many[0]]
        than = f"{row['trial_id']} (repeat {row['repeat']})"
    else:
        apart = math.expm1(float(np.ptp(noise.logs[list(many)])))
        alike = f", which agree within {format_share(apart)}" if apart <= _ALIKE else " in the median"
        than = f"the other {len(many)}{alike}"
    return f"{who} {verb} {size} goodput {'of' if shift > _TIMES else 'than'} {than}"


def _named(observed: Observations, noise: RepeatNoise, found: RobustFit, place: int) -> str:
    row, deviation = noise.rows[place], float(found.deviations[place])
    own = next((places for places in found.undecided if place in places), ())
    if len(own) > _PAIR:
        others = [other for other in own if other != place]
        return f"{_against(observed, noise, [place], others)}, and over twice that of any other point"
    than = "its repeats, and carries what the link can" if deviation > 0 and _fills_link(row) else "expected"
    less = f"{_difference(deviation)} goodput{_of_median_interval(row)}"
    return f"{_trial(observed, row)} has {less} than {than}{_special(noise, place)}"


def _of_median_interval(row: ObservedRow) -> str:
    """Say that goodput is that of the median interval, of a trial whose mean is another."""
    mean_bps = row.get("goodput_mean_bps")
    apart = mean_bps and abs(math.log(goodput_of(row) / mean_bps)) > _MEAN_APART
    return f" in its median interval (mean {format_rate(mean_bps)})" if mean_bps and apart else ""


def _trial(observed: Observations, row: ObservedRow) -> str:
    begun = f", {row['started_at']}" if row["started_at"] else ""
    return f"{row['trial_id']} ({name_point(observed, row)}, repeat {row['repeat']}{begun})"


def _difference(deviation: float) -> str:
    size = percent(deviation)
    return f"{format_number(abs(size))} % {'more' if size > 0 else 'less'}"


def _special(noise: RepeatNoise, place: int) -> str:
    """What else was unusual in a trial, in words."""
    names = [name for name in HOST_COLUMNS if all(row.get(name) is not None for row in noise.rows)]
    special = []
    for name in names:
        values = np.array([float(known(quantity_of(row, name))) for row in noise.rows])
        found = robust_fit(values, noise.cells, noise.blocks) if np.ptp(values) > 0 else None
        if found is not None and place in found.outside:
            expected = float(values[place] - found.deviations[place])
            special.append((found.outside.index(place), name, float(values[place]), expected))
    words = []
    for _, name, value, expected in sorted(special)[:2]:
        called, write = HOST_COLUMNS[name]
        words.append(f"{called} {write(value)} (expected {write(max(expected, 0.0))})")
    return f"; {' and '.join(words)}" if words else ""
