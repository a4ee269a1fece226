"""`flowsweep tune` on emulated paths and on loopback: its advice against the best of the full grid."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from truth_support import write_result

from flowsweep.tuning.settings import TODAY
from tune_runs import PATHS, EmulatedPath, advised, emulated, full_grid, grid_goodputs, tuned

WHAT = "advice of flowsweep tune within two minutes of traffic, against the full grid in the same direction"
SECONDS = 5.0
"""Of each trial of the grid; each setting twice."""
REACHED = 0.95


@pytest.fixture(scope="module")
def results() -> Iterator[list[dict[str, Any]]]:
    found: list[dict[str, Any]] = []
    yield found
    write_result("tune", WHAT, {"paths": found})


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_advice_reaches_the_best_of_the_grid(
    path: EmulatedPath, tmp_path: Path, results: list[dict[str, Any]]
) -> None:
    with emulated(path) as (near, far):
        found = tuned(near, far)
        launch = ", ".join(f'"{word}"' for word in far[0].removeprefix("exec:").split())
        there = f'launch = [{launch}]\naddress = "{far[2]}"'
        row = compared(path.name, found, near, there, path, tmp_path)
    results.append(row)
    assert row["share_of_best"] >= REACHED, row
    if not path.wrong:
        assert row["advised"] == TODAY.words, row


def test_advice_reaches_the_best_on_loopback(tmp_path: Path, results: list[dict[str, Any]]) -> None:
    row = compared("loopback", tuned((), ("local",)), (), "", None, tmp_path)
    results.append(row)
    assert row["share_of_best"] >= REACHED, row


def compared(
    name: str, found: dict[str, Any], near: Any, there: str, path: EmulatedPath | None, folder: Path
) -> dict[str, Any]:
    """What was advised, beside the best of the grid."""
    assert found["traffic_s"] <= 120
    hosts = f"[hosts.here]\nlistens = false\n\n[hosts.there]\n{there}"
    settings = full_grid(near, found, path)
    grid = grid_goodputs(near, hosts, settings, folder / "grid", seconds=SECONDS, rtt_ms=found["rtt_ms"])
    out = found["directions"][0]
    best = max(grid, key=grid.__getitem__)
    return {
        "path": name,
        "outcome": out["outcome"],
        "advised": advised(out).words,
        "best": best.words,
        "today_bps": grid[TODAY],
        "advised_bps": grid[advised(out)],
        "best_bps": grid[best],
        "share_of_best": grid[advised(out)] / grid[best],
        "settings_of_grid": len(settings),
        "traffic_s": found["traffic_s"],
        "gain": out["set"],
    }
