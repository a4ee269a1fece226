"""Where plateaus of the emulated paths begin, measured densely: what intervals of the knee have to hold.

The six windows of `plateau.toml` leave a gap of a third to a half of bandwidth × delay between the last
window below the plateau and the first on it. Here ten windows lie in that gap, and no analysis takes part:
the truth is where their goodput crosses the share of the link's payload that counts as enough.
"""

import json
import math
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from truth_support import NOTES, PLANS, run_side_by_side, write_result

from flowsweep.archive import read_archive
from flowsweep.defaults import EQUIVALENCE_MARGIN
from flowsweep.units import parse_rate
from plateau_support import USABLE_PER_REQUESTED, bandwidth_delay_bytes, write_windows_plan
from summary_support import summary_rows

SETTINGS = tomllib.loads((PLANS / "plateau.toml").read_text(encoding="utf-8"))["setting"]
POINTS = 10
PAYLOAD_SHARE = 1448 / 1500


def test_windows_between_the_last_below_and_the_first_on_the_plateau(tmp_path: Path) -> None:
    coarse = json.loads((NOTES / "plateau.json").read_text(encoding="utf-8"))["settings"]
    gaps = [gap_of(setting) for setting in coarse]
    archives = [tmp_path / str(place) / "archive" for place in range(len(SETTINGS))]
    run_side_by_side(
        (write_windows_plan(archive.parent, setting, shares=shares(setting, gap), repeats=1), (), archive)
        for setting, gap, archive in zip(SETTINGS, gaps, archives, strict=True)
    )
    settings = [
        {key: setting[key] for key in ("rate", "delay", "queue", "congestion", "flows")}
        | {"gap_bytes": gap}
        | enough(setting, points := points_of(archive))
        | {"points": points}
        for setting, gap, archive in zip(coarse, gaps, archives, strict=True)
    ]
    assert all(len(setting["points"]) >= POINTS // 2 for setting in settings)
    write_result("knee-between", "windows between those of tests/truth/plateau.toml", {"settings": settings})


def gap_of(setting: dict[str, Any]) -> tuple[int, int]:
    """The last window below the plateau by the link's own rate and the first on it, in requested bytes."""
    enough = enough_bps(setting)
    means: dict[int, list[float]] = {}
    for point in setting["points"]:
        means.setdefault(point["window_sum_bytes"], []).append(math.log(point["goodput_bps"]))
    levels = sorted(means)
    first = next(place for place, level in enumerate(levels) if sum(means[level]) / 3 >= math.log(enough))
    return levels[first - 1], levels[first]


def enough_bps(setting: dict[str, Any]) -> float:
    return (1 - EQUIVALENCE_MARGIN) * PAYLOAD_SHARE * parse_rate(setting["rate"])


def enough(setting: dict[str, Any], points: Sequence[dict[str, Any]]) -> dict[str, int]:
    """Where goodput crosses what is enough, requested and usable: interpolated after isotonic regression.

    Takes the ten windows and those of `plateau.json` at both ends of the gap (Robertson, Wright and Dykstra,
    Order Restricted Statistical Inference, 1988).
    """
    ends = [point for point in setting["points"] if point["window_sum_bytes"] in gap_of(setting)]
    found = {}
    for name, column in (("requested", "window_sum_bytes"), ("usable", "usable_sum_bytes")):
        placed = sorted((point[column], point["goodput_bps"]) for point in (*ends, *points))
        sizes, rates = (np.log(values) for values in zip(*placed, strict=True))
        rising = scipy.optimize.isotonic_regression(rates).x
        above = int(np.argmax(rising >= math.log(enough_bps(setting))))
        part = (math.log(enough_bps(setting)) - rising[above - 1]) / (rising[above] - rising[above - 1])
        size = sizes[above - 1] + part * (sizes[above] - sizes[above - 1])
        found[f"enough_{name}_bytes"] = round(math.exp(size))
    return found


def shares(setting: dict[str, Any], gap: tuple[int, int]) -> tuple[float, ...]:
    low, high = gap
    unit = bandwidth_delay_bytes(setting) / USABLE_PER_REQUESTED
    steps = [low * (high / low) ** (step / (POINTS + 1)) for step in range(1, POINTS + 1)]
    return tuple(size / unit for size in steps)


def points_of(archive: Path) -> list[dict[str, object]]:
    rows = summary_rows(read_archive(archive).tables())
    return [
        {
            "window_sum_bytes": row["window_sum_bytes"],
            "usable_sum_bytes": row["window_usable_bytes"] * row["flows"],
            "goodput_bps": round(row["goodput_bps"]),
            "rtt_median_ms": row["rtt_median_ms"],
            "path_emulation": row["path_emulation"],
        }
        for row in sorted(rows, key=lambda row: row["window_sum_bytes"])
        if row["status"] == "ok" and row["window_usable_bytes"]
    ]
