"""Eleven thousand searches for the best setting in virtual time: wrong answers, how many trials they take."""

from collections import Counter
from math import log1p
from typing import Any

import numpy as np
from truth_support import NOTES, fill_table, in_processes, table, write_result

from searched_settings import LEVELS, NOISE, PRECISION, asked, searched, shortfall

WHAT = "searches for the best of 2, 6, 12 and 30 settings whose goodputs are known, to 10 %, in virtual time"
SETTINGS = (2, 6, 12, 30)
EACH = 90
"""Of each number of settings: 11 520 searches in all."""
WRONG_SHARE = 0.05


def test_searches_over_known_settings() -> None:
    names = [(levels, noise) for levels in LEVELS for noise in NOISE]
    rows = in_processes(_searched, names)
    write_result("best-synthetic", WHAT, {"searches_each": EACH * len(SETTINGS), "rows": rows})
    heads = (
        "goodputs",
        "noise",
        "trials a setting, median",
        "90 %",
        "wrong",
        "next one's interval holds",
        "ends",
    )
    fill_table(NOTES / "search.md", "settings", table(heads, [_cells(row) for row in rows]))
    assert np.mean([row["wrong"] for row in rows]) <= WRONG_SHARE / 5
    for row in rows:
        assert row["wrong"] <= WRONG_SHARE, row
    assert np.mean([row["held"] for row in rows]) >= 0.93


def _searched(names: tuple[str, str]) -> dict[str, Any]:
    levels_name, noise_name = names
    generator = np.random.default_rng([len(levels_name), sum(map(ord, levels_name + noise_name))])
    trials, held, wrong, ends = [], [], 0, Counter[str]()
    for settings in SETTINGS:
        for _ in range(EACH):
            levels = LEVELS[levels_name](generator, settings)
            found = searched(levels, NOISE[noise_name], generator, asked())
            trials.append(len(found.tried) / settings)
            ends[str(found.decided.end)] += 1
            # "Budget" claims nothing.
            wrong += found.decided.end == "precise" and shortfall(found, levels) > log1p(PRECISION)
            if (belief := found.decided.belief) is not None:
                number, _, low, high = belief.behind[0]
                held.append(low <= levels[belief.best] - levels[number] <= high)
    return {
        "goodputs": levels_name,
        "noise": noise_name,
        "trials_median": float(np.median(trials)),
        "trials_90": float(np.percentile(trials, 90)),
        "wrong": wrong / (EACH * len(SETTINGS)),
        "held": float(np.mean(held)),
        "ends": dict(ends),
    }


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    share = "{:.1%}".format
    return (
        row["goodputs"],
        row["noise"],
        f"{row['trials_median']:.1f}",
        f"{row['trials_90']:.1f}",
        share(row["wrong"]),
        share(row["held"]),
        ", ".join(f"{count} {end}" for end, count in sorted(row["ends"].items())),
    )
