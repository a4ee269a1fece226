"""A campaign with times on an emulated path, whose controller is killed thrice: nothing lost or doubled."""

import json
import os
import signal
import time
from collections import Counter
from datetime import datetime
from pathlib import Path

import pytest
from lab_support import needs_lab

from campaign_support import flowsweep, start
from flowsweep.archive import read_archive
from settled_times import finished
from waiting import wait_until

pytestmark = [*needs_lab, pytest.mark.together]

EVERY_S, FOR_S = 3, 36
PLAN = f"""
[campaign]
name = "times"
every = "{EVERY_S}s"
for = "{FOR_S}s"
slip = "1500ms"

[lab.links.wire]
between = ["left", "right"]
rate = "20Mbit/s"

[[sweep]]
name = "often"
paths = [{{ from = "left", to = "right" }}]
duration = "600ms"
interval = "200ms"
"""


def test_each_time_is_run_or_has_a_reason_however_often_the_controller_is_killed(tmp_path: Path) -> None:
    plan, archive = tmp_path / "plan.toml", tmp_path / "archive"
    plan.write_text(PLAN, encoding="utf-8")
    first = start("run", plan, "--archive", archive)
    wait_until(lambda: (archive / "campaign.json").exists() or first.poll() is not None)
    running = first
    for lives_s in (7.0, 4.0, 5.0):
        time.sleep(lives_s)
        os.kill(running.pid, signal.SIGKILL)
        running.communicate(timeout=30)
        running = start("run", plan, "--archive", archive, "--resume")
    said, _ = running.communicate(timeout=120)
    assert running.returncode in (0, 1), said
    read = read_archive(archive)
    assert not read.losses
    ran = Counter(record.trial.repeat for record in finished(read))
    assert set(ran.values()) == {1}
    missed = [number for one in read.state.missed for number in range(one.first, one.last + 1)]
    assert sorted([*ran, *missed]) == list(range(1, FOR_S // EVERY_S + 1)), said
    begun = read.campaign.created_at
    for record in read.records.values():
        assert (record.started_at - begun).total_seconds() >= EVERY_S * (record.trial.repeat - 1)
    status = json.loads(flowsweep("status", archive, "--format", "json"))
    assert (status["state"], status["missed"]) == ("is over", len(missed))
    assert status["trials"] == dict(Counter(record.status for record in read.records.values()))
    last = max(record.started_at for record in read.records.values() if record.status == "ok")
    assert abs(datetime.fromisoformat(status["paths"][0]["last_ok_at"]) - last).total_seconds() < 1.5
