"""Drops that leave no queue: at random, at a shallow buffer, at a policer, in trials of known truth."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from drop_paths import DropPath, trace
from flowsweep.analysis.tests.tcp.drop_signature import (
    LOSSES_MIN,
    LossTrace,
    loss_ranks,
    signature,
    traces_of,
)

TRIALS = 6
CAMPAIGNS = 6
PATHS = {
    "at random": (DropPath("random", rate_bps=400e6), "any rate"),
    "at random, one flow": (DropPath("random", rate_bps=400e6, flows=1), "any rate"),
    "at random, many flows": (DropPath("random", rate_bps=800e6, flows=16), "any rate"),
    "a shallow buffer": (DropPath("shallow"), "shallow buffer"),
    "a shallow buffer, one flow": (DropPath("shallow", flows=1), "shallow buffer"),
    "a policer": (DropPath("policer"), "policer"),
    "a policer, one flow": (DropPath("policer", flows=1), "policer"),
    # To TCP it is one: drops at the rate, at once, and no burst that passes.
    "a policer without a burst": (DropPath("policer", burst_segments=200), "shallow buffer"),
}


@pytest.mark.parametrize(("path", "cause"), PATHS.values(), ids=PATHS)
def test_the_cause_is_told_or_not_clear_and_never_another(path: DropPath, cause: str) -> None:
    found = Counter(
        signature([trace(path, 100 * campaign + trial) for trial in range(TRIALS)]).cause
        for campaign in range(CAMPAIGNS)
    )
    assert set(found) <= {cause, "not clear"}
    assert found[cause] >= CAMPAIGNS - 1


def test_losses_at_random_have_uniform_ranks_however_rates_move() -> None:
    ranks = np.concatenate(
        [loss_ranks(trace(DropPath("random", rate_bps=400e6), seed)) for seed in range(40)]
    )
    # 1871 losses; 0.484 since samples show them up to a step late, which is far from the bound of 0.6.
    assert abs(ranks.mean() - 0.5) < 0.03


def test_few_losses_tell_nothing() -> None:
    quiet = LossTrace(np.linspace(1e6, 2e6, 50), np.arange(50) % 20 == 19, np.ones(50, dtype=np.bool_))
    found = signature([quiet, quiet])
    assert found.losses < LOSSES_MIN
    assert (found.cause, found.rank) == ("not clear", None)
    assert signature([]).cause == "not clear"


def test_a_path_that_is_full_all_the_time_tells_nothing_of_its_drops() -> None:
    full = LossTrace(np.full(60, 5e7), np.arange(60) % 10 == 9, np.ones(60, dtype=np.bool_))
    assert loss_ranks(full).size == 0
    assert signature([full] * 9).cause == "not clear"


def test_flows_that_are_sampled_at_different_moments_are_added_up() -> None:
    """Two flows of 1448 kB/s; the second's samples end 30 ms later, and it sends again once, at 1 s."""
    rows = [
        {
            "trial_id": "t", "flow": flow, "end_ns": end_ms * 1_000_000, "delivered_bytes": 1448 * end_ms,
            "retransmitted": int(flow == 1 and end_ms >= 1_000), "counted": end_ms > 500,
        }
        for flow, late_ms in ((0, 0), (1, 30))
        for end_ms in range(100 + late_ms, 2_000 + late_ms, 100)
    ]  # fmt: skip
    [(name, found)] = traces_of(pa.Table.from_pylist(rows)).items()
    assert name == "t"
    assert found.rates_bps == pytest.approx(np.full(found.rates_bps.size, 2 * 1448 * 8 * 1_000))
    assert found.lossy.sum() == 1
    assert not found.counted[0]
    assert found.counted[-1]
