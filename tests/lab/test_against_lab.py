"""Two rates on the lab in one campaign: the higher one is faster, and a rate is no faster than itself."""

from itertools import pairwise
from pathlib import Path

import pytest

from campaign_support import compared, run_together, runs_lab, summary
from flowsweep.cli import load
from witness import judged

pytestmark = runs_lab

PLAN = """
[campaign]
name = "against"
HOW_OFTEN
seed = 1

[lab.links.path]
between = ["near", "far"]
rate = "20Mbit/s"

[[sweep]]
name = "bulk"
paths = [{ from = "near", to = "far" }]
rate = "RATE"
congestion = "cubic"
duration = "1500ms"
omit = "500ms"
interval = "250ms"
"""
RATES = {"low": "4Mbit/s", "high": "8Mbit/s"}
"""Both below the link's, which the kernel emulates: no pause of the machine makes a trial late."""
TIMES, TIMES_DUE = 'every = "5s"\nfor = "20s"', 4
BEARS_S = 0.02
"""Of an absence of a processor: a fiftieth of what a trial counts."""

load(["summary"])


def test_a_higher_rate_is_faster_and_a_rate_is_no_faster_than_itself(tmp_path: Path) -> None:
    def measure(attempt: int) -> Path:
        folder = tmp_path / str(attempt)
        plans = written(folder)
        run_together(folder, {name: [plan, "--against", plans["high"]] for name, plan in plans.items()})
        return folder

    def check(folder: Path) -> None:
        code, told = compared(folder / "low", fail_if="different")
        assert code == 1, told
        assert "B is faster" in told
        assert "sweep.bulk.rate: 4Mbit/s in A, 8Mbit/s in B" in told
        code, told = compared(folder / "high", fail_if="different")
        assert code in (0, 3), told
        assert "A and B are the same setting." in told

    folder = judged(measure, check, bears_s=BEARS_S)
    rows = sorted(summary(folder / "low"), key=lambda row: int(row["order_index"]))
    assert all(pair == {"bulk-A", "bulk-B"} for pair in side_by_side([row["sweep"] for row in rows]))


@pytest.mark.long
def test_two_plans_with_times_take_turns_each_time(tmp_path: Path) -> None:
    def measure(attempt: int) -> Path:
        folder = tmp_path / str(attempt)
        plans = written(folder, how_often=TIMES)
        run_together(folder, {"hours": [plans["low"], "--against", plans["high"]]})
        return folder

    def check(folder: Path) -> None:
        rows = sorted(summary(folder / "hours"), key=lambda row: row["started_at"])
        assert [row["status"] for row in rows] == ["ok"] * 2 * TIMES_DUE
        assert all(pair == {"bulk-A", "bulk-B"} for pair in side_by_side([row["sweep"] for row in rows]))
        assert [row["repeat"] for row in rows[::2]] == [row["repeat"] for row in rows[1::2]]
        code, told = compared(folder / "hours", fail_if="different")
        assert code == 1, told
        assert "B is faster" in told
        assert "No partner" not in told

    judged(measure, check, bears_s=BEARS_S)


def written(folder: Path, how_often: str = "repeats = 4") -> dict[str, Path]:
    """The plans, in a new folder."""
    folder.mkdir()
    plans = {name: folder / f"{name}.toml" for name in RATES}
    for name, plan in plans.items():
        text = PLAN.replace("HOW_OFTEN", how_often).replace("RATE", RATES[name])
        plan.write_text(text, encoding="utf-8")
    return plans


def side_by_side(sweeps: list[str]) -> list[set[str]]:
    """The two trials of each pair, as they ran."""
    return [set(both) for both in list(pairwise(sweeps))[::2]]
