"""Kinds of synthetic campaigns of known truth, and which findings of them are right."""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache
from typing import Any

import numpy as np

from analysis_support import STARTED_AT
from campaigns_over_time import daily, red
from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.topics import findings
from synthetic_campaigns import KIB, Grid, Row, campaign, heavy_tailed

ORDERS = 10
"""In how many random orders a grid is run: campaigns of one order share what depends on times alone."""
NOISE, BLOCK = 0.03, 0.05
"""Standard deviations of log goodput, of a trial and of what a repeat shares."""
WINDOW = "window_sum_bytes"
EFFECT_OF_WINDOW = "effect of the window"
HOURS = 60
HOUR_S = 3600.0
Generator = np.random.Generator
Fate = Callable[[Generator, list[Row]], list[Row]]
"""What becomes of the trials of a campaign."""

GRID = Grid(
    flows=(1, 4), window_sums=tuple(KIB << power for power in (8, 9, 10, 11, 12)), noise=0.0, block=0.0
)
"""Sixty trials, both directions of a point one after the other."""
TWICE = replace(GRID, flows=(1, 4, 16), window_sums=GRID.window_sums[:4], repeats=5)
"""A hundred and twenty."""
DAYS = replace(GRID, directions=(("a", "b"),), repeats=5, window_sums=GRID.window_sums[:4])
WATCHED = replace(DAYS, flows=(1,), window_sums=(KIB << 10,), repeats=HOURS)


@dataclass(frozen=True)
class Kind:
    """A kind of campaign; its name is its seed, too."""

    name: str
    grid: Grid
    deviations: Callable[[Generator, list[Row]], Any]
    """(trials,) of log goodput, in units of NOISE, in the order in which they ran."""
    at_s: Callable[[int, int], float] | None = None
    """When a trial began, by its place and by how many there are of a repeat."""
    true: frozenset[str] = frozenset()
    """Kinds of findings that may rightly be claimed."""
    sought: frozenset[str] = frozenset()
    """Those of which one is to be found."""
    percent: float = 0.0
    """The true change of goodput from the smallest window sum to the largest."""
    fate: Fate | None = None
    power: float = 0.9
    """The share of campaigns in which what is sought is to be found."""


def hourly(place: int, _of_repeat: int) -> float:
    return HOUR_S * place


def in_six_hours(place: int, of_repeat: int) -> float:
    day, number = divmod(place, of_repeat)
    return HOUR_S * (24 * day + 6 * number / of_repeat)


def independent(generator: Generator, rows: list[Row]) -> Any:
    return generator.standard_normal(len(rows)) + _of_repeats(generator, rows)


def neighbours(correlation: float) -> Callable[[Generator, list[Row]], Any]:
    return lambda generator, rows: red(generator, len(rows), correlation)


def tails(generator: Generator, rows: list[Row]) -> Any:
    return heavy_tailed(generator, len(rows)) + _of_repeats(generator, rows)


def days_apart(generator: Generator, rows: list[Row]) -> Any:
    return generator.standard_normal(len(rows)) + 2 * _of_repeats(generator, rows)


def cycle(generator: Generator, rows: list[Row]) -> Any:
    return generator.standard_normal(len(rows)) + daily(len(rows), 3, generator.random())


def six_hours_of_a_cycle(generator: Generator, rows: list[Row]) -> Any:
    phase = generator.random()
    at_h = [in_six_hours(place, len(rows) // DAYS.repeats) / HOUR_S for place in range(len(rows))]
    return generator.standard_normal(len(rows)) + 3 * np.sin(2 * np.pi * (np.array(at_h) / 24 + phase))


def stepped(generator: Generator, rows: list[Row]) -> Any:
    return generator.standard_normal(len(rows)) + 3 * (np.arange(len(rows)) >= len(rows) // 2)


def two_levels(generator: Generator, rows: list[Row]) -> Any:
    low = math.log(0.8) / NOISE
    return independent(generator, rows) + low * (generator.random(len(rows)) < 0.4)


def declining(generator: Generator, rows: list[Row]) -> Any:
    """Goodput rises up to the second window sum; beyond the third it falls, by three standard deviations."""
    level = np.array([math.log2(row[WINDOW] / TWICE.window_sums[0]) for row in rows])
    return independent(generator, rows) - 10 * np.maximum(1 - level, 0) - 3 * np.maximum(level - 2, 0)


def _of_repeats(generator: Generator, rows: list[Row]) -> Any:
    """(trials,) what each repeat shares, in units of NOISE."""
    return (
        BLOCK
        / NOISE
        * generator.standard_normal(1 + max(row["repeat"] for row in rows))[[row["repeat"] for row in rows]]
    )


def one_of_twenty_stalls(generator: Generator, rows: list[Row]) -> list[Row]:
    for row, drawn in zip(rows, generator.random(len(rows)), strict=True):
        if drawn < 0.05:
            row["goodput_bps"] *= 0.1
            row["goodput_mean_bps"] = row["goodput_bps"]
    return rows


def one_of_five_is_missing(generator: Generator, rows: list[Row]) -> list[Row]:
    return [row for row, drawn in zip(rows, generator.random(len(rows)), strict=True) if drawn >= 0.2]


def slow_ones_fail(generator: Generator, rows: list[Row]) -> list[Row]:
    """Half of the slowest sixth, whatever the level."""
    slow = np.quantile([row["goodput_bps"] for row in rows], 1 / 6)
    for row, drawn in zip(rows, generator.random(len(rows)), strict=True):
        if row["goodput_bps"] < slow and drawn < 1 / 2:
            row |= {"status": "failed", "goodput_bps": None, "goodput_mean_bps": None}
    return rows


def large_windows_fail(generator: Generator, rows: list[Row]) -> list[Row]:
    """Half of the trials at the largest window."""
    largest = max(row[WINDOW] for row in rows)
    for row, drawn in zip(rows, generator.random(len(rows)), strict=True):
        if row[WINDOW] == largest and drawn < 1 / 2:
            row |= {"status": "failed", "goodput_bps": None, "goodput_mean_bps": None}
    return rows


CYCLE = frozenset({"cycle"})
NOTHING = (
    Kind("independent", GRID, independent),
    Kind("neighbours 0.3", GRID, neighbours(0.3)),
    Kind("neighbours 0.7", GRID, neighbours(0.7)),
    Kind("neighbours 0.95", GRID, neighbours(0.95)),
    Kind("heavy tails", GRID, tails),
    Kind("one of 20 stalled", GRID, independent, true=frozenset({"modes"}), fate=one_of_twenty_stalls),
    Kind("unbalanced", GRID, independent, fate=one_of_five_is_missing),
    Kind("slow trials fail", GRID, independent, fate=slow_ones_fail),
    Kind("days differ", DAYS, days_apart, in_six_hours),
    Kind("six hours a day of a daily cycle", DAYS, six_hours_of_a_cycle, in_six_hours, true=CYCLE),
    Kind("one point, hourly, independent", WATCHED, neighbours(0.0), hourly),
    Kind("one point, hourly, neighbours 0.3", WATCHED, neighbours(0.3), hourly),
    Kind("one point, hourly, neighbours 0.7", WATCHED, neighbours(0.7), hourly),
    Kind("one point, hourly, neighbours 0.95", WATCHED, neighbours(0.95), hourly),
    Kind("one point, hourly, a daily cycle", WATCHED, cycle, hourly, true=CYCLE),
)
"""Nothing is to be found in them, but what is named."""

SOMETHING = (
    Kind("10 %", TWICE, independent, percent=10, true=frozenset({"plateau"}),
         sought=frozenset({EFFECT_OF_WINDOW}), power=0.95),
    Kind("step", WATCHED, stepped, hourly, sought=frozenset({"step"})),
    Kind("cycle", WATCHED, cycle, hourly, sought=CYCLE),
    Kind("two modes", TWICE, two_levels, sought=frozenset({"modes"})),
    Kind("failures at the largest window", TWICE, independent, fate=large_windows_fail,
         sought=frozenset({"failures"})),
    Kind("decline", TWICE, declining, sought=frozenset({"decline"}),
         true=frozenset({"effect", "plateau", "dip"})),
)  # fmt: skip

KINDS = {kind.name: kind for kind in (*NOTHING, *SOMETHING)}


@cache
def _template(grid: Grid, order: int) -> tuple[Row, ...]:
    return tuple(campaign(grid, order))


def rows_of(kind: Kind, number: int) -> list[Row]:
    """Draw a campaign of a kind."""
    generator = np.random.default_rng([*kind.name.encode(), number])
    rows = [dict(row) for row in _template(kind.grid, number % ORDERS)]
    deviations = NOISE * np.asarray(kind.deviations(generator, rows))
    sizes = kind.grid.window_sums
    levels = len(sizes) - 1
    of_repeat = len(rows) // kind.grid.repeats
    load = red(generator, len(rows), 0.9)
    for place, (row, deviation) in enumerate(zip(rows, deviations, strict=True)):
        level = round(math.log2(row[WINDOW] / sizes[0])) / levels if kind.percent else 0.0
        effect = level * math.log1p(kind.percent / 100)
        row["goodput_bps"] = row["goodput_mean_bps"] = 9e7 * math.exp(deviation + effect)
        row["cpu_recv"] = 0.5 + 0.05 * load[place]
        if kind.at_s is not None:
            row["started_at"] = (STARTED_AT + timedelta(seconds=kind.at_s(place, of_repeat))).isoformat()
    return rows if kind.fate is None else kind.fate(generator, rows)


def judged(kind: Kind, number: int) -> Counter[str]:
    """Say what is true of the findings of one campaign, each thing once."""
    told = findings(rows_of(kind, number))
    claimed = {_name(kind, one) for one in told if one.decision == "effect"}
    false = claimed - kind.true - kind.sought
    found = {"any false claim"} if false else set()
    found |= {f"false claim: {each}" for each in false}
    found |= {"found"} if claimed & kind.sought else set()
    for one in told:
        found |= _covered(kind, one)
    return Counter(found)


def _name(kind: Kind, one: Finding) -> str:
    """Its kind; that of the axis that has an effect, where there is only one such axis."""
    if not kind.percent or one.kind not in {"effect", "plateau"}:
        return one.kind
    if one.axis == WINDOW:
        return EFFECT_OF_WINDOW if one.kind == "effect" else "plateau"
    return f"{one.kind} of another axis"


def _covered(kind: Kind, one: Finding) -> set[str]:
    """Whether an interval holds the truth, of levels and directions: elsewhere there is no one truth."""
    known = kind.percent or "effect" not in kind.true
    if one.kind not in {"effect", "flows", "direction"} or not known:
        return set()
    if one.interval_low is None or one.interval_high is None:
        return set()
    truth = kind.percent if one.axis == WINDOW else 0.0
    what = "window" if one.axis == WINDOW else one.kind
    covers = one.interval_low <= truth <= one.interval_high
    decided = one.decision != "undecided"
    return {f"{what}: has an interval"} | (
        {f"{what}: covered"} if covers else {f"{what}: decided and not covered"} if decided else set()
    )


def counted(kind: Kind, numbers: range) -> Counter[str]:
    """Judge campaigns of a kind."""
    return sum((judged(kind, number) for number in numbers), Counter())
