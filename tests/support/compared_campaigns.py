"""Pairs of campaigns with known truth, to be compared: little rows, quickly drawn."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from flowsweep.analysis.comparing.comparison import Comparison, compare
from flowsweep.analysis.grid_rows import POINT_COLUMNS
from flowsweep.cli.compare import FailIf, exit_code
from synthetic_campaigns import Noise, normal

Row = dict[str, Any]
_USUAL: Row = dict.fromkeys(POINT_COLUMNS) | {
    "sweep": "s", "src": "a", "dst": "b", "test": "tcp", "simultaneous": False, "mode": "copy",
    "status": "ok",
}  # fmt: skip
_BPS = 1e8


@dataclass(frozen=True)
class Drawn:
    """How a campaign is drawn; natural logarithms."""

    points: int
    repeats: int
    noise: float = 0.03
    block: float = 0.03
    """Standard deviation of what a repeat shares."""
    draw: Noise = normal
    uneven: bool = False
    """Every fourth point varies four times as much."""
    shift: float = 0.0
    at: int | None = None
    """The point that is shifted; all where there is none."""
    fails: Callable[[np.random.Generator, Any], Any] | None = None
    """Of deviations (repeats, points): which trials fail."""


def drawn(how: Drawn, rng: np.random.Generator) -> list[Row]:
    """Rows of one campaign."""
    chance = how.draw(rng, how.repeats * how.points).reshape(how.repeats, how.points) * how.noise
    if how.uneven:
        chance = chance * np.where(np.arange(how.points) % 4 == 0, 4.0, 1.0)
    chance = chance + how.block * rng.standard_normal((how.repeats, 1))
    fails = np.zeros(chance.shape, dtype=bool) if how.fails is None else how.fails(rng, chance)
    logs = chance + math.log(_BPS) + np.arange(how.points) / 10
    logs[:, slice(None) if how.at is None else how.at] += how.shift
    goodputs = np.exp(logs).tolist()
    return [
        _USUAL
        | {
            "flows": point + 1, "repeat": repeat + 1, "order_index": repeat * how.points + point,
            "goodput_bps": None if fails[repeat, point] else goodputs[repeat][point],
            "status": "failed" if fails[repeat, point] else "ok",
        }
        for repeat in range(how.repeats)
        for point in range(how.points)
    ]  # fmt: skip


def failing_slow(rng: np.random.Generator, deviations: Any) -> Any:
    """Three of four trials that are slower than their point's mean."""
    return (deviations < 0) & (rng.random(deviations.shape) < 0.75)


def outcomes(comparison: Comparison) -> set[str]:
    """What is said overall and at any point."""
    assert comparison.overall is not None
    return {comparison.overall.outcome, *(point.shift.outcome for point in comparison.points)}


def called_different(a: Drawn, b: Drawn, count: int, seed: int) -> int:
    """How many of some comparisons say "faster" or "slower" of anything; exit codes have to say the same."""
    rng = np.random.default_rng(seed)
    found = 0
    for _ in range(count):
        comparison = compare(drawn(a, rng), drawn(b, rng))
        said = bool(outcomes(comparison) & {"faster", "slower"})
        assert (exit_code(comparison, FailIf.different) == 1) == said
        found += said
    return found


@dataclass(frozen=True)
class AlikeRows:
    """How a campaign of one point is drawn whose repeats resemble their neighbours."""

    repeats: int
    correlation: float
    shift: float = 0.0
    noise: float = 0.03


def alike_repeats(how: AlikeRows, rng: np.random.Generator) -> list[Row]:
    """Rows of one campaign, first-order autoregressive."""
    rows = drawn(Drawn(1, how.repeats, block=0.0), rng)
    value = rng.standard_normal()
    for row in rows:
        row["goodput_bps"] = _BPS * math.exp(how.shift + how.noise * value)
        value = how.correlation * value + math.sqrt(1 - how.correlation**2) * rng.standard_normal()
    return rows
