"""The page shows trials whose samples were retired: their values, and a page that says when samples went."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from flowsweep.archive.follow_parts import part_of
from flowsweep.monitors.reading import Poll
from flowsweep.plan import parse_plan
from flowsweep.serve.overview import Overview
from flowsweep.serve.summarise import excerpt
from flowsweep.serve.trials import report_of, trials_between
from flowsweep.serve.watch import Watched
from mesh_support import EVERY, begin_mesh, mesh_plan, outcome_of, times_of
from retired_archives import TIMES, mesh_in_parts, retire

BEGUN = datetime.now(UTC) - EVERY * TIMES


def watched(folder: Path, cache: Path | None = None) -> Watched:
    one = Watched(0, folder, cache)
    one.read_on(lambda *_: None)
    while one.sum_up(lambda *_: None):
        pass
    assert one.not_summed is None
    return one


def shown(one: Watched) -> dict:
    """What a page says of it, but for what changes with the time of day."""
    found = Overview(one.model).campaign() | {"runs": None}
    return found | {"paths": [path | {"overdue": None} for path in found["paths"]]}


@pytest.mark.long
def test_pages_of_retired_trials_are_made_of_what_is_left(tmp_path: Path) -> None:
    folder = mesh_in_parts(tmp_path / "a", BEGUN)
    following = watched(folder, tmp_path / "cache")
    before = shown(following)
    retire(folder, [1, 2])
    # Whoever has read these parts before does not follow them any more.
    trials = trials_between(following, 0, 2e10)
    assert {part_of(one.offset) for one in trials} == {1, 2, 3}
    page = report_of(following, trials)
    assert all(f"trial-{one.trial:012x}" in page for one in trials)
    gone = sum(part_of(one.offset) < 3 for one in trials)
    assert re.search(rf"Samples of {gone} trials were retired, the last on 2027-03-01", page)
    assert set(following.model.retired) == {1, 2}
    following.keep(at_once=True)
    again = watched(folder, tmp_path / "cache")
    assert set(again.model.retired) == {1, 2}
    anew = watched(folder)
    assert shown(anew) == before
    assert set(anew.model.retired) == {1, 2}
    alone = [one for one in trials if part_of(one.offset) == 1]
    assert report_of(anew, alone[:1]).count("were retired") == 1


MONITORED = """
[monitors.core]
host = "geneva"
every = "10s"
[hosts.geneva]"""


def test_the_report_of_some_trials_has_what_monitors_told_meanwhile(tmp_path: Path) -> None:
    text = mesh_plan().text.replace("[hosts.geneva]", MONITORED)
    plan = parse_plan(text, "mesh.toml")
    with begin_mesh(tmp_path / "a", plan, BEGUN) as writer:
        for occasion, trials in times_of(plan, BEGUN, 2):
            for trial in trials[:2]:
                at = datetime.fromtimestamp(occasion.due_unix_ns / 1e9, UTC)
                writer.started(trial.trial_id, 1, at)
                writer.finished(outcome_of(trial, at, 1e7))
        began_us = round(BEGUN.timestamp() * 1e6)
        for second in range(0, 1200, 10):
            values = (("", "cpu_total", 100 * second), ("", "cpu_busy", 60 * second))
            writer.monitor_files.keep([Poll("core", began_us + second * 10**6, 100, values)])
    one = watched(tmp_path / "a")
    first = sorted(trials_between(one, 0, 2e10), key=lambda trial: trial.offset)[:1]
    with excerpt(one.folder, one.follower, one.model, first, tmp_path / "excerpt") as archive:
        told = archive.monitors()
    seconds = {(at_us - began_us) // 10**6 for at_us in told["at_us"].to_pylist()}
    assert min(seconds) == 0
    assert 30 <= max(seconds) <= 60
    assert "core" in report_of(one, first)
