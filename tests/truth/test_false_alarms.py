"""Ten thousand campaigns with nothing to find, and as many with something: what the findings claim."""

import math
from collections import Counter
from dataclasses import dataclass, replace
from functools import partial

from truth_support import NOTES, fill_table, in_processes, table, write_result

from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.topics import findings
from synthetic_campaigns import Grid, Noise, Row, campaign, heavy_tailed, normal

MANY, SOME = 10_000, 2_000
CHUNK = 250
WINDOW = "window_sum_bytes"
SIGNIFICANCE, POWER, COVERAGE = 0.05, 0.95, (0.94, 0.96)
_TOPICS_OF_WINDOW = frozenset({"plateau"})
"""What else may rightly claim something where the window matters."""


@dataclass(frozen=True)
class Variant:
    """A kind of campaign; its name is its seed, too."""

    name: str
    percent: float = 0.0
    """The true change of goodput from the smallest window sum to the largest."""
    campaigns: int = MANY
    draw: Noise = normal
    uneven: bool = False
    """The noise is 0.3 % at the smallest window sum and 6 % at the largest."""
    shared: bool = False
    """Both directions of a point share as much noise as each has of its own."""

    @property
    def grid(self) -> Grid:
        grid = replace(Grid(), draw=self.draw, effect=partial(effect, self.percent))
        if self.uneven:
            grid = replace(grid, noise_of=lambda row: (0.1, 0.5, 1.0, 2.0)[level(row)])
        return replace(grid, pair=grid.noise) if self.shared else grid


VARIANTS = (
    Variant("no effect"),
    Variant("no effect, heavy tails", draw=heavy_tailed),
    Variant("no effect, uneven noise", campaigns=SOME, uneven=True),
    Variant("no effect, directions share noise", campaigns=SOME, shared=True),
    Variant("2 %", campaigns=SOME, percent=2),
    Variant("2 %, heavy tails", campaigns=SOME, percent=2, draw=heavy_tailed),
    Variant("10 %", percent=10),
    Variant("10 %, heavy tails", percent=10, draw=heavy_tailed),
)


def level(row: Row) -> int:
    """The number of a window sum, from 0; those that flows do not divide are a little smaller."""
    return round(math.log2(row[WINDOW] / Grid.window_sums[0]))


def effect(percent: float, row: Row) -> float:
    return math.log1p(percent / 100) * level(row) / (len(Grid.window_sums) - 1)


def test_claims_of_synthetic_campaigns() -> None:
    results = {variant.name: count(variant) for variant in VARIANTS}
    write_notes(results)
    for variant in VARIANTS:
        told = results[variant.name]
        assert told["any false claim"] <= SIGNIFICANCE * variant.campaigns, (variant, told)
        if variant.percent == 10:
            assert told["found"] >= POWER * variant.campaigns, (variant, told)
        if variant.draw is normal and variant.campaigns == MANY:
            for kind in ("window", "flows", "direction"):
                low, high = COVERAGE
                assert low <= told[f"covered: {kind}"] / MANY <= high, (variant, kind, told)


def count(variant: Variant) -> Counter[str]:
    """Draw the campaigns of a variant and count what is said of them."""
    starts = range(0, variant.campaigns, CHUNK)
    return sum(in_processes(partial(count_some, VARIANTS.index(variant)), starts), Counter())


def count_some(place: int, start: int) -> Counter[str]:
    variant = VARIANTS[place]
    counted: Counter[str] = Counter()
    for seed in range(start, start + CHUNK):
        told = findings(campaign(variant.grid, (place, seed)))
        counted.update(outcomes(variant, told))
    return counted


def outcomes(variant: Variant, told: tuple[Finding, ...]) -> set[str]:
    """What is true of the findings of one campaign."""
    found = set()
    for one in told:
        true = variant.percent > 0 and (one.axis == WINDOW or one.kind in _TOPICS_OF_WINDOW)
        if one.decision == "effect":
            found |= {"found"} if true and one.kind == "effect" else set()
            found |= set() if true else {"any false claim", f"false claim: {one.kind}"}
        if one.kind == "effect" and one.axis == WINDOW:
            found |= {"called equivalent"} if one.decision == "no practical effect" else set()
            found |= {"covered: window"} if covers(one, variant.percent) else set()
        elif one.kind in {"flows", "direction"} and covers(one, 0.0):
            found.add(f"covered: {one.kind}")
    return found


def covers(one: Finding, truth: float) -> bool:
    assert one.interval_low is not None
    assert one.interval_high is not None
    return one.interval_low <= truth <= one.interval_high


def write_notes(results: dict[str, Counter[str]]) -> None:
    shares = {
        variant.name: {"campaigns": variant.campaigns}
        | {what: number / variant.campaigns for what, number in sorted(results[variant.name].items())}
        for variant in VARIANTS
    }
    what = "what findings claim of synthetic campaigns of 120 trials; shares of campaigns"
    write_result("false-alarms", what, {"variants": shares})
    columns = (
        "truth", "campaigns", "any false claim", "effect of window found", "called no practical effect",
        "interval covers: window", "flows", "direction",
    )  # fmt: skip
    keys = (
        "any false claim", "found", "called equivalent", "covered: window", "covered: flows",
        "covered: direction",
    )  # fmt: skip
    lines = [
        (name, told["campaigns"], *(f"{100 * told.get(key, 0):.2f} %" for key in keys))
        for name, told in shares.items()
    ]
    fill_table(NOTES / "false-alarms.md", "claims", table(columns, lines))
