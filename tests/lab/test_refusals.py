"""Trials that cannot go as asked are recorded with phase, host and reason, and the campaign goes on."""

from pathlib import Path

import pytest

from campaign_support import flowsweep_here, runs_lab, summary, write_plan

pytestmark = [*runs_lab, pytest.mark.together]

SHORT = 'duration = "0.4s"\ninterval = "0.1s"\nsample_interval = "50ms"\n'


def test_a_clipped_window_fails_before_traffic_and_names_the_sysctl(tmp_path: Path) -> None:
    plan = write_plan(tmp_path, sweep=SHORT + 'window = ["64KiB", "512MiB"]')
    flowsweep_here("run", plan, "--archive", tmp_path / "archive", expect=1)
    good, clipped = sorted(summary(tmp_path / "archive"), key=lambda row: int(row["window_bytes"]))
    assert good["status"] == "ok"
    assert (int(good["window_granted_send_bytes"]), int(good["window_granted_recv_bytes"])) == (
        131072,
        131072,
    )
    assert (clipped["status"], clipped["failure_phase"], clipped["goodput_bps"]) == ("failed", "prepare", "")
    assert str(2**29) in clipped["error"]
    assert "net.core.rmem_max" in clipped["error"]


def test_a_clipped_window_may_be_allowed(tmp_path: Path) -> None:
    plan = write_plan(tmp_path, sweep=SHORT + 'window = "512MiB"\nclip = "allow"')
    flowsweep_here("run", plan, "--archive", tmp_path / "archive")
    (row,) = summary(tmp_path / "archive")
    assert row["status"] == "ok"
    assert 0 < int(row["window_granted_recv_bytes"]) < 2 * 2**29
    assert row["window_clipped"] == "true"


def test_a_trial_that_does_not_drain_in_time_is_incomplete(tmp_path: Path) -> None:
    sweep = SHORT + 'window = "208KiB"\nflows = 8\ndrain = "100ms"'
    plan = write_plan(tmp_path, link='rate = "4Mbit/s"\nqueue = "1MB"', sweep=sweep)
    flowsweep_here("run", plan, "--archive", tmp_path / "archive", expect=1)
    (row,) = summary(tmp_path / "archive")
    assert (row["status"], row["failure_phase"]) == ("incomplete", "drain")


def test_a_congestion_control_that_is_not_there_is_named(tmp_path: Path) -> None:
    plan = write_plan(tmp_path, sweep=SHORT)
    plan.write_text(
        plan.read_text(encoding="utf-8").replace('"cubic"', '["nonesuch", "cubic"]'), encoding="utf-8"
    )
    flowsweep_here("run", plan, "--archive", tmp_path / "archive", expect=1)
    rows = {row["congestion"]: row for row in summary(tmp_path / "archive")}
    assert rows["cubic"]["status"] == "ok"
    assert "nonesuch" in rows["nonesuch"]["error"]
