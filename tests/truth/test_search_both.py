"""Searches for the fewest flows and then the smallest window with these, where each depends on the other."""

from collections import Counter
from typing import Any

import numpy as np
from test_search_synthetic import COVERED_SHARE, EACH, FALSE_SHARE, MISSED_SHARE, NOISE
from truth_support import NOTES, fill_table, in_processes, table, write_result

from flowsweep.schedule.search.belief import Belief
from searched_both import drawn_case, searched_both
from searched_responses import Case, Searched, has_both_ends, holds

WHAT = "searches for the fewest flows and then a window, where each depends on the other, in virtual time"
SHARPNESS = (100.0, 15.0)
NOISES = ("0.3 %", "1 %", "3 %", "1 %, AR(1) 0.7", "1 %, drift −20 %")
HEADINGS = (
    "sharpness",
    "noise",
    "trials, median",
    "90 %",
    "flows wrong",
    "the fewest named",
    "window, interval holds",
    "both ends",
    "missed",
    "ends of flows",
    "of windows",
)


def test_searches_for_flows_and_then_a_window_where_each_depends_on_the_other() -> None:
    names = [(sharpness, noise) for sharpness in SHARPNESS for noise in NOISES]
    rows = in_processes(both_searched, names)
    write_result("search-both", WHAT, {"searches_each": EACH, "rows": rows})
    fill_table(NOTES / "search.md", "both", table(HEADINGS, [cells(row) for row in rows]))
    assert np.mean([row["flows_wrong"] for row in rows]) <= FALSE_SHARE
    assert np.mean([row["held"] for row in rows]) >= COVERED_SHARE
    assert np.mean([row["missed"] for row in rows]) <= MISSED_SHARE
    for row in rows:
        judge(row)


def judge(row: dict[str, Any]) -> None:
    """One cell."""
    assert row["flows_wrong"] <= 2 * FALSE_SHARE, row
    assert row["held"] >= 0.9, row
    assert row["missed"] <= 2 * MISSED_SHARE, row


def both_searched(names: tuple[float, str]) -> dict[str, Any]:
    """All searches of a cell."""
    sharpness, noise_name = names
    generator = np.random.default_rng([int(sharpness), sum(map(ord, noise_name)), 2])
    trials: list[int] = []
    flows_wrong, named = 0, 0
    held: list[bool] = []
    both: list[bool] = []
    ends: tuple[Counter[str], Counter[str]] = Counter(), Counter()
    for seed in range(EACH):
        case = drawn_case(generator, sharpness)
        found = searched_both(case, NOISE[noise_name], generator, seed)
        trials.append(found.trials)
        truth = case.fewest_flows()
        flows_wrong += _wrong(found.flows.belief, truth) or found.flows.end in ("level", "rising")
        named += found.with_flows == truth
        ends[0][str(found.flows.end)] += 1
        ends[1][str(found.window and found.window.end)] += 1
        if found.window is None or found.window.belief is None or found.with_flows is None:
            continue
        enough = Case(lambda size: size, case.enough_bytes(found.with_flows))
        held.append(bool(holds(Searched(found.trials, found.window.end, found.window.belief), enough)))
        both.append(has_both_ends(found.window.belief))
    return {
        "sharpness": sharpness,
        "noise": noise_name,
        "trials_median": float(np.median(trials)),
        "trials_90": float(np.percentile(trials, 90)),
        "flows_wrong": flows_wrong / EACH,
        "named": named / EACH,
        "held": float(np.mean(held)),
        "both_ends": float(np.mean(both)),
        "missed": float(np.mean([not one for one, ended in zip(held, both, strict=True) if ended])),
        "ends_of_flows": dict(ends[0]),
        "ends_of_windows": dict(ends[1]),
    }


def _wrong(belief: Belief | None, truth: int) -> bool:
    """Whether the interval in whole flows does not hold the truth; none holds nothing."""
    if belief is None:
        return True
    _, low, high = belief.in_whole
    if low is None and high is None:
        return True
    return (low is not None and truth < low) or (high is not None and truth > high)


def cells(row: dict[str, Any]) -> tuple[str, ...]:
    """Of the table."""
    shares = (row[name] for name in ("flows_wrong", "named", "held", "both_ends", "missed"))
    return (
        f"{row['sharpness']:.0f}",
        row["noise"],
        f"{row['trials_median']:.0f}",
        f"{row['trials_90']:.0f}",
        *(f"{share:.1%}" for share in shares),
        *(
            ", ".join(f"{count} {end}" for end, count in sorted(row[kind].items()))
            for kind in ("ends_of_flows", "ends_of_windows")
        ),
    )
