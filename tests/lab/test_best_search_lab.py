"""The best of several settings is found over a real path, and gone on with after it was broken off."""

from collections import Counter
from pathlib import Path

import pytest
from lab_support import needs_lab

from campaign_support import flowsweep_here, write_plan
from flowsweep.analysis.findings.best import best_searches
from flowsweep.archive import read_archive
from summary_support import archive_rows

pytestmark = [*needs_lab, pytest.mark.long]

# 20 Mbit/s × 40 ms are 100 kB in flight: 16 KiB carry 3 Mbit/s a flow, 4 of 256 KiB all that there is.
LINK = 'rate = "20Mbit/s"\ndelay = "20ms"\nqueue = "200KB"'
SWEEP = """
find = "best"
window = ["16KiB", "256KiB"]
flows = [1, 2]
precision = "20%"
at_most = { trials = 12 }
duration = "1200ms"
omit = "500ms"
interval = "200ms"
"""


def test_settings_that_carry_less_are_left_out_and_nothing_runs_again(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    plan = write_plan(tmp_path, link=LINK, sweep=SWEEP, repeats=3)
    flowsweep_here("run", plan, "--archive", archive)
    rows = archive_rows(read_archive(archive))
    assert {row["status"] for row in rows} == {"ok"}
    (search,) = best_searches(rows)
    assert search.end == "precise"
    assert search.belief is not None
    numbered = zip(search.steps, search.numbers, strict=True)
    windows = {row["window_bytes"] for row, number in numbered if number == search.belief.best}
    assert windows == {256 << 10}
    small = Counter(row["flows"] for row in rows if row["window_bytes"] == 16 << 10)
    assert small == {1: 2, 2: 2}

    flowsweep_here("run", plan, "--archive", archive, "--resume")
    assert archive_rows(read_archive(archive)) == rows
