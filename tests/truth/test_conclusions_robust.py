"""Effects, outliers, modes and durations of campaigns of known truth: rates of false claims, and power."""

import math
from collections import Counter
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from truth_support import chance, in_processes, write_result

from flowsweep.analysis.findings.effects import effect_hypotheses
from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.modes import mode_hypotheses
from flowsweep.analysis.findings.multiple_testing import decided
from flowsweep.analysis.findings.outliers import outlier_hypotheses
from flowsweep.analysis.statistics.design import design
from flowsweep.analysis.statistics.independent_trials import independent
from flowsweep.analysis.statistics.observations import observations
from flowsweep.analysis.statistics.repeat_noise import repeat_noise
from synthetic_campaigns import KIB, Grid, Row, campaign, heavy_tailed

CAMPAIGNS = 600
CHUNK = 50
STALLED = 0.1
WINDOW = "window_sum_bytes"
MARGIN = 0.03
ONE_WAY = (("a", "b"),)
TWENTY = Grid(flows=(1,), window_sums=(512 * KIB, 1024 * KIB), directions=ONE_WAY, repeats=10)
FIVE_REPEATS = replace(TWENTY, window_sums=(512 * KIB, 1024 * KIB, 2048 * KIB, 4096 * KIB), repeats=5)
HEAVY = replace(Grid(), draw=heavy_tailed)
SIGNIFICANCE, POWER = 0.05, 0.95
SAMPLING = chance(SIGNIFICANCE, CAMPAIGNS) / CAMPAIGNS


@dataclass(frozen=True)
class Variant:
    """A kind of campaign; its place in the list is its seed, too."""

    name: str
    grid: Grid
    percent: float = 0.0
    """The true change of goodput from the smallest window sum to the largest."""
    stall_share: float = 0.0
    stalls: int = 0
    missing: float = 0.0
    mode_share: float = 0.0
    """Of trials at a level a fifth lower."""


VARIANTS = (
    Variant("independent", Grid()),
    Variant("heavy tails", HEAVY),
    Variant("day effects of 20 %", replace(Grid(), block=0.2)),
    Variant("unbalanced, one of 5 trials missing", Grid(), missing=0.2),
    Variant("one of 20 trials stalled", Grid(), stall_share=0.05),
    Variant("one of 20 stalled, heavy tails", HEAVY, stall_share=0.05),
    Variant("one of 20 stalled, unbalanced", Grid(), stall_share=0.05, missing=0.2),
    Variant("20 trials, one stalled", TWENTY, stalls=1),
    Variant("20 trials, three stalled", FIVE_REPEATS, stalls=3),
    Variant("120 trials, one stalled", Grid(), stalls=1),
    Variant("10 %", Grid(), percent=10),
    Variant("10 %, one of 20 stalled", Grid(), percent=10, stall_share=0.05),
    Variant("10 %, 20 trials, one stalled", TWENTY, percent=10, stalls=1),
    Variant("two levels, 30 %", Grid(), mode_share=0.3),
    Variant("two levels, 50 %", Grid(), mode_share=0.5),
)


def drawn(variant: Variant, seed: tuple[int, int]) -> tuple[list[Row], set[str]]:
    """Rows of a campaign, and the trials in it that stalled."""
    sizes = variant.grid.window_sums
    steps = math.log2(sizes[-1] / sizes[0])

    def grown(row: Row) -> float:
        level = round(math.log2(row[WINDOW] / sizes[0])) / steps
        return level * math.log1p(variant.percent / 100)

    rows = campaign(replace(variant.grid, effect=grown), seed)
    generator = np.random.default_rng((1, *seed))
    stalled = generator.choice(len(rows), variant.stalls, replace=False)
    if variant.stall_share:
        stalled = np.flatnonzero(generator.random(len(rows)) < variant.stall_share)
    for place in stalled:
        rows[place]["goodput_bps"] *= STALLED
    for row in rows:
        row["goodput_bps"] *= 0.8 if generator.random() < variant.mode_share else 1.0
    names = {rows[place]["trial_id"] for place in stalled}
    return [row for row in rows if generator.random() >= variant.missing], names


def outcomes(variant: Variant, seed: tuple[int, int]) -> set[str]:
    """What is true of the findings of one campaign."""
    rows, stalled = drawn(variant, seed)
    [observed] = observations(rows)
    noise = repeat_noise(design(observed))
    hypotheses = effect_hypotheses(observed) + outlier_hypotheses(observed, noise)
    told = decided(hypotheses + mode_hypotheses(observed, noise))
    found = {what for one in told for what in _of(variant, one)}
    [outliers] = [one for one in told if one.kind == "outliers"]
    named = set() if outliers.claim.startswith("No trial") else set(outliers.evidence)
    found |= (
        {"all stalled named"} if stalled and stalled & {row["trial_id"] for row in rows} <= named else set()
    )
    if named - stalled and "is not known" not in outliers.claim and not variant.mode_share:
        found |= {"any false claim", "innocent named"}
    return found


def _of(variant: Variant, one: Finding) -> set[str]:
    found = set()
    if one.kind == "modes" and one.decision == "effect":
        right = variant.mode_share > 0
        found |= {"modes found"} if right else {"any false claim", "false: modes"}
        covered = one.interval_low is not None and one.interval_low <= -20 <= (one.interval_high or 0.0)
        found |= {"covered: modes"} if covered else set()
    if one.kind not in {"effect", "flows"} or one.interval_low is None or one.interval_high is None:
        return found
    true = one.axis == WINDOW and variant.percent > 0
    if one.decision == "effect":
        found |= {"found"} if true else {"any false claim", f"false: {one.kind}"}
        found |= {"denies itself"} if one.interval_low <= 0 <= one.interval_high else set()
    truth = variant.percent if one.axis == WINDOW else 0.0
    what = "window" if one.axis == WINDOW else "flows"
    found |= {f"answered: {what}"}
    found |= {f"covered: {what}"} if one.interval_low <= truth <= one.interval_high else set()
    return found


def count_some(place: int, start: int) -> Counter[str]:
    counted: Counter[str] = Counter()
    for seed in range(start, start + CHUNK):
        counted.update(outcomes(VARIANTS[place], (place, seed)))
    return counted


def promises(generator: np.random.Generator, correlation: float, campaigns: int) -> tuple[int, int, int]:
    """How often a promise about a duration is made, holds, and how often its lower end holds for all cuts."""
    length, cuts = 30, (5, 10, 15, 20, 25)

    def logs(count: int) -> np.ndarray:
        noise = generator.standard_normal((count, length))
        for second in range(1, length):
            noise[:, second] *= math.sqrt(1 - correlation**2)
            noise[:, second] += correlation * noise[:, second - 1]
        return 0.04 * noise + 0.005 * generator.standard_normal((count, 1))

    many = logs(20_000)
    level = np.median(many, axis=1).mean()
    truth = [
        float(np.mean(np.abs(np.median(many[:, :cut], axis=1) - level) <= math.log1p(MARGIN))) for cut in cuts
    ]
    cells, blocks = np.repeat(np.arange(20), 5), np.tile(np.arange(5), 20)
    made = kept = held = 0
    for _ in range(campaigns):
        trials = logs(len(cells))
        whole = np.median(trials, axis=1)
        for cut, true in zip(cuts, truth, strict=True):
            told = independent(np.median(trials[:, :cut], axis=1), whole, cells, blocks, MARGIN)
            assert told is not None
            promised = told.least_share >= 0.9
            made, kept, held = (
                made + promised,
                kept + (promised and true >= 0.9),
                held + (told.least_share <= true),
            )
    return made, kept, held


def test_conclusions_where_trials_stall() -> None:
    starts = range(0, CAMPAIGNS, CHUNK)
    results: dict[str, Counter[str]] = {
        variant.name: sum(in_processes(partial(count_some, place), starts), Counter())
        for place, variant in enumerate(VARIANTS)
    }
    durations = {}
    for correlation in (0.0, 0.3, 0.7):
        made, kept, held = promises(np.random.default_rng(1), correlation, 100)
        durations[f"correlation {correlation}"] = {
            "promised": made / 500, "lower end holds": held / 500,
            "promises that hold": kept / made if made else None,
        }  # fmt: skip
    what = "what findings claim of synthetic campaigns in which trials stall; shares of campaigns"
    shares = {
        name: {key: number / CAMPAIGNS for key, number in sorted(told.items())}
        for name, told in results.items()
    }
    write_result(
        "conclusions-robust", what, {"campaigns": CAMPAIGNS, "variants": shares, "durations": durations}
    )
    for variant in VARIANTS:
        told = shares[variant.name]
        assert told.get("denies itself", 0) == 0, variant
        if not variant.mode_share:
            assert told.get("any false claim", 0) <= SIGNIFICANCE + SAMPLING, (variant, told)
        if variant.percent:
            assert told["found"] >= POWER - SAMPLING, (variant, told)
        if variant.mode_share:
            assert told["modes found"] >= 0.9 - SAMPLING, (variant, told)
    assert all(told["lower end holds"] >= 0.93 for told in durations.values()), durations
