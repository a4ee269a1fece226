"""Archives that go on again: the newer one was removed, or a run writes the older one."""

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from flowsweep.archive import open_archive_for_writing
from flowsweep.serve.server import look_for_more, watched_in
from flowsweep.serve.watch import Watched, Watcher
from mesh_support import begin_mesh, mesh_plan

AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def begun(folder: Path, *, day: int = 0) -> Path:
    """An archive of the campaign `alpine-mesh` without trials."""
    begin_mesh(folder, mesh_plan(), AT + timedelta(days=day)).close()
    return folder


@pytest.fixture
def two(tmp_path: Path) -> list[Watched]:
    """One that was left, and the one in which its campaign goes on."""
    begun(tmp_path / "alpine-mesh")
    begun(tmp_path / "alpine-mesh-2", day=1)
    found = watched_in([tmp_path])
    assert succeeded(found) == [True, False]
    return found


def succeeded(watched: list[Watched]) -> list[bool]:
    return [one.model.is_succeeded for one in watched]


def test_where_the_newer_archive_was_removed_the_one_before_goes_on(
    tmp_path: Path, two: list[Watched]
) -> None:
    first, second = two
    shutil.rmtree(tmp_path / "alpine-mesh-2")
    look_for_more([tmp_path], two)
    assert (first.model.name, first.model.is_succeeded, second.model.is_gone) == ("alpine-mesh", False, True)
    begun(tmp_path / "alpine-mesh-2", day=2)
    look_for_more([tmp_path], two)
    assert succeeded(two) == [True, False]
    assert (second.model.name, second.model.is_gone) == ("alpine-mesh", False)


def test_what_a_run_writes_was_not_left(
    tmp_path: Path, two: list[Watched], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flowsweep.serve.watch._WRITER_EVERY_S", 0.0)
    watcher = Watcher(two, lambda *_: None)
    names = [one.model.name for one in two]
    with open_archive_for_writing(tmp_path / "alpine-mesh"):
        watcher._look_at(two[0])
        look_for_more([tmp_path], two)
        assert succeeded(two) == [False, False]
        assert [one.model.name for one in two] == names, "as metrics have it"
    watcher._look_at(two[0])
    assert succeeded(two) == [True, False]
