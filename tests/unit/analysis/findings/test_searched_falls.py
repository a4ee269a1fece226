"""What is said of searches for the plateau where goodput is lower again beyond what is enough."""

import math
import re

import numpy as np
import pytest
from test_searched_plateau import corner, only, steps

from flowsweep.analysis.findings.plateau.searched import plateau_search_hypotheses
from flowsweep.figures.drawing import FigureData
from flowsweep.figures.grid.response import drawn_responses


@pytest.mark.parametrize(
    ("factor", "from_bytes", "words"),
    [
        (0.5, 16e6, "lower again: 500 Mbit/s at 16 MiB, 500 Mbit/s at 64 MiB."),
        (0.3, 60e6, "lower again: 300 Mbit/s at 64 MiB."),
    ],
)
def test_no_more_is_said_to_be_enough_than_was_seen(factor: float, from_bytes: float, words: str) -> None:
    rows = steps(lambda window: corner(window) * (factor if window > from_bytes else 1))
    claim = only(rows).claim
    assert " on goodput" not in claim
    up_to = "4 MiB" if from_bytes < 16 << 20 else "16 MiB"
    assert f", as requested, up to {up_to} goodput is within 3 % of 1.00 Gbit/s, found in " in claim
    assert claim.endswith(f" trials; beyond {up_to} goodput is {words}")


def test_a_fall_is_sure_before_any_trial_was_repeated_but_for_the_reference() -> None:
    """In the report its levels are then known not to be enough, with intervals."""
    rows = steps(lambda window: corner(window) * (0.5 if window > 16e6 else 1))
    assert len(rows) == 12
    (drawn,) = drawn_responses(FigureData(trials=rows, cells=()))
    shown = {row["window_sum_bytes"]: row["shown"] for row in drawn.rows}
    assert shown[16 << 20] == shown[64 << 20] == "not enough"
    assert all(row["goodput_high_bps"] is not None for row in drawn.rows)


def test_where_the_smallest_is_enough_a_fall_is_told() -> None:
    claim = only(steps(lambda window: 1e9 * (window / 65536) ** -0.2)).claim
    assert ", the smallest that was tried, is enough for " in claim
    assert re.search(r"; beyond \d+ KiB goodput is lower again: .*, 250 Mbit/s at 64 MiB\.$", claim)


def test_a_dip_is_told_and_that_goodput_is_as_high_again_beyond() -> None:
    claim = only(
        steps(lambda flows: 1e9 * min(1, flows / 4) * (0.9 if flows % 2 else 1), of_flows=True)
    ).claim
    assert ": at 4 flows goodput is within 3 % of 1.00 Gbit/s, found in " in claim
    assert claim.endswith(
        "; beyond 4 flows goodput is lower again: 900 Mbit/s at 5 flows, and within 3 % of it again at 32 "
        "flows."
    )


def test_goodput_is_not_said_to_rise_where_the_largest_carries_less() -> None:
    rows = steps(lambda flows: 1e9 * min(1, flows / 4) * (0.6 if flows >= 10 else 1), of_flows=True)
    first = [row for row in rows if row["repeat"] == 1]
    (found,) = plateau_search_hypotheses(first)
    assert found.estimate.effect is None
    assert found.claim.endswith(
        ": goodput was highest, 750 Mbit/s at 3 flows, by 4 trials: no interval can be told; at more flows "
        "goodput may be lower again: 600 Mbit/s at 10 flows, 600 Mbit/s at 32 flows."
    )


def test_scatter_is_not_told_as_a_fall() -> None:
    told = 0
    for seed in range(20):
        noisy = np.random.default_rng(seed)
        rows = steps(lambda window, noisy=noisy: corner(window) * math.exp(noisy.normal(0, 0.02)))
        told += "lower again" in only(rows).claim
    assert told <= 1


def test_a_dip_is_told_where_no_plateau_was_seen() -> None:
    """It is none of which goodput could be within the margin again."""
    rows = steps(lambda flows: {1: 1.0, 32: 1.06}.get(flows, 0.7) * 1e9, of_flows=True)
    claim = only([row for row in rows if row["repeat"] <= 2]).claim
    assert ": goodput still rose, or may have, at 32 flows, the most that were tried, by " in claim
    assert re.search(r"; at more flows goodput is lower again: 700 Mbit/s at 2 flows, .* flows\.$", claim)
    assert " it again" not in claim
