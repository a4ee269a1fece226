"""The interval of the smallest window that is enough: whatever the shoulder, it holds the truth."""

import json
import math

import pytest

from flowsweep.analysis.findings.plateau.knee import excluded
from plan_support import ROOT
from response_campaigns import CORNER_BYTES, SHAPES, holds, plateau_of_rows, recorded_rows, shoulder

TRUTH = ROOT / "docs" / "truth"
PER_SHAPE = 20


@pytest.mark.parametrize("shape", SHAPES)
def test_the_interval_holds_the_truth_whatever_the_shoulder(shape: str) -> None:
    held = 0
    for seed in range(PER_SHAPE):
        rows, truth = shoulder(SHAPES[shape], seed)
        plateau = plateau_of_rows(rows)
        held += holds(plateau, truth)
        below = excluded(plateau.found)
        if plateau.knee is not None and below is not None:
            assert (plateau.knee.low or 0) > plateau.means.levels[below]
            assert plateau.knee.requested > plateau.means.levels[below]
    assert held >= PER_SHAPE - 3  # 95 % each: P(fewer) < 0.02


def test_a_level_that_varies_more_than_the_others_is_not_taken_for_insufficient() -> None:
    """Just below the plateau goodput is unsteady; three repeats of it say little."""
    wrong = 0
    for seed in range(100):
        rows, _ = shoulder(lambda x: min(1.0, 2 * x), seed, noise=0.003)
        for row in rows:
            if row["window_sum_bytes"] == sorted({each["window_sum_bytes"] for each in rows})[2]:
                row["goodput_bps"] *= math.exp(25 * math.log(row["goodput_bps"] / 90e6) / 10)
        wrong += excluded(plateau_of_rows(rows).found) == 2
    assert wrong <= 12


def test_a_plateau_that_only_the_largest_window_reaches_has_no_upper_end() -> None:
    rows, _ = shoulder(SHAPES["corner"], 1, shares=(0.2, 0.3, 0.5, 0.7, 1.5))
    knee = plateau_of_rows(rows).knee
    assert knee is not None
    assert knee.high is None
    assert knee.low == pytest.approx(0.7 * CORNER_BYTES, rel=1e-4)


def test_intervals_of_emulated_paths_hold_what_dense_windows_show() -> None:
    """Of 16 settings: the interval of six windows against ten more between those, measured apart."""
    coarse, dense = (
        json.loads((TRUTH / f"{name}.json").read_text(encoding="utf-8"))["settings"]
        for name in ("plateau", "knee-between")
    )
    held = []
    for setting, between in zip(coarse, dense, strict=True):
        knee = plateau_of_rows(recorded_rows(setting)).knee
        assert knee is not None
        held.append(all(
            (low or 0) <= truth <= (high or math.inf)
            for truth, low, high in (
                (between["enough_requested_bytes"], knee.low, knee.high),
                (between["enough_usable_bytes"], knee.usable_low, knee.usable_high),
            )
        ))  # fmt: skip
    assert sum(held) >= 15, held
