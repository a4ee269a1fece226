"""What commands say of trials at the same time."""

import io
from pathlib import Path

import pytest
from typer.testing import CliRunner

from analysis_support import make_outcome
from flowsweep.cli import load
from flowsweep.cli.app import app
from flowsweep.cli.progress import Bar, Lines, progress_view
from flowsweep.cli.terminal import Screen
from flowsweep.defaults import SECOND_NS
from flowsweep.errors import PlanError
from flowsweep.plan.against import joined
from flowsweep.run.events import (
    CampaignStarted,
    TrialFinished,
    TrialProbing,
    TrialRunning,
    TrialStarted,
    TrialWaits,
)
from flowsweep.schedule import Trial, schedule
from packed_support import lab_mesh, mesh_plan, names

FULL = '{ from = "all", to = "all", mesh = "full" }'


def checked(text: str, folder: Path) -> dict[str, str]:
    """What `check` says of a plan, by the beginning of the line."""
    plan = folder / "plan.toml"
    plan.write_text(text, encoding="utf-8")
    load(["check"])
    result = CliRunner().invoke(app, ["check", str(plan)], catch_exceptions=False)
    lines = (line.strip().partition("  ") for line in result.stdout.splitlines())
    return {key: value.strip() for key, _, value in lines}


def test_check_says_how_many_run_at_the_same_time_and_what_no_order_betters(tmp_path: Path) -> None:
    said = checked(lab_mesh(6, concurrent=2, duration="5s"), tmp_path)
    assert said["at the same time"] == (
        "up to 2 trials (the plan allows 2); this is the shortest possible schedule; one at a time: "
        "2 min 38 s"
    )
    assert said["expected time"] == "1 min 19 s"
    alone = checked(lab_mesh(6, concurrent=1, duration="5s"), tmp_path)
    assert "at the same time" not in alone
    assert alone["expected time"] == "2 min 38 s"


def test_both_directions_at_once_are_two_trials_and_count_as_one(tmp_path: Path) -> None:
    plan = mesh_plan(
        {"west": ["a", "b"], "east": ["c", "d"]},
        '{ from = "west", to = "east", mesh = "pairs" }',
        concurrent=2,
        keys='directions = "simultaneous"\nduration = "5s"',
    )
    assert checked(plan.text, tmp_path)["at the same time"].startswith(
        "up to 4 trials, which count as 2 (the plan allows 2), since two directions at once count as one; "
    )


def test_check_names_links_and_does_not_list_a_hundred_paths(tmp_path: Path) -> None:
    groups = {"all": names(20), "west": names(10), "east": names(20)[10:]}
    link = '[links.wan]\nbetween = ["west", "east"]\nconcurrent = 2\n'
    said = checked(mesh_plan(groups, FULL, more=link).text, tmp_path)
    assert said["named links"] == "wan (2 trials at a time)"
    assert said["paths"].count("→") == 12
    assert said["paths"].endswith(", … 380 paths in all")


def test_taking_turns_is_one_trial_at_a_time() -> None:
    plan = mesh_plan({"all": names(4)}, FULL)
    with pytest.raises(PlanError, match="concurrent: found, expected one trial at a time"):
        joined(plan, plan)


def trials(*ways: str) -> list[Trial]:
    slots = schedule(mesh_plan({"all": list("abcd")}, FULL), 1)
    known = {slot.trials[0].src + slot.trials[0].dst: slot.trials[0] for slot in slots}
    return [known[way] for way in ways]


def test_lines_say_which_of_several_trials_is_over() -> None:
    out = io.StringIO()
    show = Lines(Screen(file=out, width=200))
    first, second, third = trials("ab", "cd", "ac")
    record = {trial: make_outcome(trial).record for trial in (first, second, third)}
    show(CampaignStarted(3, 0, 12 * SECOND_NS))
    show(TrialStarted(1, first, 1, 12 * SECOND_NS))
    show(TrialStarted(2, second, 1, 12 * SECOND_NS))
    show(TrialRunning(second, SECOND_NS, 20e6))
    show(TrialRunning(first, SECOND_NS, 10e6))
    show(TrialFinished(record[second]))
    show(TrialFinished(record[first]))
    show(TrialStarted(3, third, 1, 6 * SECOND_NS))
    show(TrialFinished(record[third]))
    lines = out.getvalue().splitlines()
    assert lines[3:] == [
        "  trial 2: ok, 20.0 Mbit/s in the last second",
        "  trial 1: ok, 10.0 Mbit/s in the last second",
        "trial 3/3: a → c, 1 flow, 6 s left",
        "  ok",
    ]


def test_the_bar_says_what_runs_all_rates_together_and_what_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    out = io.StringIO()
    console = Screen(file=out, width=220, force_terminal=True)
    first, second, third = trials("ab", "cd", "ac")
    with progress_view(console) as show:
        show(CampaignStarted(3, 0, 12 * SECOND_NS))
        show(TrialStarted(1, first, 1, 12 * SECOND_NS))
        show(TrialWaits(third, ("host a", "host c")))
        show(TrialStarted(2, second, 1, 12 * SECOND_NS))
        show(TrialRunning(second, SECOND_NS, 20e6))
        show(TrialRunning(first, SECOND_NS, 10e6))
        assert isinstance(show, Bar)
        (task,) = show.progress.tasks
    waits = "next, a → c, waits for host a and host c"
    assert task.fields["what"] == f"c → d, 1 flow, and 1 beside it; {waits}"
    assert task.fields["rate"] == "30.0 Mbit/s"
    assert task.fields["left"].endswith("left")


def test_the_bar_forgets_what_waited_once_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    console = Screen(file=io.StringIO(), width=220, force_terminal=True)
    first, _, third = trials("ab", "cd", "ac")
    with progress_view(console) as show:
        show(CampaignStarted(2, 0, 12 * SECOND_NS))
        show(TrialStarted(1, first, 1, 12 * SECOND_NS))
        show(TrialWaits(third, ("host a",)))
        show(TrialFinished(make_outcome(first).record))
        show(TrialStarted(2, third, 1, 6 * SECOND_NS))
        assert isinstance(show, Bar)
        (task,) = show.progress.tasks
    assert task.fields["what"] == "a → c, 1 flow"
    assert task.fields["left"].endswith("left")


def test_the_time_left_goes_down_a_second_a_second_where_trials_run_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    console = Screen(file=io.StringIO(), width=220, force_terminal=True)
    first, second, _ = trials("ab", "cd", "ac")
    left = []
    with progress_view(console) as show:
        assert isinstance(show, Bar)
        show(CampaignStarted(2, 0, 120 * SECOND_NS))
        show(TrialStarted(1, first, 1, 120 * SECOND_NS))
        (task,) = show.progress.tasks
        show(TrialRunning(first, 60 * SECOND_NS, 10e6))
        show(TrialStarted(2, second, 1, 50 * SECOND_NS))
        for number in range(1, 5):
            show(TrialRunning(second, number * SECOND_NS, 20e6))
            left.append(task.fields["left"])
            show(TrialRunning(first, (60 + number) * SECOND_NS, 10e6))
            left.append(task.fields["left"])
        show(TrialFinished(make_outcome(second).record))
        show(TrialRunning(first, 65 * SECOND_NS, 10e6))
        left.append(task.fields["left"])
    assert left == [f"{seconds} s left" for seconds in (49, 49, 48, 48, 47, 47, 46, 46, 45)]


def test_the_bar_goes_on_while_a_trial_only_probes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of trials of rtt and path, which carry nothing to speak of, the source alone says how far they are."""
    monkeypatch.setenv("TERM", "xterm")
    first, *_ = trials("ab")
    with progress_view(Screen(file=io.StringIO(), width=220, force_terminal=True)) as show:
        assert isinstance(show, Bar)
        show(CampaignStarted(1, 0, 600 * SECOND_NS))
        show(TrialStarted(1, first, 1, 600 * SECOND_NS))
        (task,) = show.progress.tasks
        assert task.fields["left"] == "10 min left"
        show(TrialProbing(first, 90 * SECOND_NS, 64))
    assert (task.fields["left"], task.fields["rate"]) == ("8 min 30 s left", "")


@pytest.mark.parametrize("width", [120, 80, 60, 50])
def test_figures_of_progress_are_whole_however_narrow_a_terminal_is(
    monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    out = io.StringIO()
    with progress_view(Screen(file=out, width=width, force_terminal=True)) as show:
        assert isinstance(show, Bar)
        show(CampaignStarted(trials=1200, done=37, left_ns=3720 * SECOND_NS))
        (task,) = show.progress.task_ids
        what = "amsterdam → starlight, 4 flows, 256 KiB window sum"
        show.progress.update(task, what=what, rate="123 Mbit/s", left="1 h 2 min left")
        show.progress.refresh()
    shown = out.getvalue()
    assert all(figure in shown for figure in ("37/1200", "123 Mbit/s", "1 h 2 min left"))
    assert "amst" in shown
