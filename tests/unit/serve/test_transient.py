"""What cannot be summed up now is summed up later; what is damaged spoils no other trial."""

import errno
from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

import flowsweep.serve.watch as watch_module
from analysis_support import make_campaign, write_archive
from flowsweep.errors import ArchiveError
from flowsweep.serve.transient import is_transient
from flowsweep.serve.watch import Watched
from long_tests import long_after


def from_(cause: Exception) -> ArchiveError:
    error = ArchiveError("its data cannot be read")
    error.__cause__ = cause
    return error


PASSING = (
    MemoryError(),
    pa.ArrowMemoryError(),
    OSError(errno.ENOSPC, "No space left on device"),
    OSError(errno.EMFILE, "Too many open files"),
    duckdb.OutOfMemoryException("out of memory"),
    from_(duckdb.OutOfMemoryException("out of memory")),
)
DAMAGE = (
    ArchiveError("a file has changed"),
    pa.ArrowInvalid("footer"),
    OSError("Couldn't deserialize thrift"),
    FileNotFoundError(errno.ENOENT, "No such file or directory"),
    from_(duckdb.IOException("magic bytes")),
    ValueError("footer"),
)


def failing(monkeypatch: pytest.MonkeyPatch, with_: Callable[[int], Exception | None]) -> list[int]:
    """Have summing up fail, by how many trials are to be summed up; tells how many these were each time."""
    original, asked = watch_module.summed_up, list[int]()

    def summed_up(*of: object) -> object:
        asked.append(len(of[-1]))  # type: ignore[arg-type]
        if (error := with_(len(of[-1]))) is not None:  # type: ignore[arg-type]
            raise error
        return original(*of)  # type: ignore[arg-type]

    monkeypatch.setattr(watch_module, "summed_up", summed_up)
    return asked


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    """Of an archive with some trials that are read and not summed up."""
    found = Watched(0, write_archive(tmp_path / "archive", make_campaign(flows=(1,))))
    found.read_on(lambda *_: None)
    return found


@pytest.mark.parametrize("error", long_after(1, of=PASSING), ids=repr)
def test_what_has_no_room_now_waits_and_is_summed_up_later(
    watched: Watched, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    waiting = dict(watched.model.pending)
    with monkeypatch.context() as now:
        asked = failing(now, lambda _: error)
        for _ in range(3):
            watched.sum_up(lambda *_: None)
    assert asked == [len(waiting)]
    assert watched.model.pending == waiting
    assert (watched.not_summed_now is None, watched.not_summed) == (False, None)
    monkeypatch.setattr(watch_module, "_TRIED_AGAIN_S", 0.0)
    while watched.sum_up(lambda *_: None):
        pass
    assert not watched.model.pending
    assert watched.not_summed_now is None


@pytest.mark.parametrize("error", DAMAGE, ids=repr)
def test_what_is_damaged_is_no_lack_of_room(error: Exception) -> None:
    assert not is_transient(error)


def test_a_damaged_trial_spoils_no_other(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = failing(monkeypatch, lambda trials: ArchiveError("damaged") if trials > 1 else None)
    watched.sum_up(lambda *_: None)
    assert asked.count(1) == sum(len(state.rows.rows) for state in watched.model.paths.values()) > 1
    assert not watched.model.pending


def test_what_cannot_be_summed_up_did_not_go_well(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as now:
        failing(now, lambda _: ArchiveError("damaged"))
        watched.sum_up(lambda *_: None)
    states = list(watched.model.paths.items())
    for path in watched.overview.paths():
        assert (path["good"], path["goodput"]) == (None, None)
        assert set(path["statuses"]) <= {"incomplete", "failed"}
    # With the next start it is tried again: the disk may have been away.
    for key, state in states:
        watched.model.wait_for(key, state.rows.rows[~state.rows.rows["summed"]])
    while watched.sum_up(lambda *_: None):
        pass
    assert all(path["good"] is not None for path in watched.overview.paths())


def test_whoever_stops_does_not_wait_for_all_parts_of_a_batch(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = failing(monkeypatch, lambda _: ArchiveError("damaged"))
    waiting = len(watched.model.pending)
    watched.sum_up(lambda *_: None, lambda: len(asked) > 1)
    assert len(asked) < 4
    assert len(watched.model.pending) >= waiting - 1
