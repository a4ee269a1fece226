"""A process that is killed, at every step that touches the disk."""

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from analysis_support import make_campaign
from flowsweep.analysis import summary
from flowsweep.archive import ArchiveWriter, create_archive, disk, open_archive_for_writing, read_archive
from flowsweep.errors import ArchiveError

CAMPAIGN = make_campaign(flows=(1, 2), window_sums=(1 << 18,))
STEPS = ("append", "write_file", "rename", "sync", "make_folder", "remove_folder")


class Killed(BaseException):
    """Stands for the end of the process: no handler of an error catches it."""


class Killer:
    """Lets so many steps that touch the disk happen, and ends the process before the next, or raises."""

    def __init__(self, patch: pytest.MonkeyPatch, steps: int, error: BaseException | None = None) -> None:
        self.left = steps
        self._error = error or Killed()
        for name in STEPS:
            patch.setattr(disk, name, self._counted(getattr(disk, name)))

    def _counted(self, step: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **named: Any) -> Any:
            if self.left == 0:
                raise self._error
            self.left -= 1
            return step(*arguments, **named)

        return counted


def test_a_campaign_survives_a_kill_at_any_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = {outcome.record.trial_id for outcome in CAMPAIGN}
    for steps in range(200):
        folder = tmp_path / str(steps)
        acknowledged: set[str] = set()
        with monkeypatch.context() as patch:
            Killer(patch, steps)
            ended = _run(lambda folder=folder: create_archive(folder, plan_json="{}", seed=1), acknowledged)
        if (folder / "campaign.json").exists():
            found = set(read_archive(folder).records)
            assert acknowledged <= found
            _check_rows(folder)
            _run(lambda folder=folder: open_archive_for_writing(folder), acknowledged)
        else:
            assert not acknowledged
            _run(lambda folder=folder: create_archive(folder, plan_json="{}", seed=1), acknowledged)
        assert set(read_archive(folder).records) == acknowledged == expected
        _check_rows(folder)
        _check_no_leftovers(folder)
        if ended:
            assert steps > 50
            return
    pytest.fail("the campaign never came to its end")


def test_a_disk_that_fails_at_any_step_is_an_error_with_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    for steps in range(200):
        folder = tmp_path / str(steps)
        acknowledged: set[str] = set()
        with monkeypatch.context() as patch:
            Killer(patch, steps, full)
            error = None
            try:
                _run(lambda folder=folder: create_archive(folder, plan_json="{}", seed=1), acknowledged)
            except ArchiveError as caught:
                error = str(caught)
        if error is None:
            assert steps > 50
            return
        assert error.startswith(str(folder))
        assert "No space left on device. Make room there" in error
        assert not acknowledged or acknowledged <= set(read_archive(folder).records)
    pytest.fail("the campaign never came to its end")


@pytest.mark.parametrize("refused", ["read_bytes", "is_file", "mkdir"])
def test_an_archive_that_may_not_be_touched_is_an_error_with_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: str
) -> None:
    create_archive(tmp_path / "there", plan_json="{}", seed=1).close()

    def refuse(path: Path, *_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr(Path, refused, refuse)
    tries: list[Callable[[], object]] = [lambda: open_archive_for_writing(tmp_path / "there")]
    if refused == "mkdir":
        tries.append(lambda: create_archive(tmp_path / "new", plan_json="{}", seed=1))
    else:
        tries.append(lambda: read_archive(tmp_path / "there"))
    for attempt in tries:
        with pytest.raises(ArchiveError, match=r"Permission denied\. See to it that you may read"):
            attempt()


def test_an_archive_on_a_read_only_disk_can_be_read_and_not_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_archive(tmp_path, plan_json="{}", seed=1).close()

    def refuse(path: Path, *_: object) -> int:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(ArchiveError, match="journal: cannot be gone on with: Read-only file system"):
        open_archive_for_writing(tmp_path)
    assert read_archive(tmp_path).records == {}


def _run(opened: Callable[[], ArchiveWriter], acknowledged: set[str]) -> bool:
    """Do what is left of the campaign, merging twice; says whether it came to its end."""
    writer = None
    try:
        writer = opened()
        for number, outcome in enumerate(CAMPAIGN):
            record = outcome.record
            if record.trial_id not in writer.records:
                writer.started(record.trial_id, record.attempt, record.started_at)
                writer.finished(outcome)
            acknowledged.add(record.trial_id)
            if number == 1:
                writer.compact(rows_per_file=200)
        writer.compact(rows_per_file=200)
    except Killed:
        return False
    finally:
        # The system does this for a process that is gone.
        if writer is not None:
            writer.close()
    return True


def _check_rows(folder: Path) -> None:
    """Each trial has all its rows, none twice."""
    archive = read_archive(folder)
    rows = {outcome.record.trial_id: outcome.samples.num_rows for outcome in CAMPAIGN}
    samples = archive.tables().samples
    counts = samples.group_by("trial_id").aggregate(rows=samples.count()).to_pyarrow().to_pylist()
    found = {row["trial_id"]: row["rows"] for row in counts}
    assert found == {trial_id: rows[trial_id] for trial_id in archive.records if rows[trial_id]}


def _check_no_leftovers(folder: Path) -> None:
    named = {"campaign.json", "journal", "trials", "merged"}
    assert {path.name for path in folder.iterdir()} == named
    assert list((folder / "trials").iterdir()) == []
    assert len(list((folder / "merged").iterdir())) == 1


WRITER = """
import sys
from pathlib import Path
from analysis_support import make_outcome, make_trial
from flowsweep.archive import create_archive
with create_archive(Path(sys.argv[1]), plan_json="{}", seed=1) as writer:
    for repeat in range(1, 10_000):
        outcome = make_outcome(make_trial(repeat=repeat))
        writer.started(outcome.record.trial_id, 1, outcome.record.started_at)
        writer.finished(outcome)
        print(outcome.record.trial_id, flush=True)
"""


def test_what_was_acknowledged_before_kill_9_is_there(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    tests = str(Path(__file__).parents[1])
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {tests!r})\n{WRITER}", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        acknowledged = [process.stdout.readline().strip() for _ in range(5)]
        process.kill()
    found = read_archive(folder)
    assert set(acknowledged) <= set(found.records)
    rows = summary(found.tables()).to_pyarrow().to_pylist()
    assert {row["status"] for row in rows} == {"ok"}
    with open_archive_for_writing(folder) as writer:
        assert set(writer.records) == set(found.records)
