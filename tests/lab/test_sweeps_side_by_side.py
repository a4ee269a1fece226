"""Sweeps with times whose hosts are others: a probe is not missed since a transfer elsewhere still runs."""

import os
import signal
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest
from lab_support import needs_lab

from campaign_support import flowsweep_here, start
from flowsweep.archive import read_archive
from flowsweep.defaults import SECOND_NS
from flowsweep.run.outcome import TrialRecord
from packed_support import occupied
from waiting import wait_until

pytestmark = [*needs_lab, pytest.mark.together]

FOR_S = 24
TIMES = {"transfer": FOR_S // 8, "probes": FOR_S // 4, "beside": FOR_S // 4}
PLAN = f"""
[campaign]
name = "side-by-side"
every = "4s"
for = "{FOR_S}s"
slip = "3s"
concurrent = 3

[lab.links.first]
between = ["a", "b"]
rate = "10Mbit/s"

[lab.links.second]
between = ["c", "d"]
rate = "10Mbit/s"

[[sweep]]
name = "transfer"
every = "8s"
paths = [{{ from = "a", to = "b" }}]
duration = "5s"

[[sweep]]
name = "probes"
test = "rtt"
paths = [{{ from = "c", to = "d" }}]
duration = "500ms"

[[sweep]]
name = "beside"
test = "rtt"
paths = [{{ from = "a", to = "b" }}]
duration = "500ms"
exclusive = false
"""


def spans(records: Iterable[TrialRecord], sweep: str) -> list[tuple[float, float]]:
    begins = [(one.started_at.timestamp(), one.elapsed_ns) for one in records if one.trial.sweep == sweep]
    return [(begin_s, begin_s + elapsed_ns / SECOND_NS) for begin_s, elapsed_ns in begins]


def test_sweeps_run_beside_each_other_where_they_share_no_host(tmp_path: Path) -> None:
    plan, archive = tmp_path / "plan.toml", tmp_path / "archive"
    plan.write_text(PLAN, encoding="utf-8")
    flowsweep_here("run", plan, "--archive", archive)
    read = read_archive(archive)
    records = list(read.records.values())
    assert not read.state.missed
    assert Counter(one.trial.sweep for one in records) == TIMES
    assert {one.status for one in records} == {"ok"}
    occupied([one for one in records if one.trial.sweep != "beside"])
    transfers = spans(records, "transfer")
    for sweep in ("probes", "beside"):
        # 4 s after each transfer began, it still goes on.
        for begin_s, end_s in transfers:
            assert any(begin_s < first_s and last_s < end_s for first_s, last_s in spans(records, sweep))


@pytest.mark.long
def test_each_time_of_each_sweep_is_settled_once_though_the_controller_is_killed(tmp_path: Path) -> None:
    plan, archive = tmp_path / "plan.toml", tmp_path / "archive"
    plan.write_text(PLAN, encoding="utf-8")
    running = start("run", plan, "--archive", archive)
    wait_until(lambda: (archive / "campaign.json").exists() or running.poll() is not None)
    for lives_s in (6.0, 5.0):
        time.sleep(lives_s)
        os.kill(running.pid, signal.SIGKILL)
        running.communicate(timeout=30)
        running = start("run", plan, "--archive", archive, "--resume")
    said, _ = running.communicate(timeout=120)
    assert running.returncode in (0, 1), said
    read = read_archive(archive)
    assert not read.losses
    ran = [(one.trial.sweep, one.trial.repeat) for one in read.records.values()]
    missed = [(one.sweep, number) for one in read.state.missed for number in range(one.first, one.last + 1)]
    assert sorted([*ran, *missed]) == sorted(
        (sweep, number) for sweep, times in TIMES.items() for number in range(1, times + 1)
    ), said
    assert all(one.reason for one in read.state.missed)
