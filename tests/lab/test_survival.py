"""A campaign outlives its controller, its engines and its path; in the end every trial is there once."""

import os
import signal
import subprocess
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
from lab_support import engine_of, namespaces_of

from campaign_support import LAB_MISSING, finished_trials, flowsweep, start, summary, write_plan
from flowsweep.archive import read_archive
from waiting import wait_until

pytestmark = [
    pytest.mark.lab,
    pytest.mark.together,
    pytest.mark.skipif(
        LAB_MISSING is not None or os.geteuid() != 0,
        reason=LAB_MISSING or "looks into the lab's namespaces from outside: needs root",
    ),
]

TRIALS = 60
UNHARMED = 3
"""So many trials that end well after an engine was killed: it was killed between two of them."""
SWEEP = """
flows = [1, 2, 3, 4, 5]
length = ["4KiB", "64KiB"]
window = "64KiB"
duration = "0.4s"
interval = "0.1s"
sample_interval = "50ms"
drain = "1s"
"""


@pytest.mark.long
def test_sixty_trials_survive_what_may_happen_to_them(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    plan = write_plan(tmp_path, sweep=SWEEP, repeats=3, directions="both")

    first = start("run", plan, "--archive", archive)
    wait_until(lambda: finished_trials(archive) >= 5)
    _kill_engine(first.pid, "left", archive)
    _kill_engine(first.pid, "right", archive)
    wait_until(lambda: finished_trials(archive) >= 18)
    _interrupt_link(first.pid, archive)
    wait_until(lambda: finished_trials(archive) >= 25)
    first.kill()
    first.communicate(timeout=180)
    assert finished_trials(archive) < TRIALS

    output = flowsweep("run", plan, "--archive", archive, "--resume")
    rows = summary(archive)
    assert Counter(row["status"] for row in rows) == {"ok": TRIALS}, output
    assert len({row["trial_id"] for row in rows}) == TRIALS
    assert all(int(row["bins"]) == int(row["bins_expected"]) for row in rows)
    # Each of the four accidents cost one trial, which was tried again, and the count says so.
    assert sum(int(row["attempts"]) > 1 for row in rows) >= 4
    assert namespaces_of(first.pid) == []


def _kill_engine(controller: int, host: str, archive: Path) -> None:
    """Kill a host's engine in the middle of a trial; it may be its source or its sink.

    One that is killed between two trials costs neither: the controller has another one at once. Then that one
    is killed.
    """
    before, finished = _accidents(archive), finished_trials(archive)

    def cost_a_trial() -> bool:
        wait_until(lambda: _killed(controller, host))
        unharmed = finished_trials(archive) + UNHARMED
        wait_until(lambda: _accidents(archive) > before or finished_trials(archive) >= unharmed)
        return _accidents(archive) > before

    wait_until(cost_a_trial)
    wait_until(lambda: finished_trials(archive) > finished + 2)


def _killed(controller: int, host: str) -> bool:
    """Kill a host's engine, if there is one just now."""
    with suppress(ValueError, ProcessLookupError):
        os.kill(engine_of(controller, host), signal.SIGKILL)
        return True
    return False


def _interrupt_link(controller: int, archive: Path) -> None:
    """Take the link away until a trial has felt it."""
    (router,) = [name for name in namespaces_of(controller) if "-link-" in name]
    before = _accidents(archive)
    _set_link(router, "down")
    wait_until(lambda: _accidents(archive) > before)
    _set_link(router, "up")


def _accidents(archive: Path) -> int:
    return sum(record.status != "ok" for record in read_archive(archive).records.values())


def _set_link(router: str, state: str) -> None:
    for side in ("side0", "side1"):
        subprocess.run(["ip", "-n", router, "link", "set", side, state], check=True, timeout=10)


def test_an_interrupted_campaign_keeps_what_is_done_and_goes_on(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    plan = write_plan(tmp_path, sweep=SWEEP, directions="both")
    first = start("run", plan, "--archive", archive)
    wait_until(lambda: finished_trials(archive) >= 3)
    first.send_signal(signal.SIGINT)
    output, _ = first.communicate(timeout=180)
    assert first.returncode == 130, output
    done = finished_trials(archive)
    assert 3 <= done < 20
    assert namespaces_of(first.pid) == []

    flowsweep("run", plan, "--archive", archive, "--resume")
    assert Counter(row["status"] for row in summary(archive)) == {"ok": 20}


def test_an_edited_plan_is_not_resumed(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    plan = write_plan(tmp_path, sweep=SWEEP.replace("[1, 2, 3, 4, 5]", "1"))
    flowsweep("run", plan, "--archive", archive)
    before = finished_trials(archive)
    plan.write_text(
        plan.read_text(encoding="utf-8").replace('"64KiB"\nduration', '"32KiB"\nduration'), "utf-8"
    )
    flowsweep("run", plan, "--archive", archive, "--resume", expect=2)
    assert finished_trials(archive) == before
