"""What is claimed over time of campaigns of known truth: drift, steps, cycles, periods, correlation."""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from truth_support import chance, in_processes, write_result

from campaigns_over_time import claims, daily, five_days, red, watched
from synthetic_campaigns import Grid, Row, campaign

MANY, SOME = 60, 40
CHUNK = 20
TEN_MINUTES_S = 600.0
SIGNIFICANCE, POWER = 0.05, 0.90
_HOURS = 60

Generator = np.random.Generator


@dataclass(frozen=True)
class Variant:
    """A kind of campaign; its place is its seed, too."""

    name: str
    draw: Callable[[Generator], list[Row]]
    true: frozenset[str] = frozenset()
    """Kinds that may rightly be claimed; there is something to be found if there are any."""
    campaigns: int = MANY


def hourly(draw: Callable[[Generator], Any], every_s: float = 3600.0) -> Callable[[Generator], list[Row]]:
    return lambda generator: loaded(watched(draw(generator), every_s), generator)


def loaded(rows: list[Row], generator: Generator) -> list[Row]:
    """A CPU that wanders slowly and has nothing to do with goodput."""
    for row, value in zip(rows, red(generator, len(rows), 0.9), strict=True):
        row["cpu_recv"] = 0.5 + 0.05 * value
    return rows


def after(place: int, count: int = _HOURS) -> Any:
    return np.arange(count) >= place


def days(generator: Generator, size: float) -> Any:
    return generator.standard_normal(120) + np.repeat(size * generator.standard_normal(5), 24)


def sessions(effect: Callable[[Generator], Callable[[int, float], float]], hours: float) -> Any:
    return lambda generator: five_days(int(generator.integers(1 << 30)), hours, effect(generator))


def of_days(generator: Generator) -> Callable[[int, float], float]:
    levels = 0.1 * generator.standard_normal(5)
    return lambda day, _: float(levels[day])


def of_hours(generator: Generator) -> Callable[[int, float], float]:
    phase = generator.random()
    return lambda _, at_h: 0.3 * math.sin(2 * math.pi * (at_h / 24 + phase))


def stalled(generator: Generator) -> Any:
    return generator.standard_normal(_HOURS) - 60 * (generator.random(_HOURS) < 0.05)


def cycle(generator: Generator) -> Any:
    return daily(_HOURS, 3, generator.random())


def line(count: int = _HOURS) -> Any:
    return np.arange(count) / (count - 1)


CYCLE, STEP, DRIFT = frozenset({"cycle"}), frozenset({"step"}), frozenset({"drift"})

VARIANTS = (
    Variant("independent", hourly(lambda generator: generator.standard_normal(_HOURS))),
    Variant("neighbours 0.3", hourly(lambda generator: red(generator, _HOURS, 0.3))),
    Variant("neighbours 0.7", hourly(lambda generator: red(generator, _HOURS, 0.7))),
    Variant("neighbours 0.95", hourly(lambda generator: red(generator, _HOURS, 0.95))),
    Variant("neighbours 0.95, ten minutes apart",
            hourly(lambda generator: red(generator, _HOURS, 0.95), TEN_MINUTES_S)),
    Variant("heavy tails", hourly(lambda generator: generator.standard_t(3, _HOURS))),
    Variant("one of 20 stalled",
            hourly(stalled)),
    Variant("days differ by 1 deviation", hourly(partial(days, size=1.0)), campaigns=SOME),
    Variant("days differ by 3 deviations", hourly(partial(days, size=3.0)), campaigns=SOME),
    Variant("five days of 6 hours, days differ by 10 %", sessions(of_days, 6), campaigns=SOME),
    Variant("five days of 6 hours, a daily cycle", sessions(of_hours, 6), CYCLE, campaigns=SOME),
    Variant("twenty points, repeats differ by 5 %",
            lambda generator: campaign(Grid(), int(generator.integers(1 << 30)))),
    Variant("daily cycle of 3 deviations, neighbours 0.7",
            hourly(lambda generator: red(generator, _HOURS, 0.7) + cycle(generator)),
            CYCLE, campaigns=SOME),
    Variant("daily cycle of 3 deviations",
            hourly(lambda generator: generator.standard_normal(_HOURS) + cycle(generator)),
            CYCLE, campaigns=SOME),
    Variant("step of 3 deviations",
            hourly(lambda generator: generator.standard_normal(_HOURS) + 3 * after(30)), STEP,
            campaigns=SOME),
    Variant("step of 3 deviations, ten minutes apart",
            hourly(lambda generator: generator.standard_normal(_HOURS) + 3 * after(20), TEN_MINUTES_S),
            STEP, campaigns=SOME),
    Variant("step of −20 % between days",
            sessions(lambda _: lambda day, _: math.log(0.8) * (day >= 2), 6), STEP, campaigns=SOME),
    Variant("drift of 3 deviations, ten minutes apart",
            hourly(lambda generator: generator.standard_normal(_HOURS) + 3 * line(), TEN_MINUTES_S),
            DRIFT, campaigns=SOME),
    Variant("drift of 5 deviations, ten minutes apart",
            hourly(lambda generator: generator.standard_normal(_HOURS) + 5 * line(), TEN_MINUTES_S),
            DRIFT, campaigns=SOME),
)  # fmt: skip


def test_claims_over_time() -> None:
    results: dict[str, Counter[str]] = {}
    for variant in VARIANTS:
        results[variant.name] = count(variant)
        write(results)
    for variant in VARIANTS:
        told, limit = results[variant.name], at_most(variant.campaigns)
        assert told["any false claim"] <= limit, (variant.name, told)
        if variant.true and "6 hours, a daily" not in variant.name:
            assert told["found"] >= POWER * variant.campaigns or "drift of 3" in variant.name, (variant, told)


def write(results: dict[str, Counter[str]]) -> None:
    shares = {
        variant.name: {"campaigns": variant.campaigns}
        | {what: number / variant.campaigns for what, number in sorted(results[variant.name].items())}
        for variant in VARIANTS
        if variant.name in results
    }
    what = "what is claimed over time of synthetic campaigns of known truth; shares of campaigns"
    write_result("conclusions-over-time", what, {"variants": shares})


def at_most(campaigns: int) -> float:
    """How many false claims a rate of 5 % makes at most, but for three standard deviations of chance."""
    return SIGNIFICANCE * campaigns + chance(SIGNIFICANCE, campaigns)


def count(variant: Variant) -> Counter[str]:
    """Draw the campaigns of a variant and count what is said of them."""
    starts = range(0, variant.campaigns, CHUNK)
    return sum(in_processes(partial(count_some, VARIANTS.index(variant)), starts), Counter())


def count_some(place: int, start: int) -> Counter[str]:
    variant = VARIANTS[place]
    counted: Counter[str] = Counter()
    for seed in range(start, start + CHUNK):
        told = set(claims(variant.draw(np.random.default_rng((place, seed)))))
        false = told - variant.true
        counted.update(f"false claim: {kind}" for kind in false)
        counted.update({"any false claim": bool(false), "found": bool(told & variant.true)})
    return counted
