"""A process that is killed, at every step that touches the disk."""

import errno
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from archive_crashes import Killer, calls_of_a_campaign, run_campaign, survives
from flowsweep.archive import create_archive, open_archive_for_writing, read_archive
from flowsweep.errors import ArchiveError
from summary_support import archive_rows

pytestmark = pytest.mark.whole

TRIED = 30
"""Of about 100 calls, and the last one; tests/truth/test_archive_damage.py tries all of them."""


@pytest.mark.long
def test_a_campaign_survives_a_kill_at_any_system_call(tmp_path: Path) -> None:
    calls = calls_of_a_campaign(tmp_path / "whole")
    assert calls > TRIED
    for at in {*random.Random(14).sample(range(calls), TRIED), calls - 1}:
        survives(tmp_path / str(at), at)


def test_a_disk_that_fails_at_any_call_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    calls = calls_of_a_campaign(tmp_path / "whole")
    for at in random.Random(15).sample(range(calls), TRIED):
        folder = tmp_path / str(at)
        acknowledged: set[str] = set()
        with pytest.MonkeyPatch.context() as patch:
            Killer(patch, at, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
            with pytest.raises(ArchiveError, match=r"No space left on device\. Make room there") as caught:
                run_campaign(
                    lambda folder=folder: create_archive(folder, plan_json="{}", seed=1), acknowledged
                )
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
    rows = archive_rows(found)
    assert {row["status"] for row in rows} == {"ok"}
    with open_archive_for_writing(folder) as writer:
        assert set(writer.done) == set(found.records)
