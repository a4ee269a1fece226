"""What was read is kept for the next start; a file that does not fit counts for nothing."""

import threading
import time
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from analysis_support import STARTED_AT, make_campaign, make_outcome, make_trial, write_archive
from flowsweep.archive.journal import JOURNAL_FILE
from flowsweep.archive.writer import open_archive_for_writing
from flowsweep.errors import ArchiveError
from flowsweep.serve.cache import Kept, cache_folder
from flowsweep.serve.overview import Overview
from flowsweep.serve.watch import Watched, Watcher
from long_tests import long_after
from mesh_support import write_mesh
from serve_support import big_campaign

pytestmark = pytest.mark.whole

TRIES = 5
"""Of which the fastest counts: nothing here knows whether others had the processors meanwhile."""


def read(watched: Watched) -> list[str]:
    said: list[str] = []
    watched.read_on(lambda _, what: said.append(what))
    while watched.sum_up(lambda _, what: said.append(what)):
        pass
    return said


def shown(watched: Watched) -> dict:
    return Overview(watched.model).campaign()


@pytest.fixture
def kept(tmp_path) -> Path:
    folder = tmp_path / "archive"
    write_mesh(folder, times=3, flows="[1, 2]", merged=True)
    watched = Watched(0, folder, tmp_path / "cache")
    read(watched)
    watched.keep(at_once=True)
    return folder


def test_the_next_start_reads_nothing_again(kept, tmp_path):
    first = Watched(0, kept)
    read(first)
    again = Watched(0, kept, tmp_path / "cache")
    assert not again.model.pending
    assert again.follower.offset == first.follower.offset
    assert read(again) == []
    assert shown(again) == shown(first)
    assert [list(state.points) for state in again.model.paths.values()] == [
        list(state.points) for state in first.model.paths.values()
    ]
    assert again.model.hosts == first.model.hosts
    assert again.model.merged == first.model.merged


def test_what_was_appended_since_is_read(kept, tmp_path):
    with open_archive_for_writing(kept) as writer:
        outcome = make_outcome(make_trial(src="x", dst="y"), started_at=STARTED_AT + timedelta(hours=1))
        writer.started(outcome.record.trial_id, 1, outcome.record.started_at)
        writer.finished(outcome)
    again = Watched(0, kept, tmp_path / "cache")
    read(again)
    first = Watched(0, kept)
    read(first)
    assert shown(again) == shown(first)


def test_trials_that_waited_wait_again(tmp_path):
    folder = write_archive(tmp_path / "archive", make_campaign(flows=(1,)))
    watched = Watched(0, folder, tmp_path / "cache")
    watched.read_on(lambda *_: None)
    waited = set(watched.model.pending)
    watched.keep(at_once=True)
    again = Watched(0, folder, tmp_path / "cache")
    assert set(again.model.pending) == waited != set()
    read(again)
    assert not again.model.pending


@pytest.mark.parametrize(
    "spoil", long_after(2, of=["other journal", "other campaign", "half a file", "no file at all", "lines"])
)
def test_a_file_that_does_not_fit_counts_for_nothing(kept, tmp_path, spoil):
    (file,) = (tmp_path / "cache").glob("*.npz")
    if spoil == "other journal":
        journal = bytearray((kept / JOURNAL_FILE).read_bytes())
        journal[40] ^= 1
        (kept / JOURNAL_FILE).write_bytes(bytes(journal))
    elif spoil == "other campaign":
        text = (kept / "campaign.json").read_text()
        (kept / "campaign.json").write_text(text + " ")
    elif spoil == "half a file":
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    elif spoil == "no file at all":
        file.write_bytes(b"")
    else:
        np.savez(file, about=np.frombuffer(b'{"offset": -5}', np.uint8), rows=np.zeros(3))
    again = Watched(0, kept, tmp_path / "cache")
    assert again.follower.offset == 0
    assert not any(len(state.rows.rows) for state in again.model.paths.values())


def test_where_it_cannot_be_kept_nothing_is_said(tmp_path):
    folder = write_archive(tmp_path / "archive", make_campaign(flows=(1,), window_sums=(1 << 18,)))
    (tmp_path / "cache").write_text("a file")
    watched = Watched(0, folder, tmp_path / "cache")
    read(watched)
    watched.keep(at_once=True)
    assert (tmp_path / "cache").read_text() == "a file"


def test_an_archive_that_cannot_be_looked_at_is_read_anew_and_not_kept(kept, tmp_path, monkeypatch):
    def fails(*_):
        raise ArchiveError("the journal is no regular file")

    with monkeypatch.context() as now:
        now.setattr(Kept, "_archive", fails)
        watched = Watched(0, kept, tmp_path / "cache")
        assert watched.follower.offset == 0
        before = sorted((tmp_path / "cache").iterdir())
        watched.read_on(lambda *_: None)
        watched.keep(at_once=True)
        assert sorted((tmp_path / "cache").iterdir()) == before
    assert shown(watched)


def test_one_that_cannot_be_kept_ends_the_watch_of_no_other(tmp_path, monkeypatch):
    folders = [write_archive(tmp_path / name, make_campaign(flows=(1,))) for name in ("one", "other")]
    watched = [Watched(number, folder, tmp_path / "cache") for number, folder in enumerate(folders)]
    looked_at = threading.Event()

    def keep(*, at_once=False):
        looked_at.set()
        raise ArchiveError("the disk is gone")

    monkeypatch.setattr(watched[0], "keep", keep)
    watcher = Watcher(watched, lambda *_: None)
    watcher.start()
    assert looked_at.wait(60)
    assert watcher.is_alive
    watcher.stop()
    assert watched[0].problem == "the disk is gone"
    assert Watched(1, folders[1], tmp_path / "cache").follower.offset > 0


@pytest.mark.long
def test_a_million_trials_are_there_at_once(tmp_path, record_property):
    watched = big_campaign(tmp_path / "archive", paths=56, trials_each=18_000, end=time.time(), every_s=300)
    watched.model.version = 7
    kept = Watched(0, tmp_path / "archive", tmp_path / "cache")
    kept.model.paths, kept.model.version = watched.model.paths, 7
    kept.keep(at_once=True)
    took = []
    for _ in range(TRIES):
        began = time.perf_counter()
        again = Watched(0, tmp_path / "archive", tmp_path / "cache")
        took.append(time.perf_counter() - began)
        assert sum(len(state.rows.rows) for state in again.model.paths.values()) == 1_008_000
    record_property("took_s", min(took))
    assert min(took) < 2, "a fifth of a second where nothing else runs"


def test_the_users_cache(monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert cache_folder() == Path("/somewhere/flowsweep/serve")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", "/home/x")
    assert cache_folder() == Path("/home/x/.cache/flowsweep/serve")
