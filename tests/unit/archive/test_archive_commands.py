"""What commands do with an archive whose journal is damaged."""

import fcntl
import json
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from analysis_support import later, make_campaign, make_outcome
from archive_damage import data_of
from flowsweep.archive import create_archive, read_archive
from flowsweep.archive.totals import read_so_far
from flowsweep.plan import Plan, load_plan
from flowsweep.schedule import schedule
from invoked import invoke
from long_tests import long_after

pytestmark = pytest.mark.whole

IMPORTED = Path(__file__).parents[2] / "contract" / "imported" / "iperf-2.1.8-client.csv"
PLAN = """
[campaign]
repeats = 4
[hosts.a]
[hosts.b]
[[sweep]]
test = "tcp"
paths = [{ from = "a", to = "b" }]
congestion = "cubic"
window = "256KiB"
duration = "4s"
"""


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "plan.toml"
    path.write_text(PLAN)
    return path


@pytest.fixture(params=long_after(1, of=["merged", "loose"]))
def archive(request: pytest.FixtureRequest, plan: Path, tmp_path: Path) -> Iterator[Path]:
    """A whole campaign, of whose journal the last byte is gone."""
    folder = tmp_path / "archive"
    write(folder, load_plan(plan), merge=request.param == "merged")
    journal = folder / "journal"
    journal.write_bytes(journal.read_bytes()[:-1])
    before = set(data_of(folder).values())
    yield folder
    if request.param == "loose":
        assert before <= set(data_of(folder).values()) or merged(folder)


def write(folder: Path, plan: Plan, *, days: int = 0, merge: bool = False) -> Path:
    with create_archive(folder, plan_json=plan.model_dump_json(), seed=1) as writer:
        for outcome in later((make_outcome(slot.trials[0]) for slot in schedule(plan, 1)), timedelta(days)):
            writer.started(outcome.record.trial_id, 1, outcome.record.started_at)
            writer.finished(outcome)
        if merge:
            writer.compact()
    return folder


def merged(folder: Path) -> bool:
    """Whether all trials are in merged files that can be read."""
    return read_archive(folder).tables().samples.count().to_pyarrow().as_py() > 0


def test_reading_commands_tell_what_is_lost_and_go_on(archive: Path, plan: Path, tmp_path: Path) -> None:
    before, another = data_of(archive), write(tmp_path / "another", load_plan(plan), days=1)
    whole = (archive / "merged" / "1").exists()
    for words in (
        ("summary", archive, "--format", "json"),
        ("findings", archive),
        ("report", archive, "-o", tmp_path / "report.html"),
        ("export", archive, "--format", "csv", "-o", tmp_path / "tables"),
        ("compare", archive, another),
        ("status", archive),
    ):
        result = invoke(*words)
        assert result.exit_code == 0, result.output
        assert "warning:" in result.stderr
        assert "are no whole record; what was recorded there is lost" in result.stderr
        if words[0] == "summary":
            assert len(json.loads(result.stdout)) == (4 if whole else 3)
    assert data_of(archive) == before


def test_status_tells_that_a_journal_is_empty_or_has_changed(archive: Path) -> None:
    journal = archive / "journal"
    content = bytearray(journal.read_bytes())
    content[len(content) // 2] ^= 1
    journal.write_bytes(content)
    told = invoke("status", archive)
    assert told.exit_code == 0
    assert "have changed since they were written; what was recorded there is lost" in told.stderr
    assert "are no whole record" in told.stderr
    journal.write_bytes(b"")
    told = invoke("status", archive)
    assert told.exit_code == 0
    assert f"warning: {journal}: has no record, and there is " in told.stderr


def test_status_says_nothing_of_data_whose_record_is_being_written(archive: Path) -> None:
    journal = archive / "journal"
    journal.write_bytes(b"")
    with journal.open("r+b") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        told = invoke("status", archive)
    assert (told.exit_code, told.stderr) == (0, "")


def test_status_does_not_wait_for_a_record_that_nobody_writes(
    archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    monkeypatch.setattr(time, "sleep", waits.append)
    [lost] = read_so_far(archive).losses
    assert "are no whole record" in lost
    assert len(waits) == 1


def test_another_plan_is_refused_before_anything_changes(archive: Path, plan: Path) -> None:
    before = {path: path.read_bytes() for path in archive.rglob("*") if path.is_file()}
    result = invoke("run", plan, "--archive", archive, "--resume", "--set", "sweep.duration=5s")
    assert "is not the plan" in str(result.exception)
    assert {path: path.read_bytes() for path in archive.rglob("*") if path.is_file()} == before


def test_an_import_adds_to_what_is_there(archive: Path) -> None:
    trials = len(read_archive(archive).records)
    result = invoke("import", IMPORTED, "--archive", archive)
    assert result.exit_code == 0, result.output
    assert "warning:" in result.stderr
    assert len(read_archive(archive).records) == trials
    rows = json.loads(invoke("summary", archive, "--format", "json").stdout)
    assert len(rows) > trials
    assert {row["status"] for row in rows} == {"ok"}
    kept = [path.name for path in (archive / "aside").iterdir()]
    assert any(name.startswith("journal-from-byte-") for name in kept)
    verified = json.loads(invoke("verify", archive, "--format", "json").stdout)
    assert (verified["problems"], len(verified["aside"])) == ([], len(kept))


def test_verify_says_what_is_damaged(archive: Path) -> None:
    result = invoke("verify", archive)
    assert result.exit_code == 1
    assert "no whole record" in result.stdout
    assert "1 problem" in result.stdout or "2 problems" in result.stdout


def test_verify_lists_what_is_missing_where_other_commands_refuse(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    with create_archive(folder, plan_json="{}", seed=1) as writer:
        for outcome in make_campaign(flows=(1,), window_sums=(1 << 18,)):
            writer.finished(outcome)
    gone = sorted(folder.glob("trials/*/samples.parquet"))
    for file in gone:
        file.unlink()
    result = invoke("verify", folder, "--format", "json")
    assert result.exit_code == 1
    problems = json.loads(result.stdout)["problems"]
    assert sorted(problem.split(": is missing")[0] for problem in problems) == list(map(str, gone))
    assert "not a whole archive" in str(invoke("summary", folder).exception)


STRANGE_PLANS = (
    {},
    {"campaign": 5, "sweeps": 7, "links": "no"},
    {"campaign": {}, "sweeps": [{}, {"name": 1}], "links": [{"between": []}], "text": "x"},
    {"campaign": {"name": ["a"]}, "sweeps": [{"name": "s", "paths": [1]}], "text": 4, "links": [{}]},
)


@pytest.mark.parametrize("strange", long_after(1, of=STRANGE_PLANS))
def test_a_plan_that_nobody_checked_is_no_obstacle(strange: dict[str, object], tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    with create_archive(folder, plan_json=json.dumps(strange), seed=1) as writer:
        for outcome in make_campaign(flows=(1,), window_sums=(1 << 18,)):
            writer.finished(outcome)
    for words in (
        ("summary", folder),
        ("findings", folder),
        ("report", folder, "-o", tmp_path / "report.html"),
    ):
        result = invoke(*words)
        assert result.exit_code == 0, (result.output, result.exception)
