"""Sentences about an axis: a multiple where percent would be hundreds, nothing that is more by 0.0 %."""

import math
from dataclasses import replace

import pytest

from flowsweep.analysis.findings.hypothesis import NO_ESTIMATE, Estimate
from flowsweep.analysis.findings.sentences import AxisEffect, say_effect
from flowsweep.analysis.findings.topics import findings
from flowsweep.analysis.statistics.design import changed_with, design
from flowsweep.analysis.statistics.observations import observations
from flowsweep.analysis.statistics.usual_trials import LeftOut
from synthetic_campaigns import KIB, Grid, Row, campaign

EXTREMES = " (the highest and the lowest mean of 3)"
PEAK = AxisEffect(
    kind="effect",
    axis="window_sum_bytes",
    changed_with=(),
    levels=(64 * KIB, 128 * KIB, 256 * KIB),
    first=64 * KIB,
    second=128 * KIB,
    in_order=False,
    extremes=True,
    highest=128 * KIB,
    estimate=(math.log(7.6), math.log(7.4), math.log(7.8)),
    margin=0.03,
    uneven=False,
    left_out=LeftOut(0, 0, 2),
    paths=(),
    once=(),
    spread=lambda: None,
)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, f"at 128 KiB goodput is 7.60 times [7.40, 7.80] that at 64 KiB{EXTREMES}."),
        ({"extremes": False}, "at 128 KiB goodput is 7.60 times [7.40, 7.80] that at 64 KiB."),
        (
            {"axis": "congestion_asked", "first": "cubic", "second": "bbr", "levels": ("cubic", "bbr")},
            "with bbr goodput is 7.60 times [7.40, 7.80] that with cubic.",
        ),
        (
            {"estimate": (math.log(1.5), math.log(1.4), math.log(1.6))},
            f"at 128 KiB goodput is 50.0 % [40.0, 60.0] higher than at 64 KiB{EXTREMES}.",
        ),
    ],
)
def test_several_times_as_much_is_a_multiple(changes: dict[str, object], said: str) -> None:
    assert say_effect(replace(PEAK, **changes), "effect").endswith(f" matters: {said}")  # type: ignore[arg-type]


def test_what_changed_with_an_axis_is_named() -> None:
    """`pairs = [1, 2]` changes sources, sinks and flows: nobody can tell which of them counts."""
    pairs = replace(PEAK, axis="sources", changed_with=("sinks", "flows"), levels=(1, 2), first=1, second=2)
    assert say_effect(pairs, "effect").startswith(
        "Number of sources (with it the number of sinks and the number of flows changed) matters: "
    )


@pytest.mark.parametrize(
    ("more", "changed"),
    [
        ({}, ("sinks", "flows")),
        ({"sinks": 1}, ("flows",)),
        ({"flows": 8}, ("sinks",)),
        ({"flows": 8, "sinks": 1}, ()),
    ],
)
def test_axes_whose_levels_go_together_are_one(more: Row, changed: tuple[str, ...]) -> None:
    rows = campaign(Grid(flows=(4, 8), window_sums=(64 * KIB,)), seed=1)
    for row in rows:
        hosts = row["flows"] // 4
        row |= {"sources": hosts, "sinks": hosts, "flows_per_pair": 4, "window_bytes": None, **more}
    observed = observations(rows)[0]
    assert changed_with("sources", design(observed), observed) == changed


def test_what_a_file_does_not_say_of_imported_trials_did_not_change() -> None:
    rows = campaign(Grid(flows=(4, 8), window_sums=(64 * KIB,)), seed=1)
    for row in rows:
        row |= {"imported_from": "iperf3", "flows_per_pair": row["flows"], "window_bytes": None}
        row["length_bytes"] = 128 * KIB if row["flows"] == 8 else None
    observed = observations(rows)[0]
    assert changed_with("flows", design(observed), observed) == ()


def test_a_rise_to_the_last_level_names_a_higher_one_before_it() -> None:
    """The gain ended at 128 KiB; "from 64 KiB to 256 KiB goodput rises" was taken for advice of 256 KiB."""
    rising = replace(PEAK, in_order=True, second=256 * KIB)
    assert say_effect(rising, "effect").endswith(
        "from 64 KiB to 256 KiB goodput rises 7.60-fold [7.40, 7.80]; the highest mean is at 128 KiB."
    )
    assert "highest" not in say_effect(replace(rising, highest=256 * KIB), "effect")


def test_points_of_which_nothing_is_left_are_counted() -> None:
    told = {
        LeftOut(1, 0, 6): "(1 trial left out: unusual, or the counterpart of one).",
        LeftOut(4, 1, 6): "or the counterpart of one; 1 of 6 points has none left).",
    }
    for left_out, words in told.items():
        assert say_effect(replace(PEAK, left_out=left_out), "effect").endswith(words)


def test_changes_beside_a_multiple_are_multiples_too() -> None:
    spread = ((math.log(6.56), (("flows", 2),)), (math.log(1.38), (("flows", 16),)))
    claim = say_effect(replace(PEAK, spread=lambda: spread), "effect")
    assert claim.endswith(" on average (6.56-fold at 2 flows, 1.38-fold at 16 flows).")


def test_what_is_no_difference_to_the_digit_is_not_higher() -> None:
    nothing = replace(PEAK, estimate=(0.0004, 0.0002, 0.0006))
    assert say_effect(nothing, "effect") == (
        "Window sum: between 64 KiB and 128 KiB goodput differs by 0.0 % [0.0, 0.1], beyond chance, but less "
        "than the margin of 3 %."
    )


def claim_of(kind: str, rows: list[Row]) -> str:
    (claim,) = (one.claim for one in findings(rows) if one.kind == kind)
    return claim


def test_directions_that_differ_by_nothing_are_not_called_faster() -> None:
    rows = campaign(Grid(repeats=4, noise=0.003), 1)
    for row in rows:
        row["goodput_bps"] = 1e8 * (1 + 0.001 * (row["src"] == "a") * (-1) ** row["repeat"])
    claim = claim_of("direction", rows)
    assert claim.startswith("Both directions are alike to within 3 %: ")
    assert " differs by 0.0 % [0.0, 0.0] from " in claim
    assert "faster" not in claim


def test_levels_that_differ_by_nothing_neither_rise_nor_fall() -> None:
    rows = campaign(Grid(repeats=10, noise=0.003), 1)
    for number, row in enumerate(rows):
        row["goodput_bps"] = 1e8 * (1 + 0.0003 * (row["flows"] == 16) + 0.00002 * (number % 2))
    claim = claim_of("flows", rows)
    assert "goodput differs by 0.0 % [0.0, 0.0], beyond chance, but less than the margin of 3 %." in claim


def test_an_interval_that_leaves_out_no_change_is_not_said_to_tell_nothing() -> None:
    wide = replace(PEAK, in_order=True, estimate=(math.log(3.9), math.log(1.27), math.log(12.2)))
    assert say_effect(wide, "undecided").endswith(
        "corrected for all that was tested, or by permutation, it may be chance."
    )
    open_ended = replace(wide, estimate=(math.log(3.9), math.log(0.9), math.log(17.0)))
    assert say_effect(open_ended, "undecided").endswith(
        "the trials do not even tell a change by a factor of 3."
    )


def test_intervals_that_no_number_holds_are_none() -> None:
    beyond = (0.5, -900.0, 901.0)
    assert Estimate.in_percent(beyond) == NO_ESTIMATE
    assert say_effect(replace(PEAK, estimate=beyond), "undecided").endswith("a change by a factor of 3.")
    assert Estimate.in_percent((0.0, -0.1, 0.1)).high == pytest.approx(10.517, abs=1e-3)


def test_a_level_that_a_file_does_not_say_is_no_level() -> None:
    rows = campaign(
        Grid(congestions=("bbr", "cubic"), effect=lambda row: -0.5 * (row["congestion"] == "cubic")), 1
    )
    unsaid = [
        row
        | ({"congestion_asked": None} if row["congestion"] == "cubic" else {})
        | {"imported_from": "table a.csv"}
        for row in rows
    ]
    assert [one for one in findings(unsaid) if one.kind == "congestion"] == []
    # A plan that names none left it to the host, which is a level.
    of_a_plan = [row | {"imported_from": None} for row in unsaid]
    [found] = [one for one in findings(of_a_plan) if one.kind == "congestion"]
    assert "with the host's default" in found.claim
