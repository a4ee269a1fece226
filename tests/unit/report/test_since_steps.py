"""A step in goodput: the headline is of a goodput that trials had, and none is accused of the step."""

import math
from dataclasses import replace
from datetime import timedelta

import numpy as np

from analysis_support import STARTED_AT
from campaigns_over_time import watched
from flowsweep.analysis.findings.step_directions import stepped_directions, steps_of
from flowsweep.analysis.findings.topics import findings
from flowsweep.report.headline import highest_goodputs
from flowsweep.report.opening import opening
from flowsweep.report.since_steps import since_steps
from synthetic_campaigns import Grid, Row, campaign

_BEFORE = [0.0, 0.1, -0.1, 0.2, -0.2, 0.0, 0.1, -0.1, 0.2, -0.2]


def stepped() -> list[Row]:
    """Ten trials of 90 Mbit/s and ten of the double, which scatter by half a percent."""
    rows = watched([*_BEFORE, *_BEFORE])
    return [
        row | {"goodput_bps": goodput, "goodput_mean_bps": goodput, "link_payload_bps": 139e6}
        for number, row in enumerate(rows)
        for goodput in [row["goodput_bps"] * (1 if number < 10 else 2)]
    ]


def test_the_headline_is_what_was_reached_since_a_step() -> None:
    rows = stepped()
    found = findings(rows)
    (highest,) = highest_goodputs(rows, found)
    assert (highest.number, highest.unit) == ("180", "Mbit/s")
    assert highest.spread == (
        "median of 10 repeats, 179 to 181 Mbit/s, since goodput stepped; before that 89.5 to 90.5 Mbit/s in "
        "10 repeats"
    )
    told = opening(rows, found)
    assert told is not None
    lines = dict(told.lines)
    assert "a → b: 180 Mbit/s over" in lines["Highest goodput"]
    assert "Goodput changed in one step between " in lines["Trust"]
    assert lines["Trust"].endswith("; highest goodput and limit are of the trials since then.")


def test_trials_are_held_against_those_on_their_side_of_a_step() -> None:
    rows = stepped()
    of_kind = {finding.kind: finding for finding in findings(rows)}
    assert of_kind["step"].n == 20
    assert of_kind["step"].evidence == tuple(row["trial_id"] for row in rows[10:])
    assert of_kind["outliers"].claim.startswith(
        "No trial stands out from the repeats on the same side of the step: none differs by more than 3 %."
    )
    assert "(coefficient of variation, on each side of the step)" in of_kind["variation"].claim
    assert of_kind["variation"].effect is not None
    assert of_kind["variation"].effect < 1


def test_a_slow_trial_on_one_side_of_a_step_is_named() -> None:
    rows = stepped()
    rows[14] |= {"goodput_bps": 120e6, "goodput_mean_bps": 120e6}
    (outlier,) = [finding for finding in findings(rows) if finding.kind == "outliers"]
    assert outlier.evidence == (rows[14]["trial_id"],)
    assert outlier.claim.startswith("1 trial stands out from the repeats on the same side of the step: ")


def test_a_step_in_one_direction_leaves_the_other_whole() -> None:
    rows = stepped()
    back = [row | {"src": "b", "dst": "a", "trial_id": f"b{row['trial_id']}"} for row in watched([0.0] * 20)]
    step = next(finding for finding in findings(rows) if finding.kind == "step")
    both = highest_goodputs([*rows, *back], [replace(step, direction="a → b")])
    assert {one.direction: one.number for one in both} == {"a → b": "180", "b → a": "90.0"}


def both_ways() -> list[Row]:
    """Sixteen repeats both ways; a → b falls from 94 to 60 Mbit/s after the eighth, b → a stays at 94."""
    ways = Grid(flows=(1,), window_sums=(1 << 20,), repeats=16, noise=0, block=0)
    rows = sorted(campaign(ways, 1), key=lambda row: (row["repeat"], row["src"]))
    generator = np.random.default_rng(5)
    for number, row in enumerate(rows):
        fallen = row["src"] == "a" and row["repeat"] > 8
        goodput = (60e6 if fallen else 94e6) * math.exp(0.005 * generator.standard_normal())
        at = (STARTED_AT + timedelta(minutes=number)).isoformat()
        row |= {"goodput_bps": goodput, "goodput_mean_bps": goodput, "started_at": at}
    return rows


def test_a_step_of_one_of_two_directions_is_not_stated_of_both() -> None:
    """It was "by −20.2 %", and b → a was of half of its trials, "since goodput stepped"."""
    rows = both_ways()
    found = findings(rows)
    (step,) = [finding for finding in found if finding.kind == "step"]
    assert step.direction is None
    assert step.claim.endswith("] in the mean of both directions.")
    highest = {one.direction: one for one in highest_goodputs(rows, found)}
    assert highest["b → a"].spread.startswith("median of 16 repeats, ")
    assert "since goodput stepped" not in highest["b → a"].spread
    assert "median of 8 repeats" in highest["a → b"].spread
    assert "since goodput stepped; before that 9" in highest["a → b"].spread
    told = opening(rows, found)
    assert told is not None
    assert (
        "in the mean of both directions; highest goodput and limit of a → b are of the trials since then."
        in dict(told.lines)["Trust"]
    )


def test_both_directions_that_step_are_split_and_neither_that_scatters() -> None:
    rows = both_ways()
    for row in rows:
        if row["src"] == "b" and row["repeat"] > 8:
            row |= {"goodput_bps": row["goodput_bps"] * 0.64, "goodput_mean_bps": row["goodput_bps"] * 0.64}
    found = findings(rows)
    since, before = since_steps(rows, found)
    assert {row["repeat"] for row in since} == set(range(9, 17))
    assert (len(since), len(before)) == (16, 16)
    (step,) = steps_of(found)
    scattered = [
        row | {"goodput_bps": row["goodput_bps"] * (1.5 if row["repeat"] % 2 else 0.4)} for row in both_ways()
    ]
    of_back = [row for row in scattered if row["src"] == "b"]
    shown, others = stepped_directions([*both_ways()[::2], *of_back], step)
    assert (shown, others) == (["a → b"], ["b → a"])


def test_a_trial_after_a_step_whose_counterpart_failed_is_none_of_before() -> None:
    """It was "before that 60.0 to 94.5 Mbit/s in 9 repeats"."""
    rows = both_ways()
    failed = next(row for row in rows if row["repeat"] == 12 and row["src"] == "b")
    failed |= {"status": "failed", "goodput_bps": None, "goodput_mean_bps": None}
    counterpart = next(row for row in rows if row["repeat"] == 12 and row["src"] == "a")
    found = findings(rows)
    (step,) = steps_of(found)
    assert counterpart["trial_id"] in step.evidence
    (highest,) = [one for one in highest_goodputs(rows, found) if one.direction == "a → b"]
    assert highest.spread.startswith("median of 8 repeats, ")
    assert highest.spread.endswith(" in 8 repeats")


def test_a_trial_that_carried_nothing_after_a_step_is_none_of_before() -> None:
    rows = stepped()
    rows[15] |= {"goodput_bps": 0.0, "goodput_mean_bps": 0.0}
    _, before = since_steps(rows, findings(rows))
    assert [row["trial_id"] for row in before] == [row["trial_id"] for row in rows[:10]]
