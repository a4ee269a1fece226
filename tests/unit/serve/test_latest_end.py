"""Where a span ends that is asked for without an end: what happened last at a path is in it."""

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from flowsweep.archive import ArchiveWriter
from flowsweep.archive.notes import Note, add_note
from flowsweep.archive.writer import open_archive_for_writing
from flowsweep.run.outcome import Missed
from mesh_support import SWEEP, write_mesh
from serve_support import Served, served
from waiting import wait_until

pytestmark = pytest.mark.whole

ALL = f"/api/series?sweep={SWEEP}&src=geneva&dst=vienna&last=all"
REST = timedelta(hours=13)


@pytest.fixture
def rested(tmp_path: Path) -> Path:
    """An archive whose last trial began half a day ago and more."""
    write_mesh(tmp_path / "archive", times=6, until=datetime.now(UTC) - REST)
    return tmp_path / "archive"


def miss(writer: ArchiveWriter, due: datetime, sweep: str = SWEEP) -> None:
    writer.missed(
        Missed(sweep=sweep, first=90, last=90, first_due=due, last_due=due, reason="the disk is full")
    )


def series(found: Served) -> dict:
    found.wait_for_summaries()
    return found.json(ALL)


def test_a_path_at_rest_ends_with_its_last_trial(rested):
    with served(rested) as found:
        told = series(found)
    assert told["last"] < told["to"] <= told["last"] + 61
    assert time.time() - told["to"] > 12 * 3600


@pytest.mark.parametrize("ago", [timedelta(hours=1), timedelta(hours=12, minutes=30)])
def test_what_was_missed_since_the_last_trial_is_listed(rested, ago):
    with open_archive_for_writing(rested) as writer:
        miss(writer, datetime.now(UTC) - ago)
    with served(rested) as found:
        told = series(found)
    assert [one["reason"] for one in told["missed"]] == ["the controller was not running", "the disk is full"]


def test_what_another_sweep_missed_is_of_no_matter(rested):
    with open_archive_for_writing(rested) as writer:
        miss(writer, datetime.now(UTC) - timedelta(hours=1), "another")
    with served(rested) as found:
        assert series(found)["to"] <= series(found)["last"] + 61


def test_a_note_of_now_is_listed_and_one_of_tomorrow_is_of_no_matter(rested):
    with served(rested) as found:
        folder = found.watched[0].folder
        add_note(folder, Note(at=datetime.now(UTC) + timedelta(days=1), text="a window for maintenance"))
        wait_until(lambda: len(found.watched[0].model.notes) == 1)
        assert series(found)["to"] <= series(found)["last"] + 61
        add_note(folder, Note(at=datetime.now(UTC), text="a new disk"))
        wait_until(lambda: len(found.watched[0].model.notes) == 2)
        assert [one["text"] for one in series(found)["notes"]] == ["a new disk"]


def test_while_a_run_writes_a_span_ends_now(rested):
    with open_archive_for_writing(rested), served(rested) as found:
        assert abs(series(found)["to"] - time.time()) < 30


def test_a_series_says_how_many_of_its_trials_are_still_to_be_summed_up(rested):
    with served(rested) as found:
        told = series(found)
        assert (told["waiting"], told["trials"]) == (0, 5)
        (model,) = (one.model for one in found.watched)
        (state,) = (state for key, state in model.paths.items() if key[1:] == ("geneva", "vienna"))
        state.rows.rows["summed"][:2] = False
        first = state.rows.rows[0]
        key = next(key for key, one in model.paths.items() if one is state)
        with found.watched[0].lock:
            found.watched[0].sum_up = lambda *_: False
            model.wait_for(key, state.rows.rows[:1])
        assert found.json(ALL)["waiting"] == 1, "the other one waits no more"
        assert (int(first["trial"]), 1) in model.pending
