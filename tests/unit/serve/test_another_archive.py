"""Another archive in the place of one that is watched: nothing of the one before is left."""

import json
import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlencode

import pytest
from starlette.requests import Request

import flowsweep.serve.watch as watch_module
from analysis_support import make_campaign, make_outcome, make_trial, write_archive
from flowsweep.archive import create_archive
from flowsweep.archive.campaign import begun_unix_ns, read_campaign
from flowsweep.archive.folder import Folder
from flowsweep.archive.notes import Note, add_note
from flowsweep.errors import ServeError
from flowsweep.plan import Plan
from flowsweep.serve.answers import Answers
from flowsweep.serve.events import Broadcaster
from flowsweep.serve.overview import Overview
from flowsweep.serve.server import look_for_more, watched_in
from flowsweep.serve.watch import Watched, Watcher
from mesh_support import begin_mesh, mesh_plan, outcome_of, times_of
from serve_support import big_campaign

pytestmark = pytest.mark.whole

AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
FIRST, SECOND = ("geneva", "lyon", "vienna"), ("bern", "oslo")


def write(folder: Path, hosts: tuple[str, ...], at: datetime, notes: tuple[str, ...]) -> None:
    plan = mesh_plan(hosts)
    with begin_mesh(folder, plan, at) as writer:
        for trial in next(times_of(plan, at, 1))[1]:
            writer.finished(outcome_of(trial, at, 1e7))
        for text in notes:
            add_note(Folder(writer.folder), Note(at=at, text=text))


def look_at(watched: Watched) -> list[str]:
    said: list[str] = []
    Watcher([watched], lambda _, what: said.append(what))._look_at(watched)
    return said


def hosts_of(watched: Watched) -> set[str]:
    return {key.src for key in watched.model.paths}


def move_contents(source: Path, target: Path, aside: Path) -> None:
    aside.mkdir()
    for one in list(target.iterdir()):
        one.rename(aside / one.name)
    for one in list(source.iterdir()):
        one.rename(target / one.name)


@pytest.mark.parametrize("way", ["contents", "folder"])
def test_another_archive_is_known_by_its_own_plan_beginning_and_notes(tmp_path, way):
    folder, other, later = tmp_path / "archive", tmp_path / "other", AT + timedelta(days=3)
    # Of the same length, as files of notes that only grow would be the same.
    write(folder, FIRST, AT, ("first",))
    write(other, SECOND, later, ("other",))
    watched = Watched(0, folder, tmp_path / "cache")
    look_at(watched)
    assert hosts_of(watched) == set(FIRST)
    watched.keep(at_once=True)
    before = watched.model.version
    if way == "contents":
        move_contents(other, folder, tmp_path / "aside")
    else:
        shutil.rmtree(folder)
        other.rename(folder)
    said = look_at(watched)
    model, expected = watched.model, read_campaign(watched.folder)
    assert watched.problem is None
    assert hosts_of(watched) == set(SECOND)
    assert (model.begun_ns, model.campaign.seed) == (begun_unix_ns(expected), expected.seed)
    assert model.campaign.created_at == later
    assert [note.text for note in model.notes] == ["other"]
    assert model.statuses.total() == 2
    assert model.version > before
    assert {"state", "settled", "summed"} <= set(said)
    assert all(path["goodput"] for path in watched.overview.paths())
    watched.keep(at_once=True)
    again = Watched(0, folder, tmp_path / "cache")
    assert Overview(again.model).campaign()["trials"] == Overview(model).campaign()["trials"] == {"ok": 2}
    assert again.follower.offset == watched.follower.offset


def test_a_folder_that_is_removed_and_made_again_is_read_again(tmp_path):
    folder = write_archive(tmp_path / "archive", make_campaign(flows=(1,)))
    watched = Watched(0, folder)
    look_at(watched)
    shutil.rmtree(folder)
    look_at(watched)
    assert "cannot be read" in (watched.problem or "")
    folder.mkdir()
    look_at(watched)
    assert "not an archive" in (watched.problem or "")
    folder.rmdir()
    with create_archive(folder, plan_json="{}", seed=9) as writer:
        look_at(watched)
        assert (watched.problem, watched.model.campaign.seed, watched.model.statuses.total()) == (None, 9, 0)
        writer.finished(make_outcome(make_trial(), started_at=AT))
        assert "settled" in look_at(watched)
    assert watched.model.statuses.total() == 1


def test_another_archive_has_a_name_of_its_own_beside_others(tmp_path):
    base = tmp_path / "base"
    for number, folder in enumerate(("first", "second")):
        begin_mesh(base / folder, named_mesh(f"mesh {number}"), AT + timedelta(days=number)).close()
    watched = watched_in([base])
    assert [one.model.name for one in watched] == ["mesh 0", "mesh 1"]
    shutil.rmtree(base / "first")
    begin_mesh(base / "first", named_mesh("mesh 1"), AT + timedelta(days=2)).close()
    for one in watched:
        look_at(one)
    look_for_more([base], watched)
    assert [one.model.name for one in watched] == ["base/first", "base/second"]
    assert [one.model.is_succeeded for one in watched] == [False, False]


def named_mesh(name: str) -> Plan:
    plan = mesh_plan()
    return plan.model_copy(update={"campaign": plan.campaign.model_copy(update={"name": name})})


def test_contents_that_come_one_by_one_are_counted_once(tmp_path):
    folder, other = tmp_path / "archive", tmp_path / "other"
    write(folder, FIRST, AT, ())
    write(other, SECOND, AT, ())
    watched = Watched(0, folder)
    look_at(watched)
    for one in list(folder.iterdir()):
        one.rename(tmp_path / f"was-{one.name}")
    (other / "journal").rename(folder / "journal")
    for _ in range(2):
        look_at(watched)
        assert "not an archive" in (watched.problem or "")
    for one in list(other.iterdir()):
        one.rename(folder / one.name)
    look_at(watched)
    assert (watched.problem, hosts_of(watched)) == (None, set(SECOND))
    assert watched.model.statuses.total() == 2


def test_a_plan_that_comes_after_its_journal_is_the_one_that_counts(tmp_path):
    folder, other = tmp_path / "archive", tmp_path / "other"
    write(folder, FIRST, AT, ())
    write(other, SECOND, AT, ())
    watched = Watched(0, folder)
    look_at(watched)
    for name in ("journal", "trials", "campaign.json"):
        (folder / name).rename(tmp_path / f"was-{name}")
        (other / name).rename(folder / name)
        look_at(watched)
    assert (hosts_of(watched), watched.model.statuses.total()) == (set(SECOND), 2)


def test_what_is_written_again_as_it_was_is_the_same_archive(tmp_path):
    folder, other = tmp_path / "archive", tmp_path / "other"
    write(folder, FIRST, AT, ())
    write(other, SECOND, AT, ())
    watched = Watched(0, folder)
    look_at(watched)
    version = watched.model.version
    file = folder / "campaign.json"
    os.utime(file, (1e9, 1e9))
    assert look_at(watched) == []
    copy = tmp_path / "copy"
    copy.write_bytes(file.read_bytes())
    copy.rename(file)
    assert look_at(watched) == []
    assert (watched.model.version, watched.model.statuses.total()) == (version, 6)
    # Another one in the same file, of the same time.
    file.write_bytes((other / "campaign.json").read_bytes())
    (other / "journal").rename(folder / "journal")
    look_at(watched)
    assert hosts_of(watched) == set(SECOND)


def test_what_takes_the_place_while_the_readers_lock_is_taken_is_summed_up_at_the_next_look(
    tmp_path, monkeypatch
):
    folder, other = tmp_path / "archive", tmp_path / "other"
    write(folder, FIRST, AT, ())
    write(other, SECOND, AT, ())
    watched = Watched(0, folder)
    watched.read_on(lambda *_: None)
    original, held = watch_module.ReadersLock, []

    def taken(of):
        held.append(of)
        lock = original(of)
        if len(held) == 1:
            shutil.rmtree(folder)
            other.rename(folder)
        return lock

    monkeypatch.setattr(watch_module, "ReadersLock", taken)
    assert not watched.sum_up(lambda *_: None)
    assert watched.sum_up(lambda *_: None)
    assert held[1] is watched.folder
    assert not watched.model.pending


@pytest.mark.parametrize("turn", [1, 2, 3])
def test_a_path_that_is_asked_for_while_another_archive_takes_the_place_is_answered(tmp_path, turn):
    watched = big_campaign(tmp_path / "a", paths=1, trials_each=20, end=1.7e9, every_s=60.0)
    [key] = watched.model.paths

    class Lock:
        """Is got once another archive is in the place, the nth time."""

        turns = 0

        def __enter__(self):
            self.turns += 1
            if self.turns == turn:
                watched.model.begin_another(watched.model.campaign)
                watched.overview = Overview(watched.model)

        def __exit__(self, *_):
            pass

    watched.lock = Lock()
    answers = Answers([watched], Watcher([watched], lambda *_: None), Broadcaster())
    query = urlencode(key._asdict() | {"last": "all"}).encode()
    request = Request({"type": "http", "query_string": query, "headers": []})
    if turn == 1:
        with pytest.raises(ServeError, match="has no sweep"):
            answers.series(request)
    else:
        assert json.loads(answers.series(request).body)["trials"] == 20
