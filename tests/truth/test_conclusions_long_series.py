"""What is claimed over time of weeks of hourly trials, neighbours of which are averaged; what is found."""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from truth_support import chance, in_processes, write_result

from campaigns_over_time import NOISE, claims, daily, red, watched

CAMPAIGNS, CHUNK = 100, 10
SIGNIFICANCE, POWER = 0.05, 0.90
SIZE = 3.0
"""Of steps, cycles and weekends in standard deviations of single trials."""
_LESS, _MORE = (100 * math.expm1(sign * SIZE * NOISE) for sign in (-1, 1))
"""In percent."""
_LASTS = 56
"""Hours of what comes back; a sixth of two weeks."""

Generator = np.random.Generator


@dataclass(frozen=True)
class Kind:
    """A kind of campaigns; its place is its seed, too."""

    name: str
    draw: Callable[[Generator], Any]
    """Deviations of log goodput, of an hour each."""
    true: frozenset[str] = frozenset()
    """Kinds of findings that may rightly be claimed; there is something to be found if there are any."""
    size: float | None = None
    """Of the effect, in percent, which the interval is to contain."""
    power: float = POWER


def days(generator: Generator, count: int) -> Any:
    return generator.standard_normal(count) + np.repeat(generator.standard_normal(count // 24), 24)


def stalled(generator: Generator, count: int) -> Any:
    return generator.standard_normal(count) - 60 * (generator.random(count) < 0.05)


def stepped(generator: Generator, count: int) -> Any:
    place = generator.integers(count // 5, count - count // 5)
    return red(generator, count, 0.5) - SIZE * (np.arange(count) >= place)


def came_back(generator: Generator, count: int) -> Any:
    place = generator.integers(count // 5, count // 2)
    hours = np.arange(count)
    return red(generator, count, 0.5) - SIZE * ((hours >= place) & (hours < place + _LASTS))


def weekends(generator: Generator, count: int) -> Any:
    return red(generator, count, 0.5) + SIZE * (np.arange(count) // 24 % 7 >= 5)


def each_day(generator: Generator, count: int) -> Any:
    return red(generator, count, 0.5) + daily(count, SIZE, generator.random())


KINDS = (
    Kind("independent, a month", lambda generator: generator.standard_normal(720)),
    Kind("neighbours 0.5, a week", lambda generator: red(generator, 168, 0.5)),
    Kind("neighbours 0.9, two weeks", lambda generator: red(generator, 336, 0.9)),
    Kind("neighbours 0.9, a month", lambda generator: red(generator, 720, 0.9)),
    Kind("heavy tails, two weeks", lambda generator: generator.standard_t(3, 336) / math.sqrt(3)),
    Kind("one of 20 stalled, two weeks", partial(stalled, count=336)),
    Kind("days differ by 1 deviation, two weeks", partial(days, count=336)),
    Kind("a step, two weeks", partial(stepped, count=336), frozenset({"step"}), _LESS),
    Kind("56 hours of less, two weeks", partial(came_back, count=336), frozenset({"step"}), power=0.8),
    Kind("a daily cycle, two weeks", partial(each_day, count=336), frozenset({"cycle"}), _MORE),
    Kind("a daily cycle, two months", partial(each_day, count=1440), frozenset({"cycle"}), _MORE),
    Kind("weekends, six weeks", partial(weekends, count=1008), frozenset({"cycle"})),
)


def test_claims_over_weeks() -> None:
    results: dict[str, Counter[str]] = {}
    for kind in KINDS:
        starts = range(0, CAMPAIGNS, CHUNK)
        results[kind.name] = sum(in_processes(partial(count_some, KINDS.index(kind)), starts), Counter())
        write(results)
    most = SIGNIFICANCE * CAMPAIGNS + chance(SIGNIFICANCE, CAMPAIGNS)
    assert [name for name, told in results.items() if told["any false claim"] > most] == []
    sought = [kind for kind in KINDS if kind.true]
    assert [kind.name for kind in sought if results[kind.name]["found"] < kind.power * CAMPAIGNS] == []
    sized = [kind for kind in sought if kind.size is not None]
    assert [kind.name for kind in sized if results[kind.name]["covered"] < POWER * CAMPAIGNS] == []


def write(results: dict[str, Counter[str]]) -> None:
    shares = {
        name: {"campaigns": CAMPAIGNS} | {what: number / CAMPAIGNS for what, number in sorted(told.items())}
        for name, told in results.items()
    }
    what = (
        "what is claimed over time of synthetic campaigns of 168 to 1440 hourly trials; shares of campaigns"
    )
    write_result("conclusions-long-series", what, {"kinds": shares})


def count_some(place: int, start: int) -> Counter[str]:
    kind = KINDS[place]
    counted: Counter[str] = Counter()
    for seed in range(start, start + CHUNK):
        told = claims(watched(kind.draw(np.random.default_rng((place, seed)))))
        false = set(told) - kind.true
        counted.update(f"false claim: {each}" for each in false)
        counted.update({"any false claim": bool(false), "found": bool(set(told) & kind.true)})
        sizes = [(told[each].interval_low, told[each].interval_high) for each in kind.true if each in told]
        if kind.size is not None:
            covered = [
                low <= kind.size <= high for low, high in sizes if low is not None and high is not None
            ]
            counted["covered"] += any(covered)
    return counted
