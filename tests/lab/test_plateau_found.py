"""The plateau of an emulated path in short: four windows, two repeats."""

from pathlib import Path

import pytest

from campaign_support import flowsweep_here, runs_lab
from flowsweep.analysis.findings.topics import findings
from flowsweep.archive import read_archive
from plateau_support import bandwidth_delay_bytes, plateau_of, write_windows_plan
from summary_support import archive_rows
from witness import judged

pytestmark = runs_lab

BEARS_S = 0.02
"""A processor that is away for a round trip holds a flow back that waits for its window."""
SETTING = {
    "rate": "50Mbit/s", "delay": "10ms", "queue": 1.0, "congestion": "bbr", "flows": 1, "omit": "1s",
}  # fmt: skip


@pytest.mark.long
def test_the_plateau_begins_at_bandwidth_times_delay(tmp_path: Path) -> None:
    def measure(attempt: int) -> Path:
        folder = tmp_path / str(attempt)
        folder.mkdir()
        plan = write_windows_plan(folder, SETTING, shares=(0.5, 0.7, 1.7, 2.4), counted="1500ms", repeats=2)
        flowsweep_here("run", plan, "--archive", folder / "archive")
        return folder / "archive"

    def check(archive: Path) -> None:
        plateau = plateau_of(archive)
        assert plateau.knee is not None
        assert plateau.knee.follows_window
        assert plateau.knee.usable == pytest.approx(bandwidth_delay_bytes(SETTING), rel=0.15)
        assert plateau.found.peak_bps == pytest.approx(50e6 * 1448 / 1500, rel=0.05)
        read = read_archive(archive)
        concluded = findings(archive_rows(read), tables=read.tables())
        [told] = [finding for finding in concluded if finding.kind == "plateau"]
        assert told.decision == "effect"
        assert told.effect == pytest.approx(plateau.knee.requested)
        assert "slow_start" in {finding.kind for finding in concluded}

    judged(measure, check, bears_s=BEARS_S)
