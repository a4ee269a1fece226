"""Campaigns in which trials fail or stall, and imported ones over two days: what is said of them."""

from collections import Counter

import numpy as np
from truth_support import NOTES, fill_table, in_processes, table, write_result

from fates import Fate, an_outage, half_of_the_slow_at_the_largest_window, one_of_twenty, some_stall
from flowsweep.analysis.findings.failures import failure_hypotheses
from flowsweep.analysis.findings.multiple_testing import decided
from flowsweep.analysis.findings.order import order_hypotheses
from imported_campaigns import simpson
from synthetic_campaigns import Grid, campaign

MANY, SOME = 1_000, 200
FATES: dict[str, tuple[Fate, bool, int]] = {
    "one of twenty fails": (one_of_twenty, False, 3),
    "fifteen in a row fail": (an_outage, False, 3),
    "the slow half at the largest window fails": (half_of_the_slow_at_the_largest_window, True, 3),
    "a quarter at the largest window stalls, 5 repeats": (some_stall, True, 5),
}
ERROR_RATE, POWER = 0.05, 0.9


def claims(name: str) -> int:
    """Campaigns in which a level is said to have more failures or stalls than others."""
    fate, _, repeats = FATES[name]
    found = 0
    for seed in range(MANY):
        rows = campaign(Grid(repeats=repeats), seed)
        fate(np.random.default_rng(seed), rows)
        found += any(one.decision == "effect" for one in decided(list(failure_hypotheses(rows))))
    return found


def test_failures_stalls_days_and_order() -> None:
    counts = dict(zip(FATES, in_processes(claims, FATES), strict=True))
    told = in_processes(simpson_told, range(SOME))
    named = sum(bool(list(order_hypotheses(campaign(Grid(), seed)))) for seed in range(MANY))
    by_block = Counter(told)
    lines = [
        (name, MANY, f"{count / MANY:.1%}", "a level has more" if FATES[name][1] else "no level has more")
        for name, count in counts.items()
    ]
    lines += [
        ("random order", MANY, f"{named / MANY:.1%} named as moving with time", "they do not"),
        (
            "two days, the larger window mostly on the slow one",
            SOME,
            f"{by_block['rises'] / SOME:.1%} rises",
            "rises",
        ),
    ]
    fill_table(
        NOTES / "conclusions-failures.md",
        "failures",
        table(("campaigns", "number", "claimed", "truth"), lines),
    )
    counts_all = {
        "claims": counts,
        "of": MANY,
        "order named": named,
        "two days": dict(by_block),
        "of two days": SOME,
    }
    write_result("conclusions-failures", "synthetic campaigns", counts_all)
    for name, count in counts.items():
        assert count >= POWER * MANY if FATES[name][1] else count <= ERROR_RATE * MANY, (name, count)
    assert named <= ERROR_RATE * MANY
    assert by_block["falls"] == 0
    assert by_block["rises"] >= POWER * SOME


def simpson_told(seed: int) -> str:
    """What is claimed of the window, which truly gives 10 % more."""
    found = simpson(seed, blocked=True)
    if found.decision != "effect" or found.effect is None:
        return found.decision
    return "rises" if found.effect > 0 else "falls"
