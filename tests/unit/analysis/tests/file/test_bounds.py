"""What parts of the way say of the whole: the lowest bound where it is shown, else that it is undecided."""

import re
from typing import Any

import pytest

from file_support import JOB_BYTES, make_file_outcome, make_file_trial
from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.topics import findings
from flowsweep.analysis.tests.file.findings import bound_hypotheses
from summary_support import summed

Rates = dict[str, tuple[float, ...]]
"""Bytes per microsecond of each part's repeats."""


def bound_of(rates: Rates, **seen: Any) -> Finding:
    outcomes = [
        make_file_outcome(
            make_file_trial(part=part, repeat=number), seconds=JOB_BYTES / rate / 1_000_000, **seen
        )
        for part, repeats in rates.items()
        for number, rate in enumerate(repeats, start=1)
    ]
    (found,) = [one for one in findings(summed(*outcomes)) if one.kind == "bounds"]
    return found


STEADY: Rates = {
    "whole": (47.0, 48.0, 47.5),
    "read": (200.0, 210.0, 190.0),
    "network": (117.0, 118.0, 117.5),
    "write": (49.0, 50.0, 49.5),
}


def test_the_lowest_bound_is_named_and_what_the_others_give() -> None:
    found = bound_of(STEADY)
    assert found.decision == "effect"
    assert "of the lowest bound: the sink's storage alone, 396 Mbit/s" in found.claim
    assert "The network alone gives 940 Mbit/s" in found.claim
    assert "the source's storage alone gives 1.60 Gbit/s" in found.claim
    assert found.effect == pytest.approx(47.5 / 49.5, rel=0.01)
    assert found.interval_low is not None
    assert found.interval_high is not None
    assert found.interval_low < 47.5 / 49.5 < found.interval_high


def test_bounds_whose_means_differ_by_chance_are_undecided() -> None:
    """The sink's disk has the lowest mean, and it is not the sink's disk that is known to be lowest."""
    found = bound_of(STEADY | {"network": (44.0, 62.0, 53.0), "write": (40.0, 58.0, 50.0)})
    assert found.decision == "undecided"
    assert "is undecided" in found.claim


def test_bounds_that_are_alike_are_said_to_be() -> None:
    alike = {"network": (50.0, 50.05, 49.95), "write": (50.0, 50.02, 49.97)}
    found = bound_of(STEADY | alike)
    assert found.decision == "no practical effect"
    assert "differ by no more than 3 %" in found.claim


def test_single_trials_decide_nothing() -> None:
    found = bound_of({part: rates[:1] for part, rates in STEADY.items()})
    assert found.decision == "undecided"
    assert found.interval_low is None


def test_parts_that_hold_each_other_up_are_named() -> None:
    found = bound_of(STEADY | {"whole": (25.0, 25.5, 24.5)})
    alone = "That is less than any part alone: they wait for each other, or share a disk or a CPU."
    assert alone in found.claim
    assert "less than any part alone" not in bound_of(STEADY).claim
    once = {part: rates[:1] for part, rates in (STEADY | {"whole": (15.0,)}).items()}
    assert "That is less than any part alone, as far as so few trials tell: " in bound_of(once).claim
    two = {part: rates for part, rates in (STEADY | {"whole": (25.0, 25.5, 24.5)}).items() if part != "read"}
    assert "less than any part alone" not in bound_of(two).claim, "the one that was not measured may be it"


def test_a_trial_that_stands_out_moves_no_bound() -> None:
    """One write of five went to the page cache: its arithmetic mean would be above that of the network."""
    found = bound_of(
        {
            "whole": (49.0, 50.0, 51.0, 50.0, 49.5),
            "read": (200.0, 210.0, 190.0, 200.0, 205.0),
            "network": (117.0, 118.0, 117.5, 117.0, 118.0),
            "write": (50.0, 51.0, 49.0, 50.0, 1000.0),
        }
    )
    assert found.decision == "effect"
    assert "99.8 % [97.3 %, 102 %] of the lowest bound: the sink's storage alone, 400 Mbit/s" in found.claim
    assert "Trials that stand out from their repeats are left out: 1 of the sink's storage" in found.claim
    assert "less than any part alone" not in found.claim
    assert found.n == 19


def test_trials_since_a_step_do_not_stand_out() -> None:
    """Three writes of 17 that the finding of outliers beside it did not call such were left out."""
    rates = {
        "whole": [47.0] * 17,
        "read": [1600.0] * 17,
        "network": [117.0] * 17,
        "write": [50.0] * 14 + [25.0] * 3,
    }
    outcomes = [
        make_file_outcome(
            make_file_trial(part=part, repeat=number),
            seconds=JOB_BYTES / rate / 1_000_000 * (1 + number * 7 % 5 / 1000),
        )
        for part, repeats in rates.items()
        for number, rate in enumerate(repeats, start=1)
    ]
    rows = sorted(summed(*outcomes), key=lambda row: (row["repeat"], row["mode"] or ""))
    for number, row in enumerate(rows):
        row["started_at"] = f"2026-03-01T12:{number // 4:02}:{number % 4 * 15:02}.000Z"
    found = findings(rows)
    claims = {one.kind: one.claim for one in found if one.mode == "write"}
    assert "Goodput changed in one step" in claims["step"]
    assert "No trial stands out" in claims["outliers"]
    (bound,) = [one for one in found if one.kind == "bounds"]
    assert "left out" not in bound.claim
    assert bound.n == 68


def test_a_bound_that_scatters_is_held_against_the_lowest_though_a_third_lies_between() -> None:
    """Nobody knows what such a disk writes: the network is not shown to be lowest, nor the whole below."""
    found = bound_of(
        STEADY
        | {"whole": (100.0, 100.5, 99.5), "network": (117.0, 118.0, 117.5), "read": (150.0, 151.0, 149.0)}
        | {"write": (60.0, 1300.0, 200.0)}
    )
    assert found.decision == "undecided"
    which = r"whether that is the network alone \(.*\) or the sink's storage alone \(.*\) is undecided"
    assert re.search(which, found.claim)
    assert "The source's storage alone gives 1.20 Gbit/s" in found.claim
    assert "less than any part alone" not in found.claim
    below = STEADY | {"whole": (50.0, 50.5, 49.5), "read": (150.0, 151.0, 149.0)}
    assert "less than any part alone" not in bound_of(below | {"write": (60.0, 1300.0, 200.0)}).claim


@pytest.mark.parametrize(
    ("read", "given"),
    [((200.0, 1600.0, 1500.0), r"6\.26 Gbit/s \[.*\]"), ((1600.0,), r"12\.8 Gbit/s \(1 trial\)")],
)
def test_a_part_whose_every_trial_is_far_above_is_not_perhaps_the_lowest(
    read: tuple[float, ...], given: str
) -> None:
    """However it scatters: 200 to 1600 beside 49 to 50 was named as what may be the lowest bound."""
    found = bound_of(STEADY | {"read": read})
    assert found.decision == "effect"
    assert found.p_value is not None
    assert found.p_value < 0.001
    assert "of the lowest bound: the sink's storage alone, 396 Mbit/s" in found.claim
    assert re.search(f"the source's storage alone gives {given}\\.$", found.claim)


def test_a_single_trial_that_is_near_the_lowest_decides_nothing() -> None:
    found = bound_of(STEADY | {"read": (52.0,)})
    assert (found.decision, found.p_value) == ("undecided", None)
    assert "the sink's storage alone (396 Mbit/s [386 Mbit/s, 406 Mbit/s]) or the source's" in found.claim


def test_parts_no_more_shown_than_the_one_that_may_be_lowest_are_named_with_it() -> None:
    """By themselves both are shown to be above; not beside the other hypotheses of a campaign."""
    rates = {"network": (50.0, 51.0, 49.0), "write": (53.0, 54.0, 52.0), "read": (53.3, 54.3, 52.3)}
    outcomes = [
        make_file_outcome(make_file_trial(part=part, repeat=number), seconds=JOB_BYTES / rate / 1_000_000)
        for part, repeats in (STEADY | rates).items()
        for number, rate in enumerate(repeats, start=1)
    ]
    (asked,) = bound_hypotheses(summed(*outcomes))
    assert asked.p_value == pytest.approx(0.0215, rel=0.01)
    which = r"network alone \(400 .*\), the sink's storage alone \(.*\) or the source's .* is undecided\.$"
    assert re.search(which, asked.say("undecided"))
    assert not asked.within_margin


def test_the_rates_of_a_sentence_are_those_of_its_share() -> None:
    """Geometric means throughout: the interval is of these."""
    found = bound_of(STEADY | {"whole": (10.0, 10.2, 100.0)})
    reached = (10.0 * 10.2 * 100.0) ** (1 / 3)
    assert f"at {reached * 8:.0f} Mbit/s [" in found.claim
    assert found.effect == pytest.approx(reached / 49.5, rel=0.01)


def test_without_parts_nothing_is_said() -> None:
    outcomes = [make_file_outcome(make_file_trial(repeat=number)) for number in (1, 2, 3)]
    assert not [one for one in findings(summed(*outcomes)) if one.kind == "bounds"]


def test_no_finding_compares_parts_as_if_they_were_the_same() -> None:
    outcomes = [
        make_file_outcome(make_file_trial(part=part, repeat=number), seconds=JOB_BYTES / rate / 1_000_000)
        for part, repeats in STEADY.items()
        for number, rate in enumerate(repeats, start=1)
    ]
    drawn = findings(summed(*outcomes))
    assert {found.kind for found in drawn} >= {"bounds", "verdict", "variation"}
    assert all(found.evidence for found in drawn)
    for found in drawn:
        parts = {row["mode"] for row in summed(*outcomes) if row["trial_id"] in found.evidence}
        assert found.kind == "bounds" or len(parts) == 1, found


@pytest.mark.parametrize(
    ("seen", "go"),
    [
        ({}, "files go from disk to disk at 380 Mbit/s"),
        ({"device_bytes_per_byte": (0.0, 1.0)}, "files get across at 380 Mbit/s"),
        ({"device_bytes_per_byte": (1.0, 0.4)}, "files get across at 380 Mbit/s"),
        ({"device": None}, "files get across at 380 Mbit/s"),
    ],
)
def test_files_go_from_disk_to_disk_only_where_both_disks_moved_them(seen: dict[str, Any], go: str) -> None:
    assert f"a → b: {go}" in bound_of(STEADY, **seen).claim
