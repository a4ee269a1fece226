"""Searches on emulated paths beside dense grids of windows: within 15 %, for a fraction of a grid's cost.

The truth of a path is where goodput of a dense grid comes within 3 % of its plateau: between two windows,
which a second grid brings closer, to 1 to 3 %. Where goodput dips again, as with a short queue, it is from
where goodput first is within 3 % until it remains there. No response is fitted to it, nothing is
interpolated (what hosts grant rises in steps), and no analysis of plateaus takes part.
"""

import math
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from truth_support import NOTES, PLANS, fill_table, run_side_by_side, table, write_result

from flowsweep.analysis.findings.late_trials import trusted
from flowsweep.analysis.findings.plateau.searched import PlateauSearched, plateau_searches
from flowsweep.archive import read_archive
from flowsweep.defaults import EQUIVALENCE_MARGIN, SECOND_NS
from flowsweep.units import parse_duration, parse_rate, write_size
from flowsweep.wording import format_size
from plateau_support import (
    COUNTED,
    USABLE_PER_REQUESTED,
    Setting,
    bandwidth_delay_bytes,
    write_link_plan,
    write_windows_plan,
)
from searched_responses import has_both_ends
from summary_support import archive_rows

Floats = npt.NDArray[np.float64]

WHAT = "searches for the plateau on the emulated paths of plateau.toml and search.toml"
SETTINGS = [
    setting
    for name in ("plateau", "search")
    for setting in tomllib.loads((PLANS / f"{name}.toml").read_text(encoding="utf-8"))["setting"]
]
RANGE = (1 / 12, 5.0)
"""That is searched, in bandwidth × delay of usable windows."""
DENSE = (*np.geomspace(0.55, 1.8, 12), 2.2, 2.6, 3.0, 3.6, 5.0)
"""Windows of the grid that tells the truth, likewise; the last three are on the plateau."""
ON_PLATEAU = 3
CLOSER = 3
"""Windows of the second grid between two of the first."""
WITHIN = 0.15
PRECISION = "15%"
"""That is asked for: as much as is judged by."""
SHARE_FOUND = 23 / 24
SHARE_HELD = 0.92
SHARE_OF_GRID = 0.25
"""Of a full grid's seconds and bytes: the most that a search may take."""
BUDGET = 0.24
"""That searches are given of them: a plateau is below what a link carries, and so is then the grid's cost."""
LONGEST = 1.25
"""Trials of a search, in those of the grid: without `omit`, windows need time to come to rest."""
PAYLOAD_SHARE = 1448 / 1500
"""Of what a link carries: 52 bytes of each packet are headers."""
GRID_WINDOWS, GRID_OTHERS = 10, 9
"""Of a full grid, with three numbers of flows and three repeats."""


def test_searches_find_what_a_dense_grid_shows_for_a_fraction_of_its_cost(tmp_path: Path) -> None:
    searches = [tmp_path / f"{place}" / "archive" for place in range(len(SETTINGS))]
    grids = [tmp_path / f"{place}-grid" / "archive" for place in range(len(SETTINGS))]
    both = list(zip(SETTINGS, searches, grids, strict=True))
    run_side_by_side((_plan(archive.parent, setting), (), archive) for setting, archive, _ in both)
    run_side_by_side(
        (write_windows_plan(archive.parent, setting, shares=DENSE, repeats=1), (), archive)
        for setting, _, archive in both
    )
    closer = [grid.parent / "closer" / "archive" for _, _, grid in both]
    run_side_by_side(
        (
            write_windows_plan(archive.parent, setting, shares=shares_between(setting, grid), repeats=1),
            (),
            archive,
        )
        for (setting, _, grid), archive in zip(both, closer, strict=True)
    )
    results = [
        result_of(setting, archive, enough_of(grid, near))
        for (setting, archive, grid), near in zip(both, closer, strict=True)
    ]
    keep(results)

    found = [result for result in results if result["error"] is not None and abs(result["error"]) <= WITHIN]
    assert len(found) >= math.floor(SHARE_FOUND * len(SETTINGS)), results
    assert sum(result["held"] for result in results) >= SHARE_HELD * len(SETTINGS), results
    for kind in ("seconds_of_grid", "bytes_of_grid"):
        shares = [result[kind] for result in results]
        assert np.median(shares) <= 0.15, kind
        assert max(shares) <= SHARE_OF_GRID, kind


def _plan(folder: Path, setting: Setting) -> Path:
    product_bytes = bandwidth_delay_bytes(setting) / USABLE_PER_REQUESTED
    low, high = (write_size(round(share * product_bytes)) for share in RANGE)
    seconds = BUDGET * _grid_s(setting)
    sent_bytes = BUDGET * _grid_bytes(setting, PAYLOAD_SHARE * parse_rate(setting["rate"]))
    sweep = f"""
        find = "plateau"
        precision = "{PRECISION}"
        flows = {setting["flows"]}
        window_sum = {{ from = "{low}", to = "{high}" }}
        length = "8KB"
        duration = {{ until = "2%", at_least = "1s", at_most = "{LONGEST * _whole_s(setting):g}s" }}
        interval = "100ms"
        sample_interval = "50ms"
        at_most = {{ trials = 60, duration = "{seconds:.0f}s", bytes = "{sent_bytes:.0f}B" }}
        """
    return write_link_plan(folder, setting, sweep)


def enough_of(*grids: Path) -> tuple[float, float]:
    """Between which window sums, as requested, the smallest lies that is enough, and remains so."""
    sizes, rates, enough = _measured(*grids)
    first, last = _crossings(rates, enough)
    return math.exp(sizes[first - 1]), math.exp(sizes[min(last, len(sizes) - 1)])


def shares_between(setting: Setting, grid: Path) -> tuple[float, ...]:
    """Windows of a second grid: between those of the first where goodput becomes enough, and remains so."""
    sizes, rates, enough = _measured(grid)
    product_bytes = bandwidth_delay_bytes(setting) / USABLE_PER_REQUESTED
    between = [
        np.linspace(sizes[above - 1], sizes[above], CLOSER + 2)[1:-1]
        for above in sorted(set(_crossings(rates, enough)))
        if above < len(sizes)
    ]
    return tuple(float(share) for share in np.exp(np.concatenate(between)) / product_bytes)


def _measured(*grids: Path) -> tuple[Floats, Floats, float]:
    """Window sums and goodput of grids, natural logarithms, by window; and the goodput that is enough."""
    found = [row for grid in grids for row in trusted(archive_rows(read_archive(grid)))]
    rows = sorted((row for row in found if row["status"] == "ok"), key=lambda row: row["window_sum_bytes"])
    sizes, rates = (np.log([row[key] for row in rows]) for key in ("window_sum_bytes", "goodput_mean_bps"))
    return sizes, rates, float(np.median(rates[-ON_PLATEAU:])) + math.log1p(-EQUIVALENCE_MARGIN)


def _crossings(rates: Floats, enough: float) -> tuple[int, int]:
    """Numbers of the first window that is enough, and of the first of those that remain so."""
    below = np.flatnonzero(rates < enough)
    assert 0 in below, "the smallest window of the grid is enough"
    return int(np.argmax(rates >= enough)), int(below[-1]) + 1


def keep(results: list[dict[str, Any]]) -> None:
    """Write them down, and a table."""
    write_result("search", WHAT, {"settings": results})
    fill_table(NOTES / "search.md", "emulated", table(_COLUMNS, map(_cells, results)))


def result_of(setting: Setting, archive: Path, true_bytes: tuple[float, float]) -> dict[str, Any]:
    """What a search came to, beside the truth."""
    rows = archive_rows(read_archive(archive))
    (search,) = plateau_searches(rows)
    product_bytes = bandwidth_delay_bytes(setting)
    belief = search.belief
    usable = None if belief is None else belief.enough * _usable_per_requested(search)
    plateau_bps = parse_rate(setting["rate"]) if belief is None else belief.plateau_bps
    return {
        **setting,
        "product_bytes": product_bytes,
        "requested_bytes": None if belief is None else belief.enough,
        "interval_bytes": None if belief is None else [belief.low, belief.high],
        "usable_bytes": usable,
        "true_bytes": true_bytes,
        "error": None if belief is None else _off(belief.enough, true_bytes),
        "held": _holds(search, true_bytes),
        "held_both": belief is not None and has_both_ends(belief) and _holds(search, true_bytes),
        "end": search.end,
        "trials": len(rows),
        "ok": sum(row["status"] == "ok" for row in rows),
        "late": sum(row["path_emulation"] == "late" for row in rows),
        "seconds_of_grid": sum(row["lasted_s"] for row in rows) / _grid_s(setting),
        "bytes_of_grid": sum(row["bytes"] or 0 for row in rows) / _grid_bytes(setting, plateau_bps),
    }


def _off(found_bytes: float, true_bytes: tuple[float, float]) -> float:
    first, last = true_bytes
    return found_bytes / min(max(found_bytes, first), last) - 1


def _holds(search: PlateauSearched, true_bytes: tuple[float, float]) -> bool:
    belief, (first, last) = search.belief, true_bytes
    if belief is None or (belief.low is None and belief.high is None):
        return False
    return (belief.low or 0.0) <= last and first <= (belief.high or math.inf)


def _whole_s(setting: Setting) -> float:
    """How long a trial of the grid lasts."""
    return (parse_duration(setting["omit"]) + parse_duration(COUNTED)) / SECOND_NS


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


def _grid_s(setting: Setting) -> float:
    return GRID_WINDOWS * GRID_OTHERS * _whole_s(setting)


def _grid_bytes(setting: Setting, plateau_bps: float) -> float:
    """Of a grid over the same range, whose trials are whole: each window gives its share of the plateau."""
    plateau_bytes = plateau_bps * _whole_s(setting) / 8
    shares = [min(1.0, share) for share in np.geomspace(*RANGE, GRID_WINDOWS)]
    return GRID_OTHERS * plateau_bytes * sum(shares)


_COLUMNS = (
    "rate", "delay", "queue", "loss", "congestion", "flows", "bandwidth × delay", "found, usable",
    "dense grid, requested", "found, requested", "error", "held", "with both ends",
    "trials", "end", "seconds / grid's", "bytes / grid's",
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
        " to ".join(dict.fromkeys(map(format_size, result["true_bytes"]))),
        "none" if result["requested_bytes"] is None else f"{format_size(result['requested_bytes'])} [{ends}]",
        "none" if result["error"] is None else f"{result['error']:+.1%}",
        "yes" if result["held"] else "no",
        "yes" if result["held_both"] else "no",
        result["trials"],
        result["end"],
        f"{result['seconds_of_grid']:.2f}",
        f"{result['bytes_of_grid']:.2f}",
    )
