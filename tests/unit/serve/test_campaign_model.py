"""The read model: what a page shows of an archive, fed record by record while it grows."""

import json
import math
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

import flowsweep.serve.watch as watch_module
from analysis_support import Steady, make_campaign, make_failed, make_outcome, make_trial, write_archive
from flowsweep.archive import create_archive, read_archive
from flowsweep.archive.journal import JOURNAL_FILE, frame
from flowsweep.archive.notes import Note, add_note
from flowsweep.archive.writer import open_archive_for_writing
from flowsweep.prepared.summary import summary_of_archive
from flowsweep.serve.answers import Answers
from flowsweep.serve.campaign import PathKey
from flowsweep.serve.events import Broadcaster
from flowsweep.serve.overview import Overview, names_of_points
from flowsweep.serve.rows import trial_id_of
from flowsweep.serve.server import look_for_more, watched_in
from flowsweep.serve.watch import Watched
from mesh_support import EVERY, SWEEP, begin_mesh, mesh_plan, outcome_of, times_of, write_mesh

AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
A_TO_B = PathKey("windows", "a", "b")


def watch(folder: Path) -> tuple[Watched, list[str]]:
    said: list[str] = []
    watched = Watched(0, folder)
    read(watched, said)
    return watched, said


def read(watched: Watched, said: list[str]) -> None:
    watched.read_on(lambda _, what: said.append(what))
    while watched.sum_up(lambda _, what: said.append(what)):
        pass


def path_of(watched: Watched, key: PathKey) -> dict:
    found = [one for one in Overview(watched.model).paths() if (one["sweep"], one["src"], one["dst"]) == key]
    return found[0]


@pytest.mark.parametrize("merged", [True, False])
def test_rows_are_those_of_the_summary(tmp_path, merged):
    outcomes = make_campaign(repeats=2)
    if merged:
        folder = write_archive(tmp_path / "archive", outcomes)
    else:
        folder = tmp_path / "archive"
        with create_archive(folder, plan_json="{}", seed=1) as writer:
            for outcome in outcomes:
                writer.started(outcome.record.trial_id, 1, outcome.record.started_at)
                writer.finished(outcome)
    watched, _ = watch(folder)
    expected = {row["trial_id"]: row for row in summary_of_archive(read_archive(folder)).to_pylist()}
    seen = 0
    for state in watched.model.paths.values():
        for row in state.rows.rows:
            of_summary = expected[trial_id_of(int(row["trial"]))]
            value = float(row["goodput"][0])
            wanted = of_summary["goodput_bps"]
            assert math.isnan(value) if wanted is None else value == pytest.approx(wanted, rel=1e-6)
            assert row["summed"]
            seen += 1
    assert seen == len(expected) == len(outcomes)
    assert watched.not_summed is None


def test_a_trial_appears_when_it_is_settled_and_no_other_is_summed_up_again(tmp_path, monkeypatch):
    batches = []
    original = watch_module.summed_up
    monkeypatch.setattr(
        watch_module, "summed_up", lambda *args: batches.append(len(args[-1])) or original(*args)
    )
    folder = tmp_path / "archive"
    with create_archive(folder, plan_json="{}", seed=1) as writer:
        watched, said = watch(folder)
        for repeat in (1, 2, 3):
            outcome = make_outcome(make_trial(repeat=repeat), started_at=AT + timedelta(minutes=repeat))
            writer.started(outcome.record.trial_id, 1, outcome.record.started_at)
            read(watched, said)
            assert list(watched.model.running) == [outcome.record.trial_id]
            writer.finished(outcome)
            read(watched, said)
            assert not watched.model.running
            assert path_of(watched, A_TO_B)["trials"] == repeat
            assert path_of(watched, A_TO_B)["goodput"][0] == pytest.approx(1e8)
        writer.compact()
        read(watched, said)
    assert batches == [1, 1, 1]
    assert said == ["state"] + ["began", "settled", "summed"] * 3


def test_trials_that_were_merged_before_they_were_summed_up_are_taken_out_of_merged_files(
    tmp_path, monkeypatch
):
    folder = write_archive(tmp_path / "archive", make_campaign(flows=(1,), window_sums=(1 << 18,)))
    whole = []
    monkeypatch.setattr(
        "flowsweep.serve.summarise.read_archive", lambda path: whole.append(path) or read_archive(path)
    )
    watched, _ = watch(folder)
    assert path_of(watched, PathKey("windows", "a", "b"))["status"] == "failed"
    assert [path.name for path in whole] == ["excerpt"]


def test_what_limits_is_said_of_the_trial_whose_goodput_is_shown(tmp_path):
    outcomes = [
        make_outcome(
            make_trial(window_bytes=window), Steady(rate), started_at=AT + timedelta(minutes=minutes)
        )
        for minutes, window, rate in ((1, 1 << 20, 12_500_000), (2, 1 << 14, 1_250_000))
    ]
    watched, _ = watch(write_archive(tmp_path / "archive", outcomes))
    (state,) = watched.model.paths.values()
    watched.model.verdicts[:] = ["of the fast one", "of the last one"]
    state.rows.rows["verdict"] = np.argsort(np.argsort(-state.rows.rows["goodput"][:, 0]))
    path = path_of(watched, A_TO_B)
    assert path["goodput"][0] == pytest.approx(1e8)
    assert path["verdict"] == "of the fast one"


def test_another_attempt_takes_the_place_of_the_first(tmp_path):
    folder = tmp_path / "archive"
    trial = make_trial()
    with create_archive(folder, plan_json="{}", seed=1) as writer:
        writer.started(trial.trial_id, 1, AT)
        writer.finished(make_failed(trial, started_at=AT))
        watched, said = watch(folder)
        assert path_of(watched, A_TO_B)["status"] == "failed"
        writer.started(trial.trial_id, 2, AT + timedelta(hours=1))
        writer.finished(make_outcome(trial, attempt=2, started_at=AT + timedelta(hours=1)))
        read(watched, said)
    found = path_of(watched, A_TO_B)
    assert (found["trials"], found["status"], found["good"]) == (
        1,
        "ok",
        (AT + timedelta(hours=1)).timestamp(),
    )


def test_trials_that_come_late_stand_where_they_began(tmp_path):
    folder = tmp_path / "archive"
    with create_archive(folder, plan_json="{}", seed=1) as writer:
        for minute in (3, 1, 2):
            outcome = make_outcome(make_trial(repeat=minute), started_at=AT + timedelta(minutes=minute))
            writer.started(outcome.record.trial_id, 1, outcome.record.started_at)
            writer.finished(outcome)
    watched, _ = watch(folder)
    rows = watched.model.paths[A_TO_B].rows.rows
    assert [row["began"] - AT.timestamp() for row in rows] == [60, 120, 180]
    assert not any(math.isnan(row["goodput"][0]) for row in rows)


def test_points_are_called_by_what_they_differ_in(tmp_path):
    folder = write_archive(tmp_path / "archive", make_campaign(flows=(1, 4), window_sums=(1 << 20,)))
    watched, _ = watch(folder)
    assert names_of_points(watched.model.paths[A_TO_B]) == ["flows 1", "flows 4"]


def test_a_mesh_by_the_clock_says_what_runs_what_is_overdue_and_what_was_missed(tmp_path):
    folder = tmp_path / "archive"
    begun = datetime.now(UTC) - EVERY * 3 - timedelta(seconds=30)
    plan = mesh_plan()
    with begin_mesh(folder, plan, begun) as writer:
        watched, said = watch(folder)
        (_, first), *_, (_, trials) = list(times_of(plan, begun, 4))
        running = trials[2]
        at = datetime.now(UTC)
        for trial in first:
            writer.started(trial.trial_id, 1, begun)
            writer.finished(outcome_of(trial, at if trial is first[0] else begun, 1e7))
        writer.started(running.trial_id, 1, at)
        read(watched, said)
        found = Overview(watched.model).campaign()
        assert found["runs"]
        (shown,) = found["running"]
        assert (shown["src"], shown["dst"], shown["sweep"]) == (running.src, running.dst, SWEEP)
        assert shown["seconds"] == 4
        overdue = {(one["src"], one["dst"]): one["overdue"] for one in found["paths"]}
        assert overdue.pop((first[0].src, first[0].dst)) is False
        assert all(overdue.values())
        assert len(overdue) == 5
    watched._looked_for_writer = 0.0
    read(watched, said)
    found = Overview(watched.model).campaign()
    assert not found["runs"]
    assert found["running"] == []


def test_missed_times_and_notes_are_told(tmp_path):
    write_mesh(tmp_path / "archive", times=4)
    watched, said = watch(tmp_path / "archive")
    assert Overview(watched.model).campaign()["missed"] == 1
    add_note(watched.folder, Note(at=AT, text="kernel upgraded"))
    said.clear()
    read(watched, said)
    assert said == ["note"]
    assert [note.text for note in watched.model.notes] == ["kernel upgraded"]


def test_an_archive_that_was_made_anew_is_read_anew(tmp_path):
    folder = write_archive(tmp_path / "archive", make_campaign(flows=(1,)))
    watched, said = watch(folder)
    before = path_of(watched, A_TO_B)["trials"]
    (folder / JOURNAL_FILE).rename(folder / "old")
    (folder / JOURNAL_FILE).write_bytes((folder / "old").read_bytes())
    read(watched, said)
    assert path_of(watched, A_TO_B)["trials"] == before
    assert watched.model.statuses.total() == 2 * before


def test_data_that_were_dropped_do_not_count(tmp_path):
    folder = tmp_path / "archive"
    trial = make_trial()
    with create_archive(folder, plan_json="{}", seed=1) as writer:
        writer.started(trial.trial_id, 1, AT)
        writer.finished(make_outcome(trial, started_at=AT))
    watched, said = watch(folder)
    assert path_of(watched, A_TO_B)["status"] == "ok"
    dropped = f'{{"kind":"dropped","folder":"trials/{trial.trial_id}-1"}}'
    with (folder / JOURNAL_FILE).open("ab") as journal:
        journal.write(frame(dropped.encode()))
    read(watched, said)
    assert watched.model.paths[A_TO_B].rows.last() is None
    assert path_of(watched, A_TO_B)["good"] is None
    assert Overview(watched.model).campaign()["trials"] == {}


def test_what_a_killed_run_left_begun_does_not_run_for_ever(tmp_path):
    folder = tmp_path / "archive"
    now = datetime.now(UTC)
    with create_archive(folder, plan_json="{}", seed=1) as writer:
        writer.started(make_trial(repeat=1).trial_id, 1, now - timedelta(hours=3))
    watched, said = watch(folder)
    with open_archive_for_writing(folder) as writer:
        writer.started(make_trial(repeat=2).trial_id, 1, now)
        watched._looked_for_writer = 0.0
        read(watched, said)
        assert list(watched.model.running) == [make_trial(repeat=2).trial_id]
        writer.started(make_trial(repeat=3).trial_id, 1, now + timedelta(minutes=2))
        read(watched, said)
        assert len(watched.model.running) == 2


def test_a_trial_of_which_the_summary_alone_sees_that_it_is_incomplete_is_none_that_went_well(tmp_path):
    folder = tmp_path / "archive"
    with create_archive(folder, plan_json="{}", seed=1) as writer:
        for minute in (1, 2):
            at = AT + timedelta(minutes=minute)
            outcome = make_outcome(make_trial(repeat=minute), started_at=at)
            writer.started(outcome.record.trial_id, 1, at)
            writer.finished(outcome)
    watched, _ = watch(folder)
    state = watched.model.paths[A_TO_B]
    state.rows.sum_up(1, {"status": "incomplete", "goodput_bps": 1e8}, -1)
    state.version += 1
    found = path_of(watched, A_TO_B)
    assert (found["status"], found["good"]) == ("incomplete", (AT + timedelta(minutes=1)).timestamp())
    assert Overview(watched.model).campaign()["trials"] == {"ok": 1, "incomplete": 1}
    assert found["measured"]["goodput"] == found["good"]
    state.rows.sum_up(0, {"status": "ok", "goodput_bps": None}, -1)
    state.version += 1
    found = path_of(watched, A_TO_B)
    assert (found["goodput"], found["spark"], found["measured"]["goodput"]) == (None, None, None)


def test_a_point_without_a_value_leaves_the_curve_of_another(tmp_path):
    folder = write_archive(tmp_path / "archive", make_campaign(flows=(1, 4), window_sums=(1 << 20,)))
    watched, _ = watch(folder)
    state = watched.model.paths[A_TO_B]
    last = state.rows.rows["point"][-1]
    for place in np.flatnonzero(state.rows.rows["point"] == last):
        state.rows.sum_up(int(place), {}, -1)
    state.version += 1
    found = path_of(watched, A_TO_B)
    assert found["spark"]
    assert None not in found["spark"]


def test_where_a_plan_changed_the_newest_archive_has_its_name(tmp_path):
    changed = [tmp_path / "base" / name for name in ("alpine-mesh", "alpine-mesh-2")]
    elsewhere = tmp_path / "other" / "alpine-mesh"
    for number, folder in enumerate((*changed, elsewhere)):
        folder.parent.mkdir(exist_ok=True)
        begin_mesh(folder, mesh_plan(), AT + timedelta(days=number)).close()
    old, new = watched_in(changed)
    assert (old.model.is_succeeded, new.model.is_succeeded) == (True, False)
    assert (old.model.name, new.model.name) == ("base/alpine-mesh", "alpine-mesh")
    assert not any(path["overdue"] for path in Overview(old.model).paths())
    assert all(path["overdue"] for path in Overview(new.model).paths())
    both = watched_in([changed[1], elsewhere])
    assert [one.model.name for one in both] == ["base/alpine-mesh-2", "other/alpine-mesh"]
    assert not any(one.model.is_succeeded for one in both)


def test_an_archive_that_a_service_begins_where_a_plan_changed_is_served_from_then_on(tmp_path, monkeypatch):
    monkeypatch.setattr(watch_module, "_MORE_EVERY_S", 0.0)
    base = tmp_path / "base"
    base.mkdir()
    begin_mesh(base / "alpine-mesh", mesh_plan(), AT).close()
    watched = watched_in([base])
    watcher = watch_module.Watcher(watched, lambda *_: None, lambda: look_for_more([base], watched))
    answers = Answers(watched, watcher, Broadcaster())

    def names() -> list[tuple[str, bool]]:
        watcher._look_for_more()
        found = json.loads(answers.overview(None).body)["campaigns"]
        return [(one["name"], one["succeeded"]) for one in found]

    assert names() == [("alpine-mesh", False)]
    (base / "begun").mkdir()
    (base / "begun" / "campaign.json").write_text("{", "utf-8")
    assert names() == [("alpine-mesh", False)]
    begin_mesh(base / "alpine-mesh-2", mesh_plan(), AT + timedelta(days=1)).close()
    for _ in range(2):
        assert names() == [("base/alpine-mesh", True), ("alpine-mesh", False)]
    begin_mesh(base / "alpine-mesh-3", mesh_plan(), AT + timedelta(days=2)).close()
    assert names() == [
        ("base/alpine-mesh", True),
        ("alpine-mesh-2", True),
        ("alpine-mesh", False),
    ]


def test_what_was_made_of_an_archive_is_made_anew_when_another_is_in_its_place(tmp_path):
    folder, other = tmp_path / "archive", tmp_path / "other"
    for place, bytes_per_second in ((folder, 10**7), (other, 10**6)):
        with create_archive(place, plan_json="{}", seed=1) as writer:
            writer.finished(
                make_outcome(make_trial(), Steady(bytes_per_second=bytes_per_second), started_at=AT)
            )
    watched, said = watch(folder)
    shown = [overview_of(watched)]
    before = watched.model.version
    for one in list(folder.iterdir()):
        one.rename(tmp_path / f"was-{one.name}")
    for one in list(other.iterdir()):
        one.rename(folder / one.name)
    read(watched, said)
    shown.append(overview_of(watched))
    assert watched.model.version > before
    assert shown == [pytest.approx(8e7), pytest.approx(8e6)]


def overview_of(watched):
    [path] = watched.overview.paths()
    return path["goodput"][0]


def test_what_nobody_expected_does_not_end_the_watch_of_other_archives(tmp_path, monkeypatch):
    folders = [write_archive(tmp_path / name, make_campaign(flows=(1,))) for name in ("damaged", "whole")]
    watched = watched_in(folders)
    original = watch_module.summed_up

    def raising(folder, *rest):
        if folder.path.name == "damaged":
            raise ValueError("footer")
        return original(folder, *rest)

    monkeypatch.setattr(watch_module, "summed_up", raising)
    watcher = watch_module.Watcher(watched, lambda *_: None)
    for _ in range(2):
        for one in watched:
            watcher._look_at(one)
    assert watched[0].not_summed == "ValueError: footer"
    assert path_of(watched[1], A_TO_B)["goodput"] is not None
