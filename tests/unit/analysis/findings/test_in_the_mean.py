"""What short interruptions cost does not show in a median interval, and is not called nothing."""

from typing import Any

import pytest

from flowsweep.analysis.findings.topics import findings
from synthetic_campaigns import KIB, Grid, Row, campaign

LARGEST = 4096 * KIB


def interrupted(seed: int, share: float) -> list[Row]:
    """Without any effect, but for a share that one flow loses at the largest window, and no median shows."""
    rows = campaign(Grid(noise=0.003), seed)
    for row in rows:
        if row["window_sum_bytes"] == LARGEST and row["flows"] == 1:
            row["goodput_mean_bps"] = (1 - share) * row["goodput_bps"]
    return rows


def of(rows: list[Row], kind: str) -> list[tuple[str, str]]:
    return [(one.decision, one.claim) for one in findings(rows) if one.kind == kind]


def test_flows_are_not_called_alike_by_the_median_alone() -> None:
    ((decision, claim),) = of(interrupted(1, 0.0), "flows")
    assert decision == "no practical effect"
    ((decision, claim),) = of(interrupted(1, 0.2), "flows")
    assert decision == "undecided"
    assert " These are medians of intervals: at " in claim
    assert claim.endswith(
        "number of flows 1, window sum 4 MiB the mean over a trial is 20.0 % below its median interval, "
        "which losses, stalls or slow start may explain, so nothing is claimed."
    )


@pytest.mark.parametrize(
    ("known", "causes"),
    [
        ({"loss_share": 0.0}, "slow start"),
        ({"loss_share": 0.0, "omit_s": 2.0}, "unsteady goodput"),
        ({"loss_share": 0.01, "omit_s": 2.0}, "losses"),
        ({"loss_share": 0.0, "stalled_share": 0.1, "omit_s": 2.0}, "stalls"),
        ({"loss_share": 0.0, "retransmits": 9}, "slow start"),
        ({"retransmits": 0}, "slow start"),
        ({"retransmits": 9}, "losses or slow start"),
        ({"loss": 0.0, "test": "udp"}, "unsteady goodput"),
    ],
)
def test_only_what_trials_had_is_said_to_explain_a_low_mean(known: dict[str, Any], causes: str) -> None:
    """Losses were said to lower the mean of trials that lost nothing, of which slow start was a fifth."""
    ((decision, claim),) = of([row | {"stalled_share": 0.0} | known for row in interrupted(1, 0.2)], "flows")
    assert decision == "undecided"
    assert f" is 20.0 % below its median interval, which {causes} may explain, so" in claim


def test_the_mean_that_a_file_has_of_the_whole_transfer_is_looked_at() -> None:
    rows = interrupted(1, 0.2)
    for row in rows:
        mean_bps = row.get("goodput_mean_bps") or row["goodput_bps"]
        sent = {"bytes_sent": round(mean_bps / 8 * 10), "elapsed_s": 10.0}
        row.update(sent, goodput_method="sender_median", goodput_mean_bps=None)
    ((decision, claim),) = of(rows, "flows")
    assert decision == "undecided"
    assert " the mean over a trial is 20.0 % below its median interval" in claim


def test_what_stalls_and_medians_lose_together_counts() -> None:
    """2.4 % and a little in the median: the mean is further off than the margin."""

    def lower(row: Row) -> Row:
        there = row["window_sum_bytes"] == LARGEST and row["flows"] == 1
        goodput_bps = row["goodput_bps"] * (0.99 if there else 1)
        return row | {"goodput_bps": goodput_bps, "goodput_mean_bps": goodput_bps * (0.976 if there else 1)}

    ((decision, claim),) = of([lower(row) for row in interrupted(1, 0.0)], "flows")
    assert decision == "undecided"
    assert "the mean over a trial is 2.40 % below its median interval, which losses, stalls or" in claim


def test_what_is_not_claimed_has_no_bounds() -> None:
    found = [one for one in findings(interrupted(1, 0.2)) if "so nothing is claimed" in one.claim]
    assert found
    assert {(one.interval_low, one.interval_high) for one in found} == {(None, None)}


def test_a_number_of_flows_that_is_enough_by_the_median_alone_is_not_called_enough() -> None:
    assert any(": the smallest number of flows" in claim for _, claim in of(interrupted(1, 0.0), "plateau"))
    told = of(interrupted(1, 0.2), "plateau")
    assert any(
        decision == "undecided" and ": it is undecided whether the smallest number of flows" in claim
        for decision, claim in told
    )


def test_what_a_window_costs_in_the_mean_is_a_decline() -> None:
    assert not any(decision == "effect" for decision, _ in of(interrupted(1, 0.0), "decline"))
    assert any(decision == "effect" for decision, _ in of(interrupted(1, 0.2), "decline"))
