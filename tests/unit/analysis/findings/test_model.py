"""Emulated paths against the fluid model: when a point is called too slow, and when nothing is said of it."""

import random
from typing import Any

import pytest

from flowsweep.analysis.findings.model import MODEL_ERROR, model_hypotheses
from flowsweep.analysis.findings.multiple_testing import decided
from flowsweep.analysis.predicted import PREDICTED, PREDICTED_RATE, PREDICTED_RTT
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
        "a → b: 1 of 3 points carries less than a model of the path predicts, by more than the model errs",
        ", least at number of flows 8: 0.597 [0.590, 0.604] of 90.0",
    ):
        assert expected in found.claim, found.claim
    assert set(found.evidence) == {"8-1", "8-2", "8-3"}


def test_what_the_model_may_err_by_is_no_effect() -> None:
    found = conclusion(campaign({1: 1.0, 4: 1.05, 8: 0.92}))
    assert found.decision == "no practical effect"
    assert "goodput is 0.915 to 1.06 times what a model of the path predicts" in found.claim
    assert (
        "(3 points; lowest at number of flows 8, highest at number of flows 4): no less than" in found.claim
    )


def test_at_the_edge_of_its_error_nothing_is_decided() -> None:
    found = conclusion(campaign({1: 1.0, 8: 0.85}, noise=0.05))
    assert found.decision == "undecided"
    assert found.claim.endswith("is undecided.")


def test_without_repeats_it_is_only_described() -> None:
    found = conclusion(campaign({1: 1.0, 8: 0.5}, repeats=1))
    assert found.decision == "described"
    assert (
        "(2 points; lowest at number of flows 8, highest at number of flows 1); the model errs" in found.claim
    )


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


def test_false_claims_are_rare_where_all_points_are_at_the_edge() -> None:
    # The worst case that is no effect: ten points, each just as far below as the model may err.
    edge = 1 - MODEL_ERROR
    campaigns = [campaign(dict.fromkeys(range(1, 11), edge), noise=0.03, seed=seed) for seed in range(400)]
    false = sum(conclusion(one).decision == "effect" for one in campaigns)
    assert false <= 0.05 * len(campaigns) + 2 * (0.05 * 0.95 * len(campaigns)) ** 0.5
