"""Repeats at two levels: the headline is of goodputs that trials had."""

from typing import Any

import pytest

from figures_support import finding
from flowsweep.analysis.findings.topics import findings
from flowsweep.report.headline import highest_goodputs
from flowsweep.report.opening import opening
from flowsweep.report.two_levels import two_levels
from synthetic_campaigns import KIB, Grid, Row, campaign

ONE_POINT = Grid(
    flows=(1,), window_sums=(512 * KIB,), directions=(("a", "b"),), repeats=40, noise=0.02, block=0.0
)
# No two neighbours more often alike than by chance.
LOW = frozenset((0, 3, 4, 7, 9, 10, 13, 14, 16, 19, 20, 21, 24, 27, 29, 30, 33, 34, 36, 39))


def bimodal(factor: float = 0.43) -> list[Row]:
    rows = campaign(ONE_POINT, 1)
    for place in LOW:
        rows[place]["goodput_bps"] *= factor
        rows[place]["goodput_mean_bps"] = rows[place]["goodput_bps"]
    return rows


def test_both_levels_are_told_and_not_what_lies_between_them() -> None:
    """The median of 20 trials of 39 Mbit/s and 20 of 90 was 64 Mbit/s, which nobody measured."""
    rows = bimodal()
    found = findings(rows)
    [highest] = highest_goodputs(rows, found)
    assert highest.unit == "Mbit/s"
    low, high = map(float, highest.number.split(" or "))
    assert (low, high) == (pytest.approx(38.7, rel=0.02), pytest.approx(90, rel=0.02))
    assert highest.meant == "over the whole trial"
    assert highest.spread.startswith("at two levels, 20 of 40 repeats at the lower, 3")
    told = opening(rows, found)
    assert told is not None
    lines = dict(told.lines)
    assert f"a → b: {highest.number} Mbit/s over the whole trial, at " in lines["Highest goodput"]
    assert "Repeats of the same point come out at two levels: 50.0 % of 40 trials" in lines["Trust"]


@pytest.mark.parametrize(
    ("changes", "number"),
    [({}, ("38.8 or 90.0", "Mbit/s")), ({"decision": "undecided"}, None), ({"sweep": "other"}, None)],
)
def test_levels_are_those_of_a_finding(changes: dict[str, Any], number: tuple[str, str] | None) -> None:
    rows = bimodal()
    modes = {"kind": "modes", "decision": "effect", "sweep": "windows", "mode": "copy", "direction": None}
    low = tuple(rows[place]["trial_id"] for place in LOW)
    found = two_levels(rows, [finding(**(modes | changes), evidence=low)])
    assert (found and found.number(None)) == number
    assert number is None or (found and found.number(50e6)) == ("38.8 or 50.0", "Mbit/s")


def test_a_point_with_few_trials_at_the_lower_level_has_one() -> None:
    rows = bimodal()
    low = tuple(rows[place]["trial_id"] for place in sorted(LOW)[:7])
    told = finding(kind="modes", decision="effect", sweep="windows", mode="copy", evidence=low)
    assert two_levels(rows, [told]) is None


def test_levels_of_unlike_units_keep_them() -> None:
    rows = bimodal(factor=0.005)
    low = tuple(rows[place]["trial_id"] for place in LOW)
    told = finding(kind="modes", decision="effect", sweep="windows", mode="copy", evidence=low)
    found = two_levels(rows, [told])
    assert found is not None
    assert found.number(None)[0].endswith(" or 90.0")
    assert " kbit/s or " in found.number(None)[0]
