"""Campaigns of two settings of known truth: how often a comparison says what is not so, and what is."""

import math
from dataclasses import dataclass, field

import numpy as np
from truth_support import NOTES, chance, fill_table, in_processes, table, write_result

from against_support import DAY_S, Truth, against, on_two_days, rows_of, side_by_side
from compared_campaigns import outcomes
from flowsweep.analysis.comparing.comparison import compare_settings
from flowsweep.analysis.comparing.settings import both_settings
from plan_support import plan_of
from synthetic_campaigns import heavy_tailed

CAMPAIGNS = 1000
OF_TWO_DAYS = 200
ERROR_RATE = 0.05
SLOWEST = 0.75
"""Of B's trials that are slower than the median of all, so many fail where slow ones do."""
REPEATS = (3, 5, 10)
POINTS = (1, 5, 20)
TEN_PERCENT = math.log(1.1)


@dataclass(frozen=True)
class Variant:
    """One way of drawing; its name is its seed, too."""

    name: str
    points: int
    repeats: int
    truth: Truth = field(default_factory=Truth)
    slow_ones_fail: bool = False
    least: float | None = None
    """The share that has to be found faster; none where the settings are alike."""

    @property
    def windows(self) -> str:
        """The axis that makes so many points."""
        sizes = ", ".join(f'"{64 + step}KiB"' for step in range(self.points))
        return f"window = [{sizes}]"

    @property
    def campaign(self) -> str:
        """Of both plans."""
        return f"repeats = {self.repeats}"


def variants() -> list[Variant]:
    found = [
        Variant(f"alike, {repeats} × {points}", points, repeats) for repeats in REPEATS for points in POINTS
    ]
    found += [
        Variant("alike, trials of 10 min, 5 × 5", 5, 5, Truth(trial_s=600)),
        Variant("alike, heavy tails, 5 × 5", 5, 5, Truth(draw=heavy_tailed)),
        *(
            Variant(
                f"alike, neighbouring trials correlate by {correlation}, {repeats} × {points}",
                points,
                repeats,
                Truth(correlation=correlation),
            )
            for correlation, repeats, points in ((0.7, 5, 5), (0.7, 10, 1), (0.95, 10, 1))
        ),
        Variant("alike, slow trials of B fail, 8 × 5", 5, 8, Truth(noise=0.15), slow_ones_fail=True),
    ]
    found += [
        Variant(f"B 10 % faster, {repeats} × {points}", points, repeats, Truth(TEN_PERCENT), least=least)
        for repeats, points, least in ((3, 5, 0.95), (5, 1, 0.9), (5, 5, 0.95), (10, 20, 0.95))
    ]
    return found


def count(variant: Variant) -> tuple[int, int, int]:
    """What calls something different of campaigns of both settings, "faster" overall, and of two days."""
    rng = np.random.default_rng(list(variant.name.encode()))
    plan = against("flows = 1", "flows = 1", variant.campaign, both=variant.windows)
    different = faster = 0
    for _ in range(CAMPAIGNS):
        if variant.slow_ones_fail:
            rows = rows_of(plan, variant.truth, rng, begins_s=float(rng.uniform(0, DAY_S)))
            middle = np.median([row["goodput_bps"] for row in rows])
            for row in rows:
                slow = row["sweep"].endswith("-B") and row["goodput_bps"] < middle
                if slow and rng.random() < SLOWEST:
                    row |= {"status": "failed", "goodput_bps": None}
            comparison = compare_settings(*both_settings(rows, plan))
        else:
            comparison = side_by_side(plan, variant.truth, rng)
        different += bool(outcomes(comparison) & {"faster", "slower"})
        faster += comparison.overall is not None and comparison.overall.outcome == "faster"
    alone = plan_of(f"{variant.windows}\nflows = 1", variant.campaign)
    days = sum(
        bool(outcomes(on_two_days(alone, variant.truth, rng)) & {"faster", "slower"})
        for _ in range(OF_TWO_DAYS if variant.least is None and not variant.slow_ones_fail else 0)
    )
    return different, faster, days


def test_two_settings_of_synthetic_campaigns() -> None:
    every = variants()
    counts = in_processes(count, every)
    lines = []
    for variant, (different, faster, days) in zip(every, counts, strict=True):
        alike = variant.least is None
        of_days = f"{days / OF_TWO_DAYS:.1%}" if alike and not variant.slow_ones_fail else ""
        said = different if alike else faster
        lines.append((variant.name, f"{said / CAMPAIGNS:.1%}", of_days, "alike" if alike else "faster"))
    columns = (
        "settings, repeats × points",
        "side by side: claimed",
        "on two days: called different",
        "truth",
    )
    fill_table(NOTES / "conclusions-against.md", "against", table(columns, lines))
    result = {
        variant.name: {"called different": different, "faster overall": faster, "two days different": days}
        for variant, (different, faster, days) in zip(every, counts, strict=True)
    }
    write_result(
        "conclusions-against", "synthetic campaigns of two settings",
        {"campaigns": CAMPAIGNS, "of two days": OF_TWO_DAYS, "variants": result},
    )  # fmt: skip
    for variant, (different, faster, _) in zip(every, counts, strict=True):
        if variant.least is None:
            assert different <= ERROR_RATE * CAMPAIGNS + chance(ERROR_RATE, CAMPAIGNS), (variant, different)
        else:
            assert faster >= variant.least * CAMPAIGNS, (variant, faster)
