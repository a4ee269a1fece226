"""Emulated paths against the fluid model: when a point is called too slow, and when nothing is said of it."""

import random
from typing import Any

import pytest

from flowsweep.analysis.findings.model import MODEL_ERROR, model_hypotheses
from flowsweep.analysis.findings.multiple_testing import decided
from flowsweep.analysis.predicted import BEYOND_COMPARED, PREDICTED, PREDICTED_RATE, PREDICTED_RTT
from flowsweep.analysis.statistics.observations import DIRECTION, Observations

Row = dict[str, Any]
PREDICTED_BPS = 90e6


def trial(**changes: Any) -> Row:
    usual: Row = {
        "trial_id": "t", "sweep": "s", "repeat": 1, "src": "a", "dst": "b", "test": "tcp", "flows": 1,
        "window_sum_bytes": 1 << 20, "goodput_mean_bps": PREDICTED_BPS, PREDICTED: PREDICTED_BPS,
        DIRECTION: "a → b",
    }  # fmt: skip
    return usual | changes


def campaign(shares: dict[int, float], repeats: int = 3, noise: float = 0.01, seed: int = 1) -> Observations:
    """Trials over numbers of flows, each of which carries a share of what is predicted."""
    draw = random.Random(seed)
    rows = [
        trial(
            trial_id=f"{flows}-{repeat}",
            flows=flows,
            repeat=repeat,
            goodput_mean_bps=PREDICTED_BPS * share * draw.lognormvariate(0, noise),
        )
        for flows, share in shares.items()
        for repeat in range(1, repeats + 1)
    ]
    return Observations("s", "copy", tuple(rows), ("flows",))


def conclusion(observed: Observations):
    [finding] = decided(model_hypotheses(observed))
    return finding


def test_a_point_far_below_is_named_with_what_was_predicted() -> None:
    found = conclusion(campaign({1: 1.0, 4: 0.98, 8: 0.6}))
    assert found.decision == "effect"
    assert found.effect == pytest.approx(0.6, rel=0.05)
    for expected in (
        "a → b: 1 of 3 points carries less than a model of the path predicts, by more than 30",
        ", least at number of flows 8: 0.597 [0.589, 0.604] of 90.0",
    ):
        assert expected in found.claim, found.claim
    assert set(found.evidence) == {"8-1", "8-2", "8-3"}


def test_what_the_model_may_err_by_is_no_effect() -> None:
    found = conclusion(campaign({1: 1.0, 4: 1.05, 8: 0.92}))
    assert found.decision == "no practical effect"
    assert "goodput is 0.915 to 1.06 times what a model of the path predicts" in found.claim
    assert (
        "(3 points; lowest at number of flows 8, highest at number of flows 4); none is more than 30 %"
        in found.claim
    )


def test_at_the_edge_of_its_error_nothing_is_decided() -> None:
    found = conclusion(campaign({1: 1.0, 8: 0.71}, noise=0.05))
    assert found.decision == "undecided"
    assert found.claim.endswith(
        "; none is seen below it by more than 30 %, but the trials do not exclude it."
    )


def test_a_point_of_a_single_trial_is_what_keeps_it_open() -> None:
    tried = campaign({1: 1.0, 4: 0.98, 8: 0.95})
    rows = [row for row in tried.rows if row["flows"] < 8 or row["repeat"] == 1]
    found = conclusion(Observations("s", "copy", tuple(rows), ("flows",)))
    assert found.decision == "undecided"
    assert found.claim.endswith(
        "; none is seen below it by more than 30 %, but 1 point of a single trial cannot be tested."
    )


def test_without_repeats_it_is_only_described() -> None:
    found = conclusion(campaign({1: 1.0, 8: 0.5}, repeats=1))
    assert found.decision == "described"
    assert "(2 points; lowest at number of flows 8, highest at number of flows 1); 19 of 20" in found.claim


def test_a_path_that_the_trials_found_themselves_is_only_described() -> None:
    observed = campaign({1: 1.0, 8: 0.5})
    of_trials = {PREDICTED_RATE: 100e6, PREDICTED_RTT: 40.0}
    rows = tuple({**row, **of_trials} for row in observed.rows)
    found = conclusion(Observations("s", "copy", rows, ("flows",)))
    assert found.decision == "described"
    assert "a model of a path as these trials found it (100 Mbit/s and 40" in found.claim


def test_points_without_a_prediction_and_datagrams_are_not_compared() -> None:
    rows = [trial(), trial() | {PREDICTED: None}, trial(test="udp"), trial(goodput_mean_bps=None)]
    [hypothesis] = model_hypotheses(Observations("s", "copy", tuple(rows), ()))
    assert hypothesis.n == 1
    del rows[0]
    assert model_hypotheses(Observations("s", "copy", tuple(rows), ())) == []


def test_one_repeat_of_many_points_tells_no_interval() -> None:
    rows = [trial(trial_id=str(flows), flows=flows) for flows in range(1, 201)]
    rows.append(trial(trial_id="again", flows=1, repeat=2, goodput_mean_bps=0.3 * PREDICTED_BPS))
    found = conclusion(Observations("s", "copy", tuple(rows), ("flows",)))
    assert found.decision == "undecided"
    assert (found.interval_low, found.interval_high) == (None, None)


def test_nothing_is_claimed_of_paths_beyond_those_that_the_model_was_compared_with() -> None:
    low = {"goodput_mean_bps": 0.5 * PREDICTED_BPS}
    rows = tuple(trial(trial_id=str(repeat), repeat=repeat, **low) for repeat in range(1, 6))
    assert conclusion(Observations("s", "copy", rows, ())).decision == "effect"
    beyond = tuple({**row, BEYOND_COMPARED: 1.0} for row in rows)
    found = conclusion(Observations("s", "copy", beyond, ()))
    assert (found.decision, found.p_value) == ("described", None)
    assert "at 1 point path, flows or duration are beyond what the model was compared with" in found.claim


def test_nor_where_only_some_repeats_ended_so_early_that_they_are_beyond() -> None:
    """Trials of a point that end when they know differ in length, and in what is predicted."""
    low = {"goodput_mean_bps": 0.5 * PREDICTED_BPS}
    rows = [trial(trial_id=str(repeat), repeat=repeat, **low) for repeat in range(1, 6)]
    rows[-1][BEYOND_COMPARED] = 1.0
    found = conclusion(Observations("s", "copy", tuple(rows), ()))
    assert (found.decision, found.p_value) == ("described", None)


def test_the_point_that_is_shown_to_be_below_is_the_one_that_is_named() -> None:
    rows = [trial(trial_id="alone", flows=1, goodput_mean_bps=0.55 * PREDICTED_BPS)]
    for repeat, share in enumerate((0.60, 0.61, 0.605, 0.6, 0.61)):
        rows.append(
            trial(trial_id=f"2-{repeat}", flows=2, repeat=repeat, goodput_mean_bps=share * PREDICTED_BPS)
        )
    found = conclusion(Observations("s", "copy", tuple(rows), ("flows",)))
    assert found.decision == "effect"
    assert found.effect == pytest.approx(0.605, abs=0.003)
    assert "1 of 2 points carries" in found.claim
    assert "at number of flows 2: 0.605" in found.claim


@pytest.mark.parametrize("noisy", [{}, {1: 0.2}])
def test_false_claims_are_rare_where_points_are_at_the_edge(noisy: dict[int, float]) -> None:
    # The worst case that is no effect: each point just as far below as the model may be off; or one of
    # them, whose goodput varies where that of the others does not.
    edge = 1 - MODEL_ERROR

    def drawn(seed: int) -> Observations:
        if not noisy:
            return campaign(dict.fromkeys(range(1, 11), edge), noise=0.03, seed=seed)
        quiet = campaign(dict.fromkeys(range(2, 11), 1.0), noise=0.003, seed=seed)
        loud = campaign({1: edge}, noise=noisy[1], seed=seed + 1_000)
        return Observations("s", "copy", (*quiet.rows, *loud.rows), ("flows",))

    false = sum(conclusion(drawn(seed)).decision == "effect" for seed in range(400))
    assert false <= 0.05 * 400 + 2 * (0.05 * 0.95 * 400) ** 0.5


def test_two_repeats_of_many_points_are_enough_for_an_answer() -> None:
    """By its own spread a point of two has an interval from 0.5 to 1.9 times its mean."""
    found = conclusion(campaign(dict.fromkeys(range(1, 13), 0.95), repeats=2))
    assert found.decision == "no practical effect"
    assert found.interval_high - found.interval_low < 0.1
