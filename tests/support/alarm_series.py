"""Series of measurements of which it is known whether they shift: for what alarms say of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from flowsweep.alarms.detector import Shift, Watching, shifts
from flowsweep.alarms.quantities import QUANTITIES

Floats = NDArray[np.float64]

DAY_S = 86_400.0
BEGAN_S = 1_800_000_000.0
SHIFT = 0.9
"""Goodput after a shift, of that before."""
SOON = 5
"""Values within which it is to be found."""
GOODPUT = QUANTITIES[0]


@dataclass(frozen=True)
class Kind:
    """How a series comes about."""

    step_s: float
    rho: float
    """Correlation of neighbours."""
    tails: float | None = None
    """Degrees of freedom of Student's t; normal noise if absent."""
    missing: float = 0.0
    """Share of values that are not there."""
    cycle: float = 0.1
    """Largest amplitude of the day, of log goodput."""
    sigma: float = 0.05
    """Standard deviation of log goodput about its course of the day."""


def noise(kind: Kind, shape: tuple[int, ...], generator: np.random.Generator) -> Floats:
    """AR(1) with standard deviation 1; along the last axis."""
    if kind.tails is None:
        drawn = generator.standard_normal(shape)
    else:
        drawn = generator.standard_t(kind.tails, shape) / np.sqrt(kind.tails / (kind.tails - 2))
    drawn[..., 1:] *= np.sqrt(1 - kind.rho**2)
    return np.asarray(scipy.signal.lfilter([1.0], [1.0, -kind.rho], drawn))


def log_goodputs(kind: Kind, days: float, generator: np.random.Generator) -> tuple[Floats, Floats]:
    """Times in Unix seconds, and log goodput without a shift."""
    times_s = BEGAN_S + np.arange(round(days * DAY_S / kind.step_s)) * kind.step_s
    wave = np.sin(2 * np.pi * times_s / DAY_S + generator.uniform(0, 2 * np.pi))
    values = 20 + generator.uniform(0, kind.cycle) * wave + kind.sigma * noise(kind, times_s.shape, generator)
    return times_s, values


def without(kind: Kind, generator: np.random.Generator, *series: Floats) -> tuple[Floats, ...]:
    """Leave out values that are missing."""
    kept = generator.random(len(series[0])) >= kind.missing
    return tuple(one[kept] for one in series)


def alarms_in(times_s: Floats, values: Floats, rate: float = 1.0) -> list[Shift]:
    """Shifts of goodput as an archive's are found."""
    return shifts(times_s, values, Watching(rate, GOODPUT.change_min, GOODPUT.sigma_min))


def false_alarms(kind: Kind, seeds: Sequence[int], days: float = 30.0) -> tuple[int, int, float]:
    """How many shifts downward and upward are found where there is none, and in how many days."""
    down = up = 0
    watched = 0.0
    for seed in seeds:
        generator = np.random.default_rng([seed, round(1000 * kind.rho), round(kind.step_s)])
        times_s, values = without(kind, generator, *log_goodputs(kind, days, generator))
        found = alarms_in(times_s, values)
        down += sum(one.score < 0 for one in found)
        up += sum(one.score > 0 for one in found)
        watched += days - 3
    return down, up, watched


@dataclass
class Told:
    """What became of shifts of 10 %."""

    shifts: int = 0
    soon: int = 0
    """Found within five values."""
    ever: int = 0
    """Found within twenty."""
    covered: int = 0
    """Whose interval after twenty values holds the truth, of those found."""


def shifts_told(
    kind: Kind, seeds: Sequence[int], *, sigmas: tuple[float, float] | None = None, days: float = 16.0
) -> Told:
    """How many shifts of 10 % are found, each in a series of its own of which the noise is in `sigmas`."""
    told = Told()
    for seed in seeds:
        generator = np.random.default_rng([seed, 7, round(1000 * kind.rho), round(kind.step_s)])
        sigma = kind.sigma if sigmas is None else generator.uniform(*sigmas)
        own = Kind(kind.step_s, kind.rho, kind.tails, kind.missing, kind.cycle, sigma)
        times_s, values = log_goodputs(own, days, generator)
        begin = len(values) - 20
        values[begin:] += np.log(SHIFT)
        after = times_s[begin:]
        times_s, values = without(own, generator, times_s, values)
        found = alarms_in(times_s, values)
        if any(one.found_s < after[0] and (one.over_s or np.inf) >= after[0] for one in found):
            continue  # An alarm was on when it shifted.
        told.shifts += 1
        mine = [one for one in found if one.found_s >= after[0] and one.score < 0]
        told.ever += bool(mine)
        told.soon += any(one.found_s <= after[SOON - 1] for one in mine)
        told.covered += bool(mine) and mine[-1].low <= np.log(SHIFT) <= mine[-1].high
    return told


KNOWN = 40_000
"""Shifts that a test which knows the noise is tried with."""


def known_noise_found(
    kind: Kind, ratio: float, per_alarm: float, seed: int, *, sigmas: tuple[float, float] | None = None
) -> float:
    """The share of shifts found within five values by a test that knows level and noise.

    With `sigmas` shifts are of 10 %, of noise that is drawn from there, as by `shifts_told`, and is known
    of each; else they are of `ratio` standard deviations.

    Matched filters over the last one to five values, with the threshold that noise alone exceeds once in
    `per_alarm` values: the finite moving average test, which is optimal for changes of a known size that are
    to be found within a fixed time as false alarms become rare (Guépié, Fillatre and Nikiforov 2012,
    Sequential Analysis 31).
    """
    generator = np.random.default_rng([seed, round(1000 * kind.rho)])
    best = _best_scores(kind.rho, generator.standard_normal((1, 6_000_000)))[0]
    low, high = 2.0, 6.0
    for _ in range(30):
        middle = (low + high) / 2
        at = np.flatnonzero(best > middle)
        episodes = 0 if not len(at) else 1 + int((np.diff(at) > 20).sum())
        low, high = (middle, high) if episodes > len(best) / per_alarm else (low, middle)
    drawn = generator.standard_normal((KNOWN, 12))
    ratios = np.full(KNOWN, ratio) if sigmas is None else 0.1 / generator.uniform(*sigmas, KNOWN)
    size = ratios / np.sqrt(1 - kind.rho**2)
    drawn[:, -SOON] += size
    drawn[:, -SOON + 1 :] += size[:, None] * (1 - kind.rho)
    return float((_best_scores(kind.rho, drawn)[:, -SOON:].max(axis=1) > low).mean())


def _best_scores(rho: float, innovations: Floats) -> Floats:
    later = np.cumsum((1 - rho) * innovations, axis=1)
    best = np.full(innovations.shape, -np.inf)
    count = innovations.shape[1]
    for length in range(1, SOON + 1):
        sums = innovations[:, : count - length + 1] + later[:, length - 1 :] - later[:, : count - length + 1]
        score = sums / np.sqrt(1 + (length - 1) * (1 - rho) ** 2)
        best[:, length - 1 :] = np.maximum(best[:, length - 1 :], score)
    return best
