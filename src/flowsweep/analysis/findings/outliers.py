"""Trials that stand out from the repeats of their point, and what was special about them."""

import numpy as np
import scipy

from flowsweep.analysis.axes import AXIS_NAMES, axes_untold, level_of, levels_apart
from flowsweep.analysis.findings.finding import FigureKey
from flowsweep.analysis.findings.hypothesis import Question
from flowsweep.analysis.findings.sentences import percent
from flowsweep.analysis.hosts import HOST_COLUMNS
from flowsweep.analysis.statistics.least_squares import Fit, Floats
from flowsweep.analysis.statistics.observations import DIRECTION, Observations
from flowsweep.analysis.statistics.repeat_noise import RepeatNoise
from flowsweep.defaults import SIGNIFICANCE
from flowsweep.wording import counted, format_number

NAMED = 3
"""Trials that a sentence names, at most."""
_FEWEST_FREEDOM = 3
_FULL_LEVERAGE = 1 - 1e-9
"""A trial whose point has no other says nothing about itself."""


def outlier_questions(observed: Observations, noise: RepeatNoise | None) -> list[Question]:
    """Name the trials that stand out from their repeats.

    Args:
        observed: Trials of one sweep and mode; goodput in bit/s.
        noise: Of the same trials; none where points ran once.

    Returns:
        One description, none without repeats. A trial stands out whose externally studentized residual of log
        goodput, by Student's t and Bonferroni over all trials, has p < 0.05 (Cook and Weisberg, Residuals and
        Influence in Regression, 1982, ch. 2). The effect is that of the one that stands out most: by how many
        percent it differs from what the other repeats let expect. What else was unusual in a trial is found
        in the same way among the columns of `host_words`. Of a point with two repeats either may be the
        unusual one: they are named together. It describes: noise with heavy tails has trials that stand out
        by nature.
    """
    if noise is None or noise.fit.freedom < _FEWEST_FREEDOM:
        return []
    studentized, deviations = _studentized(noise.fit)
    p_values = _p_values(studentized, noise.fit) * len(noise.rows)
    order = np.argsort(p_values, kind="stable")
    outside = [int(place) for place in order if p_values[place] < SIGNIFICANCE]
    most = int(order[0])
    return [
        Question(
            kind="outliers",
            sweep=observed.sweep,
            mode=observed.mode,
            say=lambda _: _said(observed, noise, outside, most, deviations),
            effect=percent(float(deviations[most])),
            effect_unit="%",
            n=len(noise.rows),
            method=(
                "externally studentized residuals of log goodput, points and repeats taken out, "
                f"Bonferroni over {counted(len(noise.rows), 'trial')}"
            ),
            evidence=tuple(noise.rows[place]["trial_id"] for place in outside or [most]),
            figure=FigureKey("time_series", observed.sweep, observed.mode),
        )
    ]


def _studentized(fit: Fit) -> tuple[Floats, Floats]:
    """Residuals by the noise that the other trials have, and as they were without a part in the fit."""
    free = np.maximum(1 - fit.leverages, 1 - _FULL_LEVERAGE)
    own = np.where(fit.leverages < _FULL_LEVERAGE, fit.residuals, 0.0)
    left = fit.residuals @ fit.residuals - own**2 / free
    smallest = np.finfo(np.float64).tiny
    error = np.sqrt(np.maximum(left / max(fit.freedom - 1, 1), smallest) * free)
    return own / error, own / free


def _p_values(studentized: Floats, fit: Fit) -> Floats:
    return np.asarray(2 * scipy.stats.t.sf(np.abs(studentized), fit.freedom - 1))


def _said(
    observed: Observations, noise: RepeatNoise, outside: list[int], most: int, deviations: Floats
) -> str:
    if not outside:
        return (
            f"No trial stands out from its repeats: the one that differs most has "
            f"{_difference(float(deviations[most]))} goodput than they let expect."
        )
    apart = [place for number, place in enumerate(outside) if _other(noise, place) not in outside[:number]]
    named = "; ".join(_named(observed, noise, place, float(deviations[place])) for place in apart[:NAMED])
    more = f"; and {len(apart) - NAMED} more" if len(apart) > NAMED else ""
    stand = "stands" if len(apart) == 1 else "stand"
    return f"{counted(len(apart), 'trial')} {stand} out from the repeats: {named}{more}."


def _other(noise: RepeatNoise, place: int) -> int | None:
    """The other trial of a point that has two."""
    others = [int(other) for other in np.flatnonzero(noise.cells == noise.cells[place]) if other != place]
    return others[0] if len(others) == 1 else None


def _named(observed: Observations, noise: RepeatNoise, place: int, deviation: float) -> str:
    row = noise.rows[place]
    other = _other(noise, place)
    axes = [name for name in observed.factors if name in AXIS_NAMES and name not in _FOLLOWING]
    axes += axes_untold(observed.rows, lambda row: (row[DIRECTION], *(level_of(row, name) for name in axes)))
    point = ", ".join(f"{AXIS_NAMES[name]} {levels_apart(name, observed.rows)(row)}" for name in axes)
    begun = f", {row['started_at']}" if row["started_at"] else ""
    where = f"{row[DIRECTION]}{', ' if point else ''}{point}"
    than = "expected"
    if other is not None:
        beside = noise.rows[other]
        than = f"{beside['trial_id']} (repeat {beside['repeat']}); which of them is unusual is not known"
    return (
        f"{row['trial_id']} ({where}, repeat {row['repeat']}{begun}) has {_difference(deviation)} goodput "
        f"than {than}{_special(noise, place)}"
    )


_FOLLOWING = frozenset({"window_bytes", "window_send_bytes", "window_recv_bytes", "flows_per_pair"})
"""Axes that follow from others as a rule: a point is then named without them."""


def _difference(deviation: float) -> str:
    size = percent(deviation)
    return f"{format_number(abs(size))} % {'more' if size > 0 else 'less'}"


def _special(noise: RepeatNoise, place: int) -> str:
    """What else was unusual in a trial, in words."""
    known = [name for name in HOST_COLUMNS if all(row.get(name) is not None for row in noise.rows)]
    found = []
    for name in known:
        values = np.array([float(row[name]) for row in noise.rows])
        if np.ptp(values) > 0:
            fit = noise.refit(values)
            studentized, differences = _studentized(fit)
            p_value = float(_p_values(studentized[[place]], fit)[0]) * len(known)
            if p_value < SIGNIFICANCE:
                found.append((p_value, name, values[place], values[place] - differences[place]))
    words = []
    for _, name, value, expected in sorted(found)[:2]:
        called, write = HOST_COLUMNS[name]
        words.append(f"{called} {write(float(value))} (expected {write(max(float(expected), 0.0))})")
    return f"; {' and '.join(words)}" if words else ""
