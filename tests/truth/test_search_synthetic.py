"""Ten thousand searches in virtual time: false plateaus, what intervals hold, how many trials they take."""

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from truth_support import NOTES, fill_table, in_processes, table, write_result

from flowsweep.defaults import CONFIDENCE
from flowsweep.schedule.search.response import ALLOWED
from searched_responses import (
    CASES,
    Noise,
    asked,
    asked_flows,
    correlated,
    drifting,
    false_plateau,
    has_both_ends,
    heavy_tailed,
    holds,
    independent,
    searched,
    smooth,
)

WHAT = "searches for the plateau over responses whose truth is known, in virtual time"
WHAT_OF_FLOWS = "searches for the fewest flows that are enough, over responses whose truth is known"
WHAT_OF_CONFIDENCE = "the same searches at other confidences than the usual one"
EACH = 200
FALSE_SHARE = 0.05
COVERED_SHARE = 0.93
MISSED_SHARE = 0.05
"""Of intervals with two ends."""
PRECISION = 0.1
"""That is asked for: what a search that ends as precise is off by, at most."""
GRID = 90

NOISE: Mapping[str, Noise] = {
    "0.3 %": independent(0.003),
    "1 %": independent(0.01),
    "3 %": independent(0.03),
    "1 %, t(4)": heavy_tailed(0.01),
    "1 %, AR(1) 0.7": correlated(0.01, 0.7),
    "1 %, drift −20 %": drifting(0.01, -0.2),
}


def test_searches_over_known_responses() -> None:
    names = [(case, noise) for case in CASES for noise in NOISE]
    rows = in_processes(_searched, names)
    write_result("search-synthetic", WHAT, {"searches_each": EACH, "rows": rows})
    fill_table(
        NOTES / "search.md",
        "synthetic",
        table(
            (
                "response",
                "noise",
                "trials, median",
                "90 %",
                "error, median",
                "95 %",
                "95 %, precise",
                "interval holds",
                "both ends",
                "missed",
                "false",
                "ends",
            ),
            [_cells(row) for row in rows],
        ),
    )
    false = sum(row["false"] * EACH for row in rows) / (EACH * len(rows))
    assert false <= FALSE_SHARE
    held = [row["held"] for row in rows if row["held"] is not None]
    assert np.mean(held) >= COVERED_SHARE
    missed = [row["missed"] for row in rows if row["missed"] is not None]
    assert np.mean(missed) <= MISSED_SHARE
    for row in rows:
        _judge(row)


def _judge(row: dict[str, Any]) -> None:
    if row["missed"] is not None:
        assert row["missed"] <= 2 * MISSED_SHARE, row
    if row["error_median"] is not None:
        assert row["error_median"] <= PRECISION, row
        if row["ends"].get("precise", 0) >= (1 - FALSE_SHARE) * EACH:
            assert row["error_95"] <= PRECISION, row
    assert row["false"] <= 2 * FALSE_SHARE, row
    if row["held"] is not None:
        assert row["held"] >= 0.9, row
    if row["response"] in ("corner", "soft") and row["noise"].startswith(("0.3", "1 %")):
        assert row["trials_median"] <= 0.15 * GRID, row


SURE = (0.8, 0.9, 0.99)
"""Confidences beside the usual one."""
SURE_CASES, SURE_NOISE = ("corner", "soft", "shoulder"), ("1 %", "3 %")
CHANCE = 0.025
"""Of a share that is the mean of a confidence's cells: three standard deviations or more."""


def test_searches_are_as_sure_as_they_are_asked_to_be() -> None:
    names = [(case, noise, sure) for sure in SURE for case in SURE_CASES for noise in SURE_NOISE]
    rows = in_processes(_surely_searched, names)
    write_result("search-confidence", WHAT_OF_CONFIDENCE, {"searches_each": EACH, "rows": rows})
    headings = ("confidence", "response", "noise", "trials, median", "interval holds", "ends")
    fill_table(NOTES / "search.md", "confidence", table(headings, [_sure_cells(row) for row in rows]))
    for sure in SURE:
        held = [row["held"] for row in rows if row["confidence"] == sure]
        assert np.mean(held) >= sure - CHANCE, (sure, held)


def _surely_searched(names: tuple[str, str, float]) -> dict[str, Any]:
    case, noise, sure = names
    return {"confidence": sure, **_searched((case, noise), sure)}


def _sure_cells(row: dict[str, Any]) -> tuple[str, ...]:
    return (
        f"{row['confidence']:.0%}",
        row["response"],
        row["noise"],
        f"{row['trials_median']:.0f}",
        f"{row['held']:.1%}",
        _ended(row),
    )


FLOWS_SHARPNESS = (60.0, 8.0, 4.0)
MOST_ENOUGH = 20.0
"""Of 1 to 32 flows that are searched."""


def test_searches_for_the_fewest_flows() -> None:
    names = [(sharpness, noise) for sharpness in FLOWS_SHARPNESS for noise in NOISE]
    rows = in_processes(_flows_searched, names)
    write_result("search-flows", WHAT_OF_FLOWS, {"searches_each": EACH, "rows": rows})
    headings = ("sharpness", "noise", "trials, median", "90 %", "wrong", "the fewest named", "ends")
    fill_table(NOTES / "search.md", "flows", table(headings, [_flows_cells(row) for row in rows]))
    assert sum(row["wrong"] for row in rows) <= FALSE_SHARE * EACH * len(rows)
    for row in rows:
        assert row["wrong"] <= 2 * FALSE_SHARE * EACH, row


def _flows_searched(names: tuple[float, str]) -> dict[str, Any]:
    sharpness, noise_name = names
    generator = np.random.default_rng([int(sharpness), sum(map(ord, noise_name))])
    ends, trials, wrong, named = Counter[str](), [], 0, 0
    for _ in range(EACH):
        enough = generator.uniform(1.05, MOST_ENOUGH)
        corner = math.log(enough) + math.log(math.expm1(sharpness * ALLOWED)) / sharpness
        found = searched(smooth(sharpness, corner), NOISE[noise_name], generator, asked_flows())
        ends[str(found.end)] += 1
        trials.append(found.trials)
        assert found.belief is not None
        fewest, low, high = found.belief.in_whole
        truth = math.ceil(enough)
        if found.end in ("level", "rising"):
            wrong += 1
        else:
            wrong += (low is not None and truth < low) or (high is not None and truth > high)
            named += fewest == truth
    return {
        "sharpness": sharpness,
        "noise": noise_name,
        "trials_median": float(np.median(trials)),
        "trials_90": float(np.percentile(trials, 90)),
        "wrong": wrong,
        "named": named / EACH,
        "ends": dict(ends),
    }


def _flows_cells(row: dict[str, Any]) -> tuple[str, ...]:
    return (
        f"{row['sharpness']:.0f}",
        row["noise"],
        f"{row['trials_median']:.0f}",
        f"{row['trials_90']:.0f}",
        f"{row['wrong']} of {EACH}",
        f"{row['named']:.0%}",
        _ended(row),
    )


def _searched(names: tuple[str, str], confidence: float = CONFIDENCE) -> dict[str, Any]:
    case_name, noise_name = names
    generator = np.random.default_rng([len(case_name), sum(map(ord, case_name + noise_name))])
    held, both, missed, errors, precise, trials = [], [], [], [], [], []
    false, ends = 0, Counter[str]()
    for _ in range(EACH):
        case = CASES[case_name](generator)
        found = searched(case, NOISE[noise_name], generator, asked(PRECISION, confidence=confidence))
        trials.append(found.trials)
        ends[str(found.end)] += 1
        false += false_plateau(found, case)
        if (holding := holds(found, case)) is None or found.belief is None:
            continue
        held.append(holding)
        both.append(has_both_ends(found.belief))
        missed += [not holding] * both[-1]
        errors.append(abs(found.belief.enough / (case.enough_bytes or 1.0) - 1))
        precise += [errors[-1]] * (found.end == "precise")
    return {
        "response": case_name,
        "noise": noise_name,
        "trials_median": float(np.median(trials)),
        "trials_90": float(np.percentile(trials, 90)),
        "error_median": float(np.median(errors)) if errors else None,
        "error_95": float(np.percentile(errors, 95)) if errors else None,
        "error_95_precise": float(np.percentile(precise, 95)) if precise else None,
        "held": float(np.mean(held)) if held else None,
        "both_ends": float(np.mean(both)) if both else None,
        "missed": float(np.mean(missed)) if missed else None,
        "false": false / EACH,
        "ends": dict(ends),
    }


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    shares = ("error_median", "error_95", "error_95_precise", "held", "both_ends", "missed", "false")
    return (
        row["response"],
        row["noise"],
        f"{row['trials_median']:.0f}",
        f"{row['trials_90']:.0f}",
        *("none" if row[name] is None else f"{row[name]:.1%}" for name in shares),
        _ended(row),
    )


def _ended(row: dict[str, Any]) -> str:
    return ", ".join(f"{count} {end}" for end, count in sorted(row["ends"].items()))
