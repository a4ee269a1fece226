"""A campaign whose process ends, or whose disk fails, before any system call that changes the disk."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from analysis_support import make_campaign
from flowsweep.archive import ArchiveWriter, create_archive, open_archive_for_writing, read_archive

CAMPAIGN = make_campaign(flows=(1, 2), window_sums=(1 << 18,))
CALLS = ("open", "pwrite", "fsync", "ftruncate", "rename", "mkdir", "unlink", "rmdir")
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


def survives(folder: Path, at: int) -> None:
    """Kill a campaign before system call `at`, go on with it, and look for each of its rows once."""
    expected = {outcome.record.trial_id for outcome in CAMPAIGN}
    acknowledged: set[str] = set()
    with pytest.MonkeyPatch.context() as patch:
        Killer(patch, at)
        run_campaign(lambda: create_archive(folder, plan_json="{}", seed=1), acknowledged)
    if (folder / "campaign.json").exists():
        assert acknowledged <= set(read_archive(folder).records)
        _check_rows(folder)
        run_campaign(lambda: open_archive_for_writing(folder), acknowledged)
    else:
        assert not acknowledged
        run_campaign(lambda: create_archive(folder, plan_json="{}", seed=1), acknowledged)
    archive = read_archive(folder)
    assert (set(archive.records), archive.losses) == (expected, ())
    assert acknowledged == expected
    _check_rows(folder)
    _check_no_leftovers(folder)


def calls_of_a_campaign(folder: Path) -> int:
    """How many system calls that change something a campaign makes."""
    with pytest.MonkeyPatch.context() as patch:
        killer = Killer(patch, ENDLESS)
        run_campaign(lambda: create_archive(folder, plan_json="{}", seed=1), set())
    return ENDLESS - killer.left


def run_campaign(opened: Callable[[], ArchiveWriter], acknowledged: set[str]) -> bool:
    """Do what is left of the campaign, merging twice; says whether it came to its end."""
    writer = None
    try:
        writer = opened()
        for number, outcome in enumerate(CAMPAIGN):
            record = outcome.record
            if record.trial_id not in writer.done:
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
