"""Searches whose controller is killed again and again: each goes on with the trials that would have come."""

import random
import shutil
from itertools import count, cycle
from pathlib import Path
from subprocess import TimeoutExpired

from truth_support import write_result

from campaign_support import start
from flowsweep.archive import read_archive
from flowsweep.plan import load_plan
from flowsweep.schedule import Learned, followed, schedule

WHAT = "campaigns that search, each with two searches, whose controller is killed (SIGKILL) until they end"
KILLS = 50
AFTER_S = (1.0, 6.0)
"""From a start to a kill."""
ENDS_IN_S = 120
PLAN = """
[campaign]
name = "killed"
seed = 1

[lab.links.wire]
between = ["left", "right"]
rate = "20Mbit/s"
delay = "10ms"
queue = "200KB"

[[sweep]]
paths = [{ from = "left", to = "right" }]
directions = "both"
duration = "600ms"
omit = "200ms"
interval = "100ms"
"""
SWEEPS = {
    "window": 'find = "plateau"\nwindow = { from = "8KiB", to = "1MiB" }\nat_most = { trials = 15 }\n',
    "flows": 'find = "plateau"\nflows = { from = 1, to = 8 }\nwindow = "16KiB"\nat_most = { trials = 15 }\n',
    "flows, then window": (
        'find = "plateau"\nflows = { from = 1, to = 8 }\nwindow = { from = "8KiB", to = "256KiB" }\n'
        "at_most = { trials = 25 }\n"
    ),
    "best": 'find = "best"\ncongestion = ["cubic", "reno"]\nflows = [1, 4]\nat_most = { trials = 15 }\n',
}
SEED = 1


def test_a_killed_search_goes_on_as_if_it_had_not_been(tmp_path: Path) -> None:
    moments = random.Random(SEED)
    campaigns: list[dict[str, object]] = []
    kills = 0
    for name in cycle(SWEEPS):
        if kills >= KILLS:
            break
        folder = tmp_path / str(len(campaigns))
        folder.mkdir()
        plan = folder / "plan.toml"
        plan.write_text(PLAN + SWEEPS[name], encoding="utf-8")
        killed = kill_until_it_ends(plan, folder / "archive", moments)
        trials, attempts = follow(plan, folder / "archive")
        campaigns.append({"search": name, "kills": killed, "trials": trials, "attempts": attempts})
        kills += killed
    write_result("search-resumed", WHAT, {"kills": kills, "campaigns": campaigns})


def kill_until_it_ends(plan: Path, archive: Path, moments: random.Random) -> int:
    """Run a campaign, and go on after each kill, until it ends by itself; how often it was killed."""
    for kills in count():
        begun = (archive / "campaign.json").exists()
        if not begun:
            shutil.rmtree(archive, ignore_errors=True)
        running = start("run", plan, "--archive", archive, *(["--resume"] if begun else []))
        try:
            # What one process can do within the time it has grows: it comes to an end.
            output, _ = running.communicate(timeout=min(moments.uniform(*AFTER_S) + kills / 2, ENDS_IN_S))
        except TimeoutExpired:
            running.kill()
            running.communicate(timeout=ENDS_IN_S)
        else:
            assert running.returncode == 0, output
            return kills
    raise AssertionError


def follow(plan: Path, archive: Path) -> tuple[int, int]:
    """See that each trial is the one that follows from those before; how many there were, and attempts."""
    records = read_archive(archive).records
    attempts = sum(record.attempt for record in records.values())
    seed = read_archive(archive).campaign.seed
    seen = 0
    for slot in schedule(load_plan(plan), seed):
        learned: dict[str, Learned] = {}
        while (step := followed(slot, learned)[1]) is not None:
            (trial,) = step.trials
            record = records[trial.trial_id]
            assert record.learned is not None, record
            learned[trial.trial_id] = record.learned
        in_order = [name for name in by_start(records) if name in learned]
        assert in_order == list(learned)
        seen += len(learned)
    assert seen == len(records)
    return seen, attempts


def by_start(records: dict) -> list[str]:
    """Trials in the order in which they ran."""
    return sorted(records, key=lambda name: records[name].started_at)
