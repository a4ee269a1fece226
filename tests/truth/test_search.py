"""Searches on emulated paths of known bandwidth × delay: within 15 %, for a fraction of a grid's cost."""

import math
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
from truth_support import NOTES, PLANS, fill_table, run_side_by_side, table, write_result

from flowsweep.analysis.findings.plateau.searched import PlateauSearched, plateau_searches
from flowsweep.archive import read_archive
from flowsweep.defaults import SECOND_NS
from flowsweep.units import parse_duration, write_size
from flowsweep.wording import format_size
from plateau_support import COUNTED, USABLE_PER_REQUESTED, Setting, bandwidth_delay_bytes, write_link_plan
from summary_support import archive_rows

WHAT = "searches for the plateau on the emulated paths of plateau.toml"
SETTINGS = tomllib.loads((PLANS / "plateau.toml").read_text(encoding="utf-8"))["setting"]
RANGE = (1 / 12, 5.0)
"""That is searched, in bandwidth × delay of usable windows."""
WITHIN = 0.15
SHARE_FOUND = 23 / 24
GRID_WINDOWS, GRID_OTHERS = 10, 9
"""Of a full grid, with three numbers of flows and three repeats."""


def test_searches_find_bandwidth_times_delay_for_a_fraction_of_a_grid(tmp_path: Path) -> None:
    archives = [tmp_path / f"{place}" / "archive" for place in range(len(SETTINGS))]
    run_side_by_side(
        (_plan(archive.parent, setting), (), archive)
        for setting, archive in zip(SETTINGS, archives, strict=True)
    )
    results = [_result(setting, archive) for setting, archive in zip(SETTINGS, archives, strict=True)]
    write_result("search", WHAT, {"settings": results})
    fill_table(NOTES / "search.md", "emulated", table(_COLUMNS, map(_cells, results)))
    found = [result for result in results if result["error"] is not None and abs(result["error"]) <= WITHIN]
    assert len(found) >= math.floor(SHARE_FOUND * len(SETTINGS)), results
    for kind in ("seconds_of_grid", "bytes_of_grid"):
        shares = [result[kind] for result in results]
        assert np.median(shares) <= 0.15, kind
        assert max(shares) <= 0.25, kind


def _plan(folder: Path, setting: Setting) -> Path:
    product_bytes = bandwidth_delay_bytes(setting) / USABLE_PER_REQUESTED
    low, high = (write_size(round(share * product_bytes)) for share in RANGE)
    duration_ns = parse_duration(setting["omit"]) + parse_duration(COUNTED)
    sweep = f"""
        find = "plateau"
        flows = {setting["flows"]}
        window_sum = {{ from = "{low}", to = "{high}" }}
        length = "8KB"
        duration = "{duration_ns / SECOND_NS:g}s"
        omit = "{setting["omit"]}"
        interval = "500ms"
        """
    return write_link_plan(folder, setting, sweep)


def _result(setting: Setting, archive: Path) -> dict[str, Any]:
    rows = archive_rows(read_archive(archive))
    (search,) = plateau_searches(rows)
    product_bytes = bandwidth_delay_bytes(setting)
    belief = search.belief
    usable = None if belief is None else belief.enough * _usable_per_requested(search)
    seconds = len(rows) / (GRID_WINDOWS * GRID_OTHERS)
    return {
        **setting,
        "product_bytes": product_bytes,
        "requested_bytes": None if belief is None else belief.enough,
        "interval_bytes": None if belief is None else [belief.low, belief.high],
        "usable_bytes": usable,
        "error": None if usable is None else usable / product_bytes - 1,
        "end": search.end,
        "trials": len(rows),
        "ok": sum(row["status"] == "ok" for row in rows),
        "late": sum(row["path_emulation"] == "late" for row in rows),
        "seconds_of_grid": seconds,
        "bytes_of_grid": sum(row["bytes"] or 0 for row in rows) / _grid_bytes(setting, search),
    }


def _usable_per_requested(search: PlateauSearched) -> float:
    """At the windows below the estimate, where flights fill them."""
    enough_bytes = 0.0 if search.belief is None else search.belief.enough
    below = [row for row in search.whole if (row["window_sum_bytes"] or 0) < enough_bytes]
    nearest = sorted(below, key=lambda row: row["window_sum_bytes"] or 0)[-4:]
    return float(
        np.median(
            [
                (row["window_usable_bytes"] or 0) * row["flows"] / (row["window_sum_bytes"] or 1)
                for row in nearest
            ]
        )
    )


def _grid_bytes(setting: Setting, search: PlateauSearched) -> float:
    """Of a grid over the same range: each window gives its share of the plateau."""
    if search.belief is None:
        return math.inf
    plateau_bytes = max(float(row["bytes"] or 0) for row in search.whole)
    shares = [min(1.0, share) for share in np.geomspace(*RANGE, GRID_WINDOWS)]
    return GRID_OTHERS * plateau_bytes * sum(shares)


_COLUMNS = (
    "rate", "delay", "queue", "loss", "congestion", "flows", "bandwidth × delay", "enough, usable", "error",
    "enough, requested", "trials", "end", "seconds / grid's", "bytes / grid's",
)  # fmt: skip


def _cells(result: dict[str, Any]) -> tuple[object, ...]:
    low, high = result["interval_bytes"] or (None, None)
    ends = ", ".join("none" if end is None else format_size(end) for end in (low, high))
    return (
        result["rate"],
        result["delay"],
        f"{result['queue']:g}",
        f"{result['loss']:.3%}" if result.get("loss") else "0",
        result["congestion"],
        result["flows"],
        format_size(result["product_bytes"]),
        "none" if result["usable_bytes"] is None else format_size(result["usable_bytes"]),
        "none" if result["error"] is None else f"{result['error']:+.1%}",
        "none" if result["requested_bytes"] is None else f"{format_size(result['requested_bytes'])} [{ends}]",
        result["trials"],
        result["end"],
        f"{result['seconds_of_grid']:.2f}",
        f"{result['bytes_of_grid']:.2f}",
    )
