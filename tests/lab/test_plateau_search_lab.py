"""The smallest window that is enough is found over a real path, and gone on with after a kill."""

from pathlib import Path
from typing import Any

import pytest

from campaign_support import begun_attempts, flowsweep_here, runs_lab, start, write_plan
from flowsweep.analysis.findings.plateau.searched import plateau_search_hypotheses, plateau_searches
from flowsweep.archive import read_archive
from flowsweep.defaults import SECOND_NS
from flowsweep.schedule.search.steps import EndedEarly
from summary_support import archive_rows
from waiting import wait_until
from witness import judged

pytestmark = runs_lab

# 50 Mbit/s × 40 ms are 250 kB in flight, for which 188 kB have to be asked for (docs/explanation/windows.md).
LINK = 'rate = "50Mbit/s"\ndelay = "20ms"\nqueue = "300KB"'
SWEEP = """
find = "plateau"
window = { from = "24KiB", to = "1MiB" }
precision = "14%"
at_most = { trials = 40 }
duration = "2s"
omit = "800ms"
interval = "400ms"
"""
ENOUGH_BYTES = (150_000, 215_000)
"""The upper end is 14 % above: the search is asked for no less."""
# Of 80 KiB asked for some 100 kB are usable: 2.5 flows fill the path.
OF_FLOWS = """
find = "plateau"
flows = { from = 1, to = 8 }
window = "80KiB"
at_most = { trials = 30 }
duration = "2s"
omit = "800ms"
interval = "400ms"
"""

UNTIL = """
find = "plateau"
window = { from = "24KiB", to = "1MiB" }
precision = "14%"
at_most = { trials = 40 }
duration = { until = "2%", at_least = "800ms", at_most = "8s" }
interval = "100ms"
"""

# With the largest of these windows three flows fill the path, as above; together they need what one does.
OF_BOTH = """
find = "plateau"
flows = { from = 1, to = 8 }
window = { from = "5KiB", to = "80KiB" }
precision = "20%"
at_most = { trials = 40 }
duration = "2s"
omit = "800ms"
interval = "400ms"
"""


def test_a_search_finds_the_window_goes_on_after_a_kill_and_is_over_then(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    plan = write_plan(tmp_path, link=LINK, sweep=SWEEP, repeats=3)
    first = start("run", plan, "--archive", archive)
    wait_until(lambda: begun_attempts(archive) == 7)
    first.kill()
    first.communicate(timeout=180)
    before = archive_rows(read_archive(archive))
    assert len(before) == 6

    flowsweep_here("run", plan, "--archive", archive, "--resume")
    rows = archive_rows(read_archive(archive))
    assert rows[:6] == before
    assert {row["status"] for row in rows} == {"ok"}
    (search,) = plateau_searches(rows)
    assert len(search.steps) < 40
    assert search.end == "precise"
    assert search.belief is not None
    assert ENOUGH_BYTES[0] <= search.belief.enough <= ENOUGH_BYTES[1]
    assert search.belief.plateau_bps == pytest.approx(50e6 * 1448 / 1500, rel=0.03)

    flowsweep_here("run", plan, "--archive", archive, "--resume")
    assert archive_rows(read_archive(archive)) == rows


@pytest.mark.long
def test_a_search_of_trials_that_end_when_they_know_finds_the_same_in_less_time(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    flowsweep_here("run", write_plan(tmp_path, link=LINK, sweep=UNTIL, repeats=1), "--archive", archive)
    rows = archive_rows(read_archive(archive))
    assert {row["status"] for row in rows} == {"ok"}
    assert sum(row["lasted_s"] for row in rows) < 0.6 * sum(row["duration_s"] for row in rows)
    told = {record.trial_id: record.learned for record in read_archive(archive).state.records.values()}
    for row in rows:
        gave = told[row["trial_id"]]
        assert isinstance(gave, EndedEarly)
        assert gave.goodput_bps == pytest.approx(row["goodput_mean_bps"], rel=0.01)
        assert gave.lasted_ns / SECOND_NS == pytest.approx(row["lasted_s"])
    (search,) = plateau_searches(rows)
    assert search.end == "precise"
    assert search.belief is not None
    assert ENOUGH_BYTES[0] <= search.belief.enough <= ENOUGH_BYTES[1]

    flowsweep_here("run", tmp_path / "plan.toml", "--archive", archive, "--resume")
    assert archive_rows(read_archive(archive)) == rows


@pytest.mark.long
def test_a_search_finds_how_many_flows_of_a_small_window_are_enough(tmp_path: Path) -> None:
    plan = write_plan(tmp_path, link=LINK, sweep=OF_FLOWS, repeats=1)

    def measure(attempt: int) -> list[dict[str, Any]]:
        archive = tmp_path / f"archive-{attempt}"
        flowsweep_here("run", plan, "--archive", archive)
        return archive_rows(read_archive(archive))

    def check(rows: list[dict[str, Any]]) -> None:
        (search,) = plateau_searches(rows)
        assert search.end == "precise"
        assert search.belief is not None
        assert search.belief.in_whole == (3, 3, 3)
        (finding,) = (one for one in plateau_search_hypotheses(rows))
        assert ": from 3 flows on goodput is within 3 % of 48." in finding.say("described")

    judged(measure, check, bears_s=0.02)


@pytest.mark.long
def test_a_search_finds_the_fewest_flows_and_then_the_window_that_they_need(tmp_path: Path) -> None:
    def measure(attempt: int) -> list[dict[str, Any]]:
        folder = tmp_path / str(attempt)
        folder.mkdir()
        plan = write_plan(folder, link=LINK, sweep=OF_BOTH, repeats=1)
        flowsweep_here("run", plan, "--archive", folder / "archive")
        return archive_rows(read_archive(folder / "archive"))

    # Where the machine is away often enough no window is known to 20 % before the budget ends.
    judged(measure, _three_flows_and_their_window, bears_s=0.02)


def _three_flows_and_their_window(rows: list[dict[str, Any]]) -> None:
    of_flows, of_window = plateau_searches(rows)
    assert (of_flows.axis, of_window.axis) == ("flows", "window_sum_bytes")
    assert (of_flows.end, of_window.end) == ("precise", "precise")
    assert of_flows.belief is not None
    fewest, least, most = of_flows.belief.in_whole
    assert (fewest, least) == (3, 3)
    assert most in (3, 4), "to 20 % four may be the fewest, too"
    assert {row["flows"] for row in of_window.steps} == {3}
    assert of_window.belief is not None
    assert ENOUGH_BYTES[0] <= of_window.belief.enough <= ENOUGH_BYTES[1]
    assert len(of_flows.steps) + len(of_window.steps) == len(rows) < 40
    flows, window = (one.say("described") for one in plateau_search_hypotheses(rows))
    assert ": from 3 flows" in flows
    assert "on goodput is within 3 % of 48." in flows
    assert "left → right, 3 flows: " in window
