"""`--against` of run and check, and compare of the archive: without traffic, outcomes are made up."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

import flowsweep
from analysis_support import Steady, make_failed, make_outcome
from flowsweep.archive import create_archive, read_archive
from flowsweep.cli.exit_codes import EXIT_TRIALS_FAILED
from flowsweep.errors import ArchiveError, PlanError
from flowsweep.plan import load_plan
from flowsweep.run.outcome import Recorder, TrialOutcome
from flowsweep.run.resume_state import ResumeState
from flowsweep.schedule import Slot, Trial
from invoked import invoke

pytestmark = pytest.mark.whole

PLAN = """
[campaign]
repeats = 3
seed = 1

[hosts.a]
[hosts.b]

[[sweep]]
name = "bulk"
paths = [{ from = "a", to = "b" }]
window = ["64KiB", "128KiB"]
duration = "5s"
congestion = "CONGESTION"
"""
TRIALS = 12
BYTES_PER_SECOND = {"cubic": 10_000_000, "reno": 9_000_000}


@pytest.fixture
def plans(tmp_path: Path) -> dict[str, Path]:
    found = {name: tmp_path / f"{name}.toml" for name in BYTES_PER_SECOND}
    for name, path in found.items():
        path.write_text(PLAN.replace("CONGESTION", name), encoding="utf-8")
    return found


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return tmp_path / "archive"


def carried(trial: Trial, *, attempt: int) -> TrialOutcome:
    """What a trial carries: its congestion control tells, and a little its repeat."""
    assert trial.parameters.congestion is not None
    rate = BYTES_PER_SECOND[trial.parameters.congestion] + 10_000 * trial.repeat
    return make_outcome(trial, Steady(bytes_per_second=rate), attempt=attempt)


def campaigns(patch: pytest.MonkeyPatch, outcome: Any = carried, killed_after: int = TRIALS) -> list[str]:
    """Lets campaigns end at once, or be killed after some trials; the ids of those that ran, in order."""
    ran: list[str] = []

    async def run_campaign(
        slots: Sequence[Slot], _: object, recorder: Recorder, *, resume: ResumeState, **__: object
    ) -> None:
        left = [slot for slot in slots if resume.next_step(slot)[1] is not None]
        for slot in left[:killed_after]:
            (trial,) = slot.trials
            attempt = resume.attempts.get(trial.trial_id, 0) + 1
            made = outcome(trial, attempt=attempt)
            recorder.started(trial.trial_id, attempt, made.record.started_at)
            recorder.finished(made)
            ran.append(trial.trial_id)
        if len(left) > killed_after:
            raise ArchiveError("killed")

    patch.setattr("flowsweep.cli.campaign.run_campaign", run_campaign)
    return ran


def run(plans: dict[str, Path], archive: Path, *more: str, against: str = "reno") -> Result:
    return invoke("run", plans["cubic"], "--against", plans[against], "--archive", archive, *more)


def test_check_says_what_runs_and_what_is_matched(plans: dict[str, Path]) -> None:
    told = invoke("check", plans["cubic"], "--against", plans["reno"])
    assert told.exit_code == 0, told.output
    for expected in (
        "12 (4 points × 3 repeats)",
        "2 points, each time A and B one after the other, whichever first is drawn",
        'sweep.bulk.congestion  "cubic" in A, "reno" in B',
        "sweep bulk-A",
        "sweep bulk-B",
    ):
        assert expected in told.stdout
    alike = invoke("check", plans["cubic"], "--against", plans["cubic"])
    assert "nothing: A and B are the same setting" in alike.stdout


def test_plans_that_do_not_match_are_refused_before_traffic(plans: dict[str, Path], archive: Path) -> None:
    text = plans["reno"].read_text(encoding="utf-8")
    plans["reno"].write_text(text.replace('"bulk"', '"other"'), encoding="utf-8")
    for told in (run(plans, archive), invoke("check", plans["cubic"], "--against", plans["reno"])):
        assert isinstance(told.exception, PlanError)
        assert "sweep.bulk: is in A alone, expected a sweep of that name in both" in str(told.exception)
    assert not archive.exists()


def test_a_run_ends_with_the_comparison(
    plans: dict[str, Path], archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = campaigns(monkeypatch)
    told = run(plans, archive)
    assert told.exit_code == 0, told.output
    sweeps = [read_archive(archive).records[trial_id].trial.sweep for trial_id in ran]
    assert all({a, b} == {"bulk-A", "bulk-B"} for a, b in zip(sweeps[::2], sweeps[1::2], strict=True))
    assert "12 trials: 12 ok" in told.stdout
    assert "B is slower, −10.0 %" in told.stdout
    assert "2 points, 3 repeats in A, 3 in B" in told.stdout
    assert 'sweep.bulk.congestion: "cubic" in A, "reno" in B' in told.stdout
    assert "did not overlap" not in told.stdout


def test_one_archive_of_two_settings_is_compared(
    plans: dict[str, Path], archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaigns(monkeypatch)
    run(plans, archive)
    for fail_if, code in (("slower", 1), ("faster", 0), ("different", 1)):
        assert invoke("compare", archive, "--fail-if", fail_if).exit_code == code
    said = json.loads(invoke("compare", archive, "--format", "json").stdout)
    assert said["overall"]["outcome"] == "slower"
    assert said["plans_differ"] == [{"what": "sweep.bulk.congestion", "a": '"cubic"', "b": '"reno"'}]
    assert [point["point"]["window_bytes"] for point in said["points"]] in ([65536, 131072], [131072, 65536])


def test_settings_stay_apart_in_the_summary_and_in_findings(
    plans: dict[str, Path], archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaigns(monkeypatch)
    run(plans, archive)
    rows = invoke("summary", archive, "--format", "csv").stdout.splitlines()
    assert sum("bulk-A" in row and "cubic" in row for row in rows) == TRIALS / 2
    assert sum("bulk-B" in row and "reno" in row for row in rows) == TRIALS / 2
    findings = json.loads(invoke("findings", archive, "--format", "json").stdout)
    assert {finding["sweep"] for finding in findings} <= {"bulk-A", "bulk-B"}


def test_findings_and_report_open_with_how_the_settings_compare(
    plans: dict[str, Path], archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaigns(monkeypatch)
    run(plans, archive)
    told = " ".join(invoke("findings", archive).stdout.split())
    assert "A against B B is slower, −10.0 % [−10.0, −10.0], pair by pair, over 2 points, 3" in told
    assert 'They differ in sweep.bulk.congestion ("cubic" in A, "reno" in B).' in told
    page = tmp_path / "report.html"
    assert invoke("report", archive, "-o", page).exit_code == 0
    assert "B is slower, −10.0" in page.read_text(encoding="utf-8")


@pytest.mark.long
def test_python_compares_the_settings(
    plans: dict[str, Path], archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaigns(monkeypatch)
    run(plans, archive)
    compared = flowsweep.open(archive).settings_compared()
    assert compared is not None
    assert compared.comparison.overall is not None
    assert compared.comparison.overall.outcome == "slower"
    assert compared.changes == (("sweep.bulk.congestion", '"cubic"', '"reno"'),)


def test_the_same_setting_twice_is_said(
    plans: dict[str, Path], archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaigns(monkeypatch)
    told = run(plans, archive, against="cubic")
    assert "B is the same within 3 %" in told.stdout
    assert "A and B are the same setting." in told.stdout


def test_a_killed_campaign_goes_on_where_it_was(
    plans: dict[str, Path], archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = campaigns(monkeypatch, killed_after=5)
    told = run(plans, archive)
    assert told.exit_code == EXIT_TRIALS_FAILED
    cubic, reno = plans["cubic"], plans["reno"]
    assert f"to go on: flowsweep run {cubic} --against {reno} --archive {archive} --resume" in told.stderr
    partly = invoke("compare", archive)
    assert partly.exit_code == 0, partly.output
    rest = campaigns(monkeypatch)
    told = run(plans, archive, "--resume")
    assert told.exit_code == 0, told.output
    # The trial whose partner was killed runs again beside it: what drifted meanwhile would be between them.
    assert set(rest) & set(begun) == {begun[4]}
    assert begun[4] in rest[:2]
    assert len(rest) == TRIALS - 4
    assert "12 trials: 12 ok" in told.stdout
    assert "B is slower, −10.0 %" in told.stdout
    records = read_archive(archive).records
    assert len(records) == TRIALS
    assert records[begun[4]].attempt == 2
    assert campaigns(monkeypatch) == []
    assert run(plans, archive, "--resume").exit_code == 0


def test_another_plan_is_not_gone_on_with(
    plans: dict[str, Path], archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaigns(monkeypatch, killed_after=5)
    run(plans, archive)
    told = run(plans, archive, "--resume", against="cubic")
    assert isinstance(told.exception, ArchiveError)
    assert 'sweep.bulk-B.congestion: "reno" then, "cubic" now' in str(told.exception)
    alone = invoke("run", plans["cubic"], "--archive", archive, "--resume")
    assert str(alone.exception) == f"{archive} was begun with --against: give the same two plans"


def test_settings_that_all_failed_are_no_comparison(
    plans: dict[str, Path], archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaigns(monkeypatch, make_failed)
    told = run(plans, archive)
    assert told.exit_code == EXIT_TRIALS_FAILED
    why = "6 of 6 trials of A not ok, 6 of 6 trials of B not ok), so there is nothing to compare"
    assert why in told.stdout
    assert why in str(invoke("compare", archive).exception)


def test_an_archive_of_one_setting_needs_another(plans: dict[str, Path], archive: Path) -> None:
    create_archive(archive, plan_json=load_plan(plans["cubic"]).model_dump_json(), seed=1).close()
    told = invoke("compare", archive)
    assert isinstance(told.exception, PlanError)
    assert "is no campaign of two settings" in str(told.exception)
    assert "name another archive to compare it with, or" in str(told.exception)
