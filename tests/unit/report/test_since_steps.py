"""A step in goodput: the headline is of a goodput that trials had, and none is accused of the step."""

from dataclasses import replace

from campaigns_over_time import watched
from flowsweep.analysis.findings.topics import findings
from flowsweep.report.headline import highest_goodputs
from flowsweep.report.opening import opening
from synthetic_campaigns import Row

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
