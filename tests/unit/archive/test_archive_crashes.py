"""A process that is killed, at every step that touches the disk."""

import errno
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from analysis_support import make_campaign
from flowsweep.archive import ArchiveWriter, create_archive, open_archive_for_writing, read_archive
from flowsweep.errors import ArchiveError
from summary_support import summary_rows

pytestmark = pytest.mark.whole

CAMPAIGN = make_campaign(flows=(1, 2), window_sums=(1 << 18,))
CALLS = ("open", "pwrite", "fsync", "ftruncate", "rename", "mkdir", "unlink", "rmdir")
TRIED = 60
"""Of about 180 calls; tests/truth/test_archive_damage.py tries all of them."""


ENDLESS = 1 << 30


class Killed(BaseException):
    """Stands for the end of the process: no handler of an error catches it."""


class Killer:
    """Lets so many system calls happen that change something, and ends the process in the next, or raises.

    Of what the next one writes, half is written.
    """

    def __init__(self, patch: pytest.MonkeyPatch, calls: int, error: BaseException | None = None) -> None:
        self.left = calls
        self._error = error or Killed()
        for name in CALLS:
            patch.setattr(os, name, self._counted(name, getattr(os, name)))

    def _counted(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **named: Any) -> Any:
            if name == "open" and not arguments[1] & os.O_CREAT:
                return call(*arguments, **named)
            self.left -= 1
            if self.left == -1:
                if name == "pwrite":
                    call(arguments[0], arguments[1][: len(arguments[1]) // 2], *arguments[2:])
                raise self._error
            return call(*arguments, **named)

        return counted


def test_a_campaign_survives_a_kill_at_any_system_call(tmp_path: Path) -> None:
    calls = calls_of_a_campaign(tmp_path / "whole")
    assert calls > TRIED
    for at in random.Random(14).sample(range(calls), TRIED):
        survives(tmp_path / str(at), at)


def survives(folder: Path, at: int) -> None:
    """Kill a campaign before system call `at`, go on with it, and look for each of its rows once."""
    expected = {outcome.record.trial_id for outcome in CAMPAIGN}
    acknowledged: set[str] = set()
    with pytest.MonkeyPatch.context() as patch:
        Killer(patch, at)
        _run(lambda: create_archive(folder, plan_json="{}", seed=1), acknowledged)
    if (folder / "campaign.json").exists():
        assert acknowledged <= set(read_archive(folder).records)
        _check_rows(folder)
        _run(lambda: open_archive_for_writing(folder), acknowledged)
    else:
        assert not acknowledged
        _run(lambda: create_archive(folder, plan_json="{}", seed=1), acknowledged)
    archive = read_archive(folder)
    assert (set(archive.records), archive.losses) == (expected, ())
    assert acknowledged == expected
    _check_rows(folder)
    _check_no_leftovers(folder)


def calls_of_a_campaign(folder: Path) -> int:
    """How many system calls that change something a campaign makes."""
    with pytest.MonkeyPatch.context() as patch:
        killer = Killer(patch, ENDLESS)
        _run(lambda: create_archive(folder, plan_json="{}", seed=1), set())
    return ENDLESS - killer.left


def test_a_disk_that_fails_at_any_call_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    calls = calls_of_a_campaign(tmp_path / "whole")
    for at in random.Random(15).sample(range(calls), TRIED):
        folder = tmp_path / str(at)
        acknowledged: set[str] = set()
        with pytest.MonkeyPatch.context() as patch:
            Killer(patch, at, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
            with pytest.raises(ArchiveError, match=r"No space left on device\. Make room there") as caught:
                _run(lambda folder=folder: create_archive(folder, plan_json="{}", seed=1), acknowledged)
        assert str(caught.value).startswith(str(folder))
        assert not acknowledged or acknowledged <= set(read_archive(folder).records)


def test_an_archive_that_may_not_be_touched_is_an_error_with_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_archive(tmp_path / "there", plan_json="{}", seed=1).close()

    def refuse(path: Path, *_: object, **__: object) -> int:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr(os, "open", refuse)
    for attempt in (
        lambda: open_archive_for_writing(tmp_path / "there"),
        lambda: create_archive(tmp_path / "new", plan_json="{}", seed=1),
        lambda: read_archive(tmp_path / "there"),
    ):
        with pytest.raises(ArchiveError, match=r"Permission denied\. See to it that you may read"):
            attempt()


def test_an_archive_on_a_read_only_disk_can_be_read_and_not_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_archive(tmp_path, plan_json="{}", seed=1).close()
    really = os.open

    def refuse(path: str, flags: int, *rest: object, **named: int) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)
        return really(path, flags, *rest, **named)

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
    there = {path.name for path in folder.iterdir()}
    assert there - {"aside"} == named
    if "aside" in there:
        # Half of a record, or data that were whole before their record was written.
        aside = [path.name.split("-")[0] for path in (folder / "aside").iterdir()]
        assert sorted(aside) in (["journal"], ["trials"], ["journal", "trials"])
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
    tests = str(Path(__file__).parents[2] / "support")
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {tests!r})\n{WRITER}", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        acknowledged = [process.stdout.readline().strip() for _ in range(5)]
        process.kill()
    found = read_archive(folder)
    assert set(acknowledged) <= set(found.records)
    rows = summary_rows(found.tables())
    assert {row["status"] for row in rows} == {"ok"}
    with open_archive_for_writing(folder) as writer:
        assert set(writer.records) == set(found.records)
