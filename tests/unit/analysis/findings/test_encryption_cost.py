"""What encryption costs: told of pairs of trials that differ in nothing else."""

import pytest

from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.multiple_testing import decided
from flowsweep.analysis.statistics.observations import observations
from flowsweep.analysis.tests.tcp.encryption_cost import encryption_hypotheses
from synthetic_campaigns import Grid, Row, campaign

GRID = Grid(flows=(1, 4), window_sums=(1 << 22,), directions=(("a", "b"),), repeats=2)


def rows_of(encryption: str, *, more: float = 0.0, noise: float = 0.0) -> list[Row]:
    """Trials that take 0.2 s/GB at the sender and 0.1 s/GB at the receiver, or more."""
    return [
        row
        | {
            "trial_id": f"{encryption}-{at}",
            "encryption": encryption,
            "cpu_send_s_per_gb": 0.2 + row["flows"] + more + noise * at,
            "cpu_recv_s_per_gb": 0.1 + 2 * more,
        }
        for at, row in enumerate(campaign(GRID, 1))
    ]


def found(rows: list[Row]) -> list[Finding]:
    [observed] = observations(rows)
    return decided(encryption_hypotheses(observed))


def test_each_pair_differs_in_encryption_only() -> None:
    [one] = found([*rows_of("none"), *rows_of("tls", more=0.25, noise=0.01)])
    assert one.claim.startswith("a → b: a gigabyte took 0.765 s [")
    assert "of CPU time more with tls, both ends together" in one.claim
    assert "0.600 s at the receiver in place of 0.100 s" in one.claim
    assert "mean of 4 pairs" in one.claim
    assert (one.kind, one.effect_unit, one.decision, one.n) == ("encryption", "s/GB", "described", 8)
    assert one.effect == pytest.approx(0.75 + 0.015)
    assert one.interval_low is not None
    assert one.interval_low < 0.765


def test_nothing_is_said_without_both_or_without_their_cost() -> None:
    assert found(rows_of("none")) == []
    assert found(rows_of("tls")) == []
    unknown = [row | {"cpu_send_s_per_gb": None} for row in (*rows_of("none"), *rows_of("tls"))]
    assert found(unknown) == []


def test_one_pair_has_no_interval() -> None:
    [one] = found([rows_of("none")[0], rows_of("tls", more=0.1)[0]])
    assert (one.interval_low, one.interval_high, one.n) == (None, None, 2)
    assert one.effect == pytest.approx(0.3)


def test_a_cost_that_may_be_none_or_less_is_not_said_to_be_more() -> None:
    unclear = [
        row | {"cpu_send_s_per_gb": row["cpu_send_s_per_gb"] + (-1) ** at * 0.2}
        for at, row in enumerate(rows_of("tls"))
    ]
    [one] = found([*rows_of("none"), *unclear])
    assert one.claim.startswith("a → b: whether tls costs CPU time is not clear: ")
    [less] = found([*rows_of("none"), *rows_of("tls", more=-0.05, noise=0.001)])
    assert "of CPU time less with tls" in less.claim
    assert less.claim.endswith("differ in nothing else).")
