"""What commands say of campaigns with times: whether they fit, what comes next, what was missed."""

import io
import json
import re
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

import pytest

from analysis_support import make_outcome
from flowsweep.archive import create_archive, open_archive_for_writing, read_archive
from flowsweep.archive.writer import ArchiveWriter
from flowsweep.cli.progress import Lines
from flowsweep.cli.terminal import Screen
from flowsweep.defaults import SECOND_NS
from flowsweep.errors import FlowsweepError, PlanError
from flowsweep.plan import Plan
from flowsweep.plan.file import parse_plan
from flowsweep.run.events import CampaignStarted, SweepMissed, TrialStarted, Waiting
from flowsweep.run.outcome import Missed, TrialOutcome
from flowsweep.schedule import occasions, planned_trials, schedule
from invoked import invoke

SWEEP = """
[[sweep]]
name = "{name}"
paths = [{{ from = "left", to = "right" }}]
duration = "{duration}"
interval = "1s"
{times}
"""
LAB = '[lab.links.wire]\nbetween = ["left", "right"]\nrate = "100Mbit/s"\n'
SLOW = SWEEP.format(name="slow", duration="60s", times='every = "30min"')
QUICK = SWEEP.format(name="quick", duration="5s", times='every = "5min"\nslip = "10s"')
HOURLY = SWEEP.format(name="hourly", duration="5s", times='every = "1h"')


def text_of(*sweeps: str, campaign: str = 'for = "24h"') -> str:
    return f'[campaign]\nname = "times"\nseed = 1\n{campaign}\n{LAB}{"".join(sweeps)}'


def plan_of(*sweeps: str, campaign: str = 'for = "24h"') -> Plan:
    return parse_plan(text_of(*sweeps, campaign=campaign), "times.toml")


def invoked(*words: str | Path, code: int = 0) -> str:
    result = invoke(*words)
    if isinstance(result.exception, FlowsweepError):
        assert code == 2, result.exception
        return f"{result.output}{result.exception}"
    assert result.exit_code == code, result.output
    return result.output


def archive_of(folder: Path, plan: Plan, begun: datetime) -> ArchiveWriter:
    return create_archive(folder, plan_json=plan.model_dump_json(), seed=1, created_at=begun)


def run_at(plan: Plan, repeat: int, at: datetime) -> TrialOutcome:
    [slot] = schedule(plan, 1)
    [trial] = slot.trials
    outcome = make_outcome(trial.model_copy(update={"repeat": repeat}))
    record = outcome.record.model_copy(update={"started_at": at})
    return TrialOutcome(record, outcome.samples, outcome.flows)


def test_check_shows_what_is_due_and_the_load(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(text_of(HOURLY, campaign='for = "24h"\njitter = "10s"'), encoding="utf-8")
    said = invoked("check", plan)
    assert re.search(
        r"hourly +every 1 h, up to 10 s later, at most 29 min 55 s late; if begun now: (2\S+Z, ){5}…", said
    )
    assert re.search(r"left +busy for 0\.\d+ % of the time, sends about [\d.]+ GB a day", said)
    assert re.search(r"link wire +left → right: about 0\.\d+ % of what it carries", said)


def test_a_part_of_the_day_of_the_campaign_is_of_every_sweep_that_has_none(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    night, noon = 'between = ["22:00", "06:00"]', 'between = ["12:00", "13:00"]'
    own = SWEEP.format(name="own", duration="5s", times=f'every = "10min"\n{noon}')
    daily = SWEEP.format(name="daily", duration="5s", times='at = "14:30"')
    usual = SWEEP.format(name="usual", duration="5s", times="")
    campaign = f'every = "20min"\n{night}\nfor = "24h"'
    plan.write_text(text_of(HOURLY, own, daily, usual, campaign=campaign), encoding="utf-8")
    said = invoked("check", plan)
    for rule in (
        r"hourly +every 1 h from 22:00 to 06:00 \(UTC\)",
        r"own +every 10 min from 12:00 to 13:00 \(UTC\)",
        r"daily +each day at 14:30 \(UTC\)",
        r"usual +every 20 min from 22:00 to 06:00 \(UTC\)",
    ):
        assert re.search(rule, said), rule
    plan.write_text(text_of(daily, campaign=f'{night}\nfor = "24h"'), encoding="utf-8")
    said = invoked("check", plan, code=2)
    assert (
        "campaign.between: has no effect on `at`, only on `every`, which no sweep has; leave it out" in said
    )


def test_check_refuses_what_cannot_fit_and_says_what_would(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(text_of(SLOW, QUICK), encoding="utf-8")
    said = invoked("check", plan, code=2)
    missed = "it would be missed 48 of the 288 times that it is due within 24 h"
    assert f"sweep quick: by what trials are expected to take {missed}" in said
    assert "as when sweep slow still runs, which takes 1 min" in said
    found = re.search(r'slip = "(\d+s)" in sweep quick would fit', said)
    assert found
    plan.write_text(text_of(SLOW, QUICK.replace("10s", found[1])), encoding="utf-8")
    invoked("check", plan)


def test_run_refuses_what_check_refuses_before_any_traffic(tmp_path: Path) -> None:
    plan, archive = tmp_path / "plan.toml", tmp_path / "archive"
    plan.write_text(text_of(SLOW, QUICK), encoding="utf-8")
    expected = error_of("check", plan)
    assert "it would be missed 48 of the 288 times" in expected
    assert error_of("run", plan, "--archive", archive) == expected
    assert not archive.exists()


def error_of(*words: str | Path) -> str:
    """The message with which a command refuses to begin."""
    result = invoke(*words)
    assert isinstance(result.exception, PlanError)
    return str(result.exception)


def test_a_plan_that_is_too_much_at_all_is_refused(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    sweeps = (SWEEP.format(name=name, duration="60s", times='every = "70s"') for name in ("one", "other"))
    plan.write_text(text_of(*sweeps), encoding="utf-8")
    assert "all sweeps together take 2 min 1 s: run them less often" in invoked("check", plan, code=2)


def test_a_number_of_trials_is_not_known_where_sweeps_have_times() -> None:
    assert planned_trials(plan_of(HOURLY).model_dump(mode="json")) is None


def test_two_settings_have_the_same_times(tmp_path: Path) -> None:
    plans = {
        name: text_of(SWEEP.format(name="bulk", duration="5s", times=times))
        for name, times in (
            ("a", 'every = "1h"'),
            ("b", 'every = "1h"\nflows = 2'),
            ("others", 'every = "2h"'),
            ("hurried", 'every = "1h"\nslip = "1s"'),
        )
    }
    files = {name: tmp_path / f"{name}.toml" for name in plans}
    for name, text in plans.items():
        files[name].write_text(text, encoding="utf-8")
    said = invoked("check", files["a"], "--against", files["b"])
    due = dict(re.findall(r"bulk-([AB]) +every 1 h, at most 30 min late; if begun now: (\S+),", said))
    assert due["A"] == due["B"]
    said = invoked("check", files["a"], "--against", files["others"], code=2)
    assert "sweep.bulk.every: 1h in A, 2h in B, expected the same in both" in said
    said = " ".join(invoked("check", files["hurried"], "--against", files["hurried"], code=2).split())
    assert "as when sweep bulk-A still runs" in said
    assert 'slip = "6s" in sweep bulk would fit' in said


def test_what_would_fit_two_settings_is_one_slip_for_both(tmp_path: Path) -> None:
    """As the files have it: in A and B, which must have the same times."""
    quick = SWEEP.format(name="quick", duration="5s", times='every = "10min"\nslip = "4s"')
    a, b = tmp_path / "a.toml", tmp_path / "b.toml"
    for file, flows in ((a, 1), (b, 2)):
        file.write_text(text_of(SLOW, quick + f"flows = {flows}\n"), encoding="utf-8")
    said = " ".join(invoked("check", a, "--against", b, code=2).split())
    assert "quick-A: by what" in said
    assert "quick-B: by what" in said
    [slip] = set(re.findall(r"; (slip = [^;]*?) would fit", said))
    found = re.fullmatch(r'slip = "(\d+s)" in sweep quick', slip)
    assert found
    for file in (a, b):
        file.write_text(file.read_text("utf-8").replace('"4s"', f'"{found[1]}"'), encoding="utf-8")
    invoked("check", a, "--against", b)


def missed(plan: Plan, first: int, last: int, begun: datetime) -> Missed:
    due = [begun + timedelta(hours=number - 1) for number in (first, last)]
    return Missed(
        sweep=plan.sweeps[0].name, first=first, last=last, first_due=due[0], last_due=due[1], reason="asleep"
    )


def test_what_was_missed_is_kept_read_and_no_trial(tmp_path: Path) -> None:
    plan, begun = plan_of(HOURLY), datetime(2026, 11, 26, 10, tzinfo=UTC)
    told = missed(plan, 2, 4, begun)
    with archive_of(tmp_path / "a", plan, begun) as writer:
        writer.finished(run_at(plan, 1, begun))
        writer.missed(told)
        writer.compact()
    with open_archive_for_writing(tmp_path / "a") as writer:
        assert list(writer.all_missed) == [told]
    read = read_archive(tmp_path / "a")
    assert (read.state.missed, told.count) == ([told], 3)
    assert len(json.loads(invoked("summary", tmp_path / "a", "--format", "json"))) == 1


def test_status_says_what_is_silent_since_when_and_what_was_missed(tmp_path: Path) -> None:
    plan = plan_of(HOURLY)
    begun = datetime.now(UTC) - timedelta(hours=5.9)
    with archive_of(tmp_path / "a", plan, begun) as writer:
        writer.finished(run_at(plan, 1, begun))
        writer.missed(missed(plan, 2, 4, begun))
        assert ": runs (2" in invoked("status", tmp_path / "a")
    said = invoked("status", tmp_path / "a")
    assert ": not running (2" in said
    assert "trials: 1 ok" in said
    assert re.search(r"next: hourly at 2\S+Z, if it is gone on with until then", said)
    assert f": flowsweep run PLAN --archive {tmp_path / 'a'} --resume\n" in said
    assert re.search(r"hourly, left → right: measured 5 h 5\d min ago, 2\S+Z; SILENT", said)
    assert "missed: 3 times\n  missed: hourly, due 2" in said
    assert ", 3 times: asleep" in said
    found = json.loads(invoked("status", tmp_path / "a", "--format", "json"))
    assert (found["missed"], found["missed_times"][0]["last"]) == (3, 4)
    assert found["paths"][0]["silent"] is True


def test_status_says_which_of_the_missed_times_are_missed_in_part(tmp_path: Path) -> None:
    plan = plan_of(HOURLY)
    begun = datetime.now(UTC) - timedelta(hours=5.9)
    with archive_of(tmp_path / "a", plan, begun) as writer:
        writer.missed(missed(plan, 2, 4, begun))
        writer.missed(missed(plan, 5, 5, begun).model_copy(update={"trials_run": 2015}))
    said = invoked("status", tmp_path / "a")
    assert "missed: 4 times, 1 of them in part\n" in said
    assert "UTC, after 2015 trials: asleep" in said


def test_status_of_a_path_that_was_just_measured_is_not_silent(tmp_path: Path) -> None:
    plan, now = plan_of(HOURLY), datetime.now(UTC)
    with archive_of(tmp_path / "a", plan, now - timedelta(hours=2.01)) as writer:
        writer.finished(run_at(plan, 3, now - timedelta(minutes=0.5)))
    assert "SILENT" not in invoked("status", tmp_path / "a")


@pytest.mark.parametrize(("hours_ago", "is_silent"), [(0.5, False), (5, True)])
def test_status_counts_no_measurement_of_the_future(
    tmp_path: Path, hours_ago: float, *, is_silent: bool
) -> None:
    """The clock was six hours ahead for a while."""
    plan, now = plan_of(HOURLY), datetime.now(UTC)
    with archive_of(tmp_path / "a", plan, now - timedelta(hours=10)) as writer:
        writer.finished(run_at(plan, 1, now - timedelta(hours=9)))
        writer.finished(run_at(plan, 2, now - timedelta(hours=hours_ago)))
        writer.begin_part()
        writer.finished(run_at(plan, 12, now + timedelta(hours=6)))
    [path] = json.loads(invoked("status", tmp_path / "a", "--format", "json"))["paths"]
    assert abs(path["last_ok_age_s"] - hours_ago * 3600) < 60
    assert path["silent"] == is_silent
    with archive_of(tmp_path / "b", plan, now - timedelta(hours=10)) as writer:
        writer.finished(run_at(plan, 12, now + timedelta(hours=6)))
    assert "never measured; SILENT" in invoked("status", tmp_path / "b")


def test_another_plan_is_told_by_its_keys(tmp_path: Path) -> None:
    archive_of(tmp_path / "a", plan_of(HOURLY), datetime(2020, 1, 1, tzinfo=UTC)).close()
    plan = tmp_path / "plan.toml"
    plan.write_text(text_of(HOURLY.replace('"1h"', '"2h"'), campaign='for = "48h"'), encoding="utf-8")
    said = invoked("run", plan, "--archive", tmp_path / "a", "--resume", code=2)
    assert "sweep.hourly.every: 1h then, 2h now" in said
    assert "campaign.for: 24h then, 48h now" in said


def test_a_sweep_that_is_never_due_is_refused(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    minute = (datetime.now(UTC) + timedelta(hours=2)).strftime("%H:%M")
    other = (datetime.now(UTC) + timedelta(hours=3)).strftime("%H:%M")
    never = HOURLY.replace('every = "1h"', f'every = "24h"\nbetween = ["{minute}", "{other}"]')
    plan.write_text(text_of(never, campaign=""), encoding="utf-8")
    assert "sweep hourly: is never due if the campaign begins now" in invoked("check", plan, code=2)


def test_one_trial_now_has_no_times() -> None:
    said = invoked("tcp", "local", "--set", "sweep.every=5min", code=2)
    assert "`every` and `at` have no effect here" in said


def test_progress_tells_each_run_once_that_it_waits_for_and_what_is_missed() -> None:
    plan, begun = plan_of(HOURLY), datetime(2026, 11, 26, 10, tzinfo=UTC)
    out = io.StringIO()
    show = Lines(Screen(file=out, width=200))
    show(CampaignStarted(None, 0, None))
    first, second = islice(occasions(plan, round(begun.timestamp()) * SECOND_NS, 1), 2)
    for occasion, left_s in ((first, 3600), (first, 3599), (second, 60)):
        show(Waiting(occasion, left_s * SECOND_NS))
    [slot] = schedule(plan, 1)
    show(TrialStarted(1, slot.trials[0], 1, 5 * SECOND_NS))
    show(SweepMissed(missed(plan, 2, 4, begun)))
    assert out.getvalue().splitlines() == [
        "next: hourly at 2026-11-26T10:00:00Z, in 1 h",
        "next: hourly at 2026-11-26T11:00:00Z, in 1 min",
        "trial 1: left → right, 1 flow, 5 s left",
        "  missed: hourly, due 2026-11-26 11:00:00 to 2026-11-26 13:00:00 UTC, 3 times: asleep",
    ]


def test_status_of_a_folder_says_what_all_of_its_campaigns_do(tmp_path: Path) -> None:
    for name in ("one", "two"):
        plan = parse_plan(
            text_of(HOURLY, campaign='for = "24h"').replace('"times"', f'"{name}"'), "times.toml"
        )
        create_archive(tmp_path / name, plan_json=plan.model_dump_json(), seed=1).close()
    (tmp_path / "else").mkdir()
    said = invoked("status", tmp_path)
    assert [line.partition(":")[0] for line in said.splitlines() if "not running" in line] == ["one", "two"]
    told = json.loads(invoked("status", tmp_path, "--format", "json"))
    assert [one["name"] for one in told] == ["one", "two"]
    assert json.loads(invoked("status", tmp_path / "one", "--format", "json"))["name"] == "one"
    assert "not an archive" in invoked("status", tmp_path / "else", code=2)


def test_status_of_a_folder_tells_an_import_apart_and_does_not_fail_for_it(tmp_path: Path) -> None:
    create_archive(tmp_path / "own", plan_json=plan_of(HOURLY).model_dump_json(), seed=1).close()
    imported = {"campaign": {"name": "theirs"}, "sweeps": []}
    create_archive(tmp_path / "theirs", plan_json=json.dumps(imported), seed=0).close()
    result = invoke("status", tmp_path, "--format", "json")
    assert (result.exit_code, len(json.loads(result.stdout))) == (0, 1)
    assert f"{tmp_path / 'theirs'}: imported, not measured here" in result.stderr
    assert "imported, not measured here" in str(invoke("status", tmp_path / "theirs").exception)
    create_archive(tmp_path / "strange", plan_json='{"sweeps": [{}]}', seed=0).close()
    assert "understands" in invoked("status", tmp_path, code=2)
