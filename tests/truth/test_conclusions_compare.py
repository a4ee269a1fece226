"""Pairs of campaigns of known truth: how often a comparison says what is not so, and what is."""

import math
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from truth_support import NOTES, chance, fill_table, in_processes, table, write_result

from compared_campaigns import Drawn, drawn, failing_slow, outcomes
from flowsweep.analysis.comparing.comparison import compare
from flowsweep.cli.compare import FailIf, exit_code
from synthetic_campaigns import heavy_tailed

TRIALS = 100_000
"""That the pairs of one variant have together, about: pairs of large campaigns are fewer."""
REPEATS = ((3, 3), (3, 30), (10, 10))
POINTS = (1, 4, 20, 100)
ERROR_RATE = 0.05


@dataclass(frozen=True)
class Variant:
    """Two ways of drawing; its name is its seed, too."""

    name: str
    a: Drawn
    b: Drawn
    least: float | None = None
    """The share that has to be found different; none where they are alike."""
    pairs: int = field(default=150)


def variants() -> list[Variant]:
    found = []
    for (a, b), points in product(REPEATS, POINTS):
        pairs = max(60, min(400, TRIALS // (points * (a + b))))
        found.append(
            Variant(f"identical, {a} and {b} × {points}", Drawn(points, a), Drawn(points, b), pairs=pairs)
        )
    for name, how in (
        ("noise of points differs", {"uneven": True}),
        ("heavy tails", {"draw": heavy_tailed}),
        ("repeats differ by 10 %", {"block": 0.1}),
    ):
        found += [
            Variant(f"{name}, {a} and {b} × 20", Drawn(20, a, **how), Drawn(20, b, **how), pairs=150)
            for a, b in REPEATS
        ]
    noisy = {"noise": 0.09, "block": 0.09}
    found += [
        Variant("A of 3 varies threefold, B of 30", Drawn(20, 3, **noisy), Drawn(20, 30), pairs=150),
        Variant("slow trials of B fail", Drawn(8, 8, 0.15, 0.0), Drawn(8, 8, 0.15, 0.0, fails=failing_slow)),
        Variant(
            "5 % faster, 3 and 3 × 20",
            Drawn(20, 3, block=0.01), Drawn(20, 3, block=0.01, shift=0.05), least=0.75, pairs=150,
        ),
        Variant(
            "one point of 20 30 % slower, 3 and 3", Drawn(20, 3, block=0.01),
            Drawn(20, 3, block=0.01, shift=math.log(0.7), at=7), least=0.95, pairs=150,
        ),
    ]  # fmt: skip
    return found


def count(variant: Variant) -> tuple[int, int]:
    """Comparisons that say "faster" or "slower" of anything, and that end with exit code 1."""
    rng = np.random.default_rng(list(variant.name.encode()))
    said = failed = 0
    for _ in range(variant.pairs):
        comparison = compare(drawn(variant.a, rng), drawn(variant.b, rng))
        said += bool(outcomes(comparison) & {"faster", "slower"})
        failed += exit_code(comparison, FailIf.different) == 1
    return said, failed


def test_comparisons_of_synthetic_campaigns() -> None:
    every = variants()
    counts = in_processes(count, every)
    lines = [
        (
            variant.name,
            variant.pairs,
            f"{said / variant.pairs:.2%}",
            "alike" if variant.least is None else "different",
        )
        for variant, (said, _) in zip(every, counts, strict=True)
    ]
    fill_table(
        NOTES / "conclusions-compare.md", "compare",
        table(("campaigns", "pairs", "called different, overall or at a point", "truth"), lines),
    )  # fmt: skip
    result = {
        variant.name: {"pairs": variant.pairs, "called different": said, "exit code 1": failed}
        for variant, (said, failed) in zip(every, counts, strict=True)
    }
    write_result("conclusions-compare", "synthetic pairs of campaigns", {"variants": result})
    for variant, (said, failed) in zip(every, counts, strict=True):
        assert said == failed, variant
        if variant.least is not None:
            assert said >= variant.least * variant.pairs, (variant, said)
        else:
            assert said <= ERROR_RATE * variant.pairs + chance(ERROR_RATE, variant.pairs), (variant, said)
