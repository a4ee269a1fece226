"""What tests of campaigns by the clock rely on: that a time that ran twice, or too late, is seen."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from analysis_support import STARTED_AT, make_outcome, make_trial
from flowsweep.archive import create_archive, read_archive
from flowsweep.archive.reader import Archive
from flowsweep.run.outcome import Missed
from settled_times import finished, settled

MISSED = Missed(
    sweep="windows", first=2, last=2, first_due=STARTED_AT, last_due=STARTED_AT, reason="the disk is full"
)


def archive_of(
    folder: Path, ran: Sequence[tuple[int, int]], *, parts: bool = False, missed: Missed = MISSED
) -> Archive:
    """One trial each time: `ran` has times with the number of the attempt, in order."""
    with create_archive(folder, plan_json="{}", seed=1) as writer:
        for number, attempt in ran:
            outcome = make_outcome(make_trial(repeat=number), attempt=attempt)
            writer.started(outcome.record.trial_id, attempt, outcome.record.started_at)
            writer.finished(outcome)
            if parts:
                writer.begin_part()
        writer.missed(missed)
    return read_archive(folder)


@pytest.mark.parametrize("parts", [False, True])
def test_what_ran_once_or_was_missed_is_settled(tmp_path: Path, *, parts: bool) -> None:
    archive = archive_of(tmp_path / "a", [(1, 1), (3, 2)], parts=parts)
    assert settled(archive, 1, 3)["missed"] == 1
    assert [record.trial.repeat for record in finished(archive)] == [1, 3]


@pytest.mark.parametrize("parts", [False, True])
@pytest.mark.parametrize(
    "ran",
    [[(1, 1), (1, 2), (3, 1)], [(1, 1), (2, 1), (3, 1)], [(1, 1)], [(1, 1), (3, 1), (4, 1)]],
    ids=["twice", "missed, too", "not at all", "after the last"],
)
def test_what_is_not_is_seen(tmp_path: Path, ran: list[tuple[int, int]], *, parts: bool) -> None:
    archive = archive_of(tmp_path / "a", ran, parts=parts)
    with pytest.raises(AssertionError):
        settled(archive, 1, 3)


def test_what_was_missed_after_the_last_is_seen(tmp_path: Path) -> None:
    late = MISSED.model_copy(update={"last": 3})
    archive = archive_of(tmp_path / "a", [(1, 1)], missed=late)
    assert settled(archive, 1, 2, begun_after=1)["missed"] == 2
    with pytest.raises(AssertionError):
        settled(archive, 1, 2)
