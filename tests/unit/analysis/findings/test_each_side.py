"""Trials are held against those on their side of a step only where the campaign claims one."""

from datetime import timedelta

import numpy as np
import pytest

from analysis_support import STARTED_AT
from campaigns_over_time import watched
from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.topics import findings
from synthetic_campaigns import Row

_SWEEP = "windows"


def shifted(seed: int) -> list[Row]:
    """Twenty trials, the last ten higher by 1.7 standard deviations."""
    generator = np.random.default_rng(seed)
    return watched(generator.standard_normal(20) + np.repeat([0.0, 1.7], 10))


def noise(sweep: str, seed: int) -> list[Row]:
    rows = watched(np.random.default_rng((9, seed)).standard_normal(20))
    return [row | {"sweep": sweep, "trial_id": f"{sweep}{row['trial_id']}"} for row in rows]


def of_sweep(rows: list[Row]) -> dict[str, Finding]:
    return {found.kind: found for found in findings(rows) if found.sweep == _SWEEP}


@pytest.mark.parametrize("seed", [1, 3, 8])
def test_no_trial_is_held_against_a_step_that_is_not_claimed(seed: int) -> None:
    """One report said that no step stands out, and how trials scatter on each side of the step."""
    found = of_sweep(shifted(seed))
    step = found.pop("step")
    assert step.p_value is not None
    assert 0.01 < step.p_value < 0.05
    assert step.decision == "undecided"
    assert not [one.claim for one in found.values() if "the step" in one.claim + one.method]


def test_whether_trials_are_split_depends_on_all_that_is_tested() -> None:
    rows = shifted(9)
    alone = of_sweep(rows)
    assert alone["step"].decision == "effect"
    assert "(coefficient of variation, on each side of the step)" in alone["variation"].claim
    beside = of_sweep([*rows, *noise("b", 1), *noise("c", 2), *noise("d", 3)])
    assert (beside["step"].p_value, beside["step"].decision) == (alone["step"].p_value, "undecided")
    assert not [one.claim for one in beside.values() if "the step" in one.claim + one.method]
    assert alone["variation"].effect is not None
    assert beside["variation"].effect is not None
    assert beside["variation"].effect > 1.2 * alone["variation"].effect


def test_a_sweep_is_split_by_its_own_step_alone() -> None:
    rows = watched([*np.random.default_rng(1).standard_normal(10), *np.full(10, 30.0)])
    found = findings([*rows, *noise("b", 1)])
    said = {(one.sweep, one.kind): one.claim for one in found}
    assert "on each side of the step" in said[_SWEEP, "variation"]
    assert "the step" not in said["b", "variation"] + said["b", "outliers"]


def test_three_levels_have_three_sides() -> None:
    """Between two steps −20 %: trials scattered by 9.27 %, and the farthest was an ordinary one there."""
    numbers = np.arange(240)
    deviations = np.random.default_rng(1).standard_normal(240) - 7 * ((numbers >= 80) & (numbers < 150))
    deviations[110] -= 7
    found = {one.kind: one for one in findings(watched(deviations))}
    assert found["step"].claim.startswith("Goodput changed in two steps: ")
    assert "(coefficient of variation, on each side of the steps)" in found["variation"].claim
    assert found["variation"].effect == pytest.approx(3.0, abs=0.3)
    [outlier] = found["outliers"].evidence
    assert int(outlier, 16) == 110
    assert "points on each side of the steps taken out" in found["variation"].method


def test_two_steps_do_not_lie_in_one_interval_of_time() -> None:
    """Amid a slow hour of each day two steps were said, both "between 2026-03-01 00:00 and 05:00 UTC"."""
    hours = np.arange(672)
    slow = (hours + np.where(hours < 14 * 24 - 1, 1, 2)) % 24 == 3
    rows = watched(np.random.default_rng(8).standard_normal(672) * 0.7 - 11.9 * slow)
    midnight = STARTED_AT.replace(hour=0, minute=0)
    for number, row in enumerate(rows):
        row["started_at"] = (midnight + timedelta(hours=number)).isoformat()
    [step] = [one for one in findings(rows) if one.kind == "step"]
    assert not step.claim.startswith("Goodput changed in two steps: ")
