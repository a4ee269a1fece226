"""Levels of an axis that cut the round trip under load and cost no goodput."""

from typing import Any

import pytest

from flowsweep.analysis.findings.multiple_testing import decided
from flowsweep.analysis.findings.shorter_queue import shorter_queue_hypotheses
from flowsweep.analysis.statistics.observations import DIRECTION, Observations

Row = dict[str, Any]
POINTS = {("bbr", 1): 20.0, ("bbr", 4): 58.0, ("cubic", 1): 144.0, ("cubic", 4): 200.0}


def trials(*, bbr_bps: float = 19.3e6, rtts_ms: dict[tuple[str, int], float] = POINTS) -> Observations:
    """Three repeats; round trips vary by a percent, goodput by a thousandth."""
    rows: list[Any] = [
        {
            "trial_id": f"{name}-{flows}-{repeat}", "repeat": repeat, "src": "a", "dst": "b",
            DIRECTION: "a → b", "test": "tcp", "congestion_asked": name, "flows": flows,
            "rtt_median_ms": rtt_ms * (1 + at / 100), "goodput_bps": bbr_bps,
            "goodput_mean_bps": (bbr_bps if name == "bbr" else 19.3e6) * (1 + at / 1000),
        }
        for (name, flows), rtt_ms in rtts_ms.items()
        for repeat, at in ((1, -1), (2, 0), (3, 1))
    ]  # fmt: skip
    return Observations("s", "copy", tuple(rows), ("congestion_asked", "flows"))


def test_a_congestion_control_that_carries_the_same_with_less_delay_is_told() -> None:
    by_axis = {found.axis: found for found in decided(list(shorter_queue_hypotheses(trials())))}
    assert by_axis["congestion_asked"].decision == "effect"
    assert by_axis["congestion_asked"].claim == (
        "a → b: round trips under load are shorter with bbr than with cubic, at no loss of goodput: 20.0 ms "
        "against 144 ms, −86.1 % [−86.4, −85.8], at 19.3 Mbit/s against 19.3 Mbit/s (1 flow); 58.0 ms "
        "against 200 ms, −71.0 % [−71.5, −70.4], at 19.3 Mbit/s against 19.3 Mbit/s (4 flows)."
    )
    assert by_axis["congestion_asked"].effect == pytest.approx(58 / 200, rel=1e-4)
    assert " with 1 flow than with 4 flows, at no loss of goodput: " in by_axis["flows"].claim


@pytest.mark.parametrize(
    "others",
    [
        {"bbr_bps": 18.0e6},  # 7 % less
        {"rtts_ms": {("bbr", 1): 20.0, ("cubic", 1): 30.0}},  # by less than is noticed
        {"rtts_ms": {("bbr", 1): 20.0, ("bbr", 4): 260.0, ("cubic", 1): 144.0, ("cubic", 4): 200.0}},
    ],
    ids=["goodput is lost", "little is gained", "longer at some point"],
)
def test_what_is_no_gain_is_not_told(others: dict[str, Any]) -> None:
    found = shorter_queue_hypotheses(trials(**others))
    assert [one for one in found if one.axis == "congestion_asked"] == []


def test_goodput_that_scatters_by_more_than_the_margin_leaves_it_undecided() -> None:
    seen = trials(rtts_ms={("bbr", 1): 20.0, ("cubic", 1): 144.0})
    rows = tuple(
        row | {"goodput_mean_bps": 19.3e6 * (1 + 0.1 * (number % 3 - 1))}
        for number, row in enumerate(seen.rows)
    )
    (found,) = decided(list(shorter_queue_hypotheses(Observations("s", "copy", rows, seen.factors))))
    assert found.decision == "undecided"
    assert "whether round trips under load are shorter with bbr than with cubic" in found.claim


def test_two_repeats_claim_nothing() -> None:
    rows = tuple(row for row in trials().rows if row["repeat"] < 3)
    assert list(shorter_queue_hypotheses(Observations("s", "copy", rows, ()))) == []


def test_paths_of_unlike_length_are_not_compared() -> None:
    """Round trips that are longer since a router chose another path are no queue that a setting cuts."""
    seen = trials()
    rows = tuple(row | {"rtt_min_ms": 10.2 if row["flows"] == 1 else 50.4} for row in seen.rows)
    assert list(shorter_queue_hypotheses(Observations("s", "copy", rows, seen.factors))) == []


def test_less_goodput_within_the_margin_is_named_as_such() -> None:
    (found,) = decided(
        list(
            shorter_queue_hypotheses(trials(bbr_bps=18.9e6, rtts_ms={("bbr", 1): 20.0, ("cubic", 1): 144.0}))
        )
    )
    assert found.decision == "effect"
    assert "with bbr than with cubic, at no more than 3 % less goodput: " in found.claim


def test_what_is_sent_again_for_it_is_said() -> None:
    seen = trials(rtts_ms={("bbr", 1): 20.0, ("cubic", 1): 144.0})
    rows = tuple(
        row | {"loss_share": 0.14 if row["congestion_asked"] == "bbr" else 0.0001} for row in seen.rows
    )
    (found,) = decided(list(shorter_queue_hypotheses(Observations("s", "copy", rows, seen.factors))))
    assert found.claim.endswith(
        " It sends 14.0 % of all bytes again, against 0.0100 %: what shares the path pays for that."
    )


def test_a_shorter_trial_is_no_shorter_queue() -> None:
    rows = tuple(
        row | {"duration_s": 2.0 if row["flows"] == 1 else 30.0, "flows": 1, "congestion_asked": "cubic"}
        for row in trials().rows
        if row["congestion_asked"] == "cubic"
    )
    assert list(shorter_queue_hypotheses(Observations("s", "copy", rows, ("duration_s",)))) == []
