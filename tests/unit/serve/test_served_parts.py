"""A page that follows an archive in parts shows what it would show of one without."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from flowsweep.archive import ArchiveWriter
from flowsweep.archive.follow_parts import part_of
from flowsweep.serve.overview import Overview
from flowsweep.serve.trials import report_of, trials_between
from flowsweep.serve.watch import Watched
from mesh_support import EVERY, begin_mesh, carried_as_usual, mesh_plan, outcome_of, times_of

TIMES = 3
BEGUN = datetime.now(UTC) - EVERY * TIMES
PLAN = mesh_plan()


def write_time(writer: ArchiveWriter, number: int) -> None:
    for place, (occasion, trials) in enumerate(times_of(PLAN, BEGUN, TIMES)):
        due = datetime.fromtimestamp(occasion.due_unix_ns / 1e9, UTC)
        for index, trial in enumerate(trials if place == number else ()):
            at = due + timedelta(seconds=6 * index)
            writer.started(trial.trial_id, 1, at)
            writer.finished(outcome_of(trial, at, carried_as_usual(trial, place / TIMES)))


def read(watched: Watched) -> None:
    watched.read_on(lambda *_: None)
    while watched.sum_up(lambda *_: None):
        pass
    assert watched.not_summed is None


def shown(watched: Watched) -> dict:
    read(watched)
    # Whether a process writes it is looked at now and then only.
    return Overview(watched.model).campaign() | {"runs": None}


def test_it_goes_on_over_the_end_of_a_part(tmp_path: Path) -> None:
    alone = begin_mesh(tmp_path / "alone", PLAN, BEGUN)
    parts = begin_mesh(tmp_path / "parts", PLAN, BEGUN)
    with alone, parts:
        following = Watched(0, tmp_path / "parts", tmp_path / "cache")
        for number in range(TIMES):
            for writer in (alone, parts):
                write_time(writer, number)
            if number < 2:
                parts.compact()
                parts.begin_part()
            shown(following)
            assert part_of(following.follower.offset) == parts.part
    assert shown(following) == shown(Watched(0, tmp_path / "alone"))
    following.keep(at_once=True)
    again = Watched(0, tmp_path / "parts", tmp_path / "cache")
    assert again.follower.offset == following.follower.offset
    assert not again.model.pending
    assert shown(again) == shown(following)
    assert shown(Watched(0, tmp_path / "parts")) == shown(following)
    trials = trials_between(again, 0, 2e9)
    assert {part_of(one.offset) for one in trials} == {1, 2, 3}
    page = report_of(again, trials)
    assert all(f"trial-{one.trial:012x}" in page for one in trials)
