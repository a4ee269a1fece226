"""What Prometheus is told while an archive is read, and when a clock was set back."""

from pathlib import Path
from typing import Any

import pytest
from prometheus_client import generate_latest

from analysis_support import make_campaign, write_archive
from flowsweep.archive.journal import JOURNAL_FILE
from flowsweep.serve.metrics import registry
from flowsweep.serve.watch import Watched

OF_WHAT_WAS_READ = (
    "flowsweep_trials_total{", "flowsweep_slots_missed_total{", "flowsweep_goodput_bits_per_second{",
    "flowsweep_path_overdue{", "flowsweep_path_failed{", "flowsweep_archive_read_timestamp_seconds{",
    "flowsweep_campaign_running{",
)  # fmt: skip


def told(watched: Watched) -> str:
    made = registry([watched], [watched.overview], is_alive=lambda: True, listeners=lambda: 0)
    return generate_latest(made).decode()


def seen(text: str) -> set[str]:
    return {name for name in OF_WHAT_WAS_READ if name in text}


def read(watched: Watched) -> None:
    watched.read_on(lambda *_: None)
    while watched.sum_up(lambda *_: None):
        pass


def test_what_is_not_read_to_its_end_has_no_counters_and_no_paths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_archive(tmp_path / "archive", make_campaign(flows=(1,)))
    watched = Watched(0, folder)
    assert seen(told(watched)) == set()
    assert "flowsweep_archive_readable{" in told(watched)
    read(watched)
    assert seen(told(watched)) == set(OF_WHAT_WAS_READ)

    (folder / JOURNAL_FILE).rename(folder / "old")
    (folder / JOURNAL_FILE).write_bytes((folder / "old").read_bytes())
    between: list[set[str]] = []
    original = watched.model.apply

    def apply(followed: Any) -> str | None:
        watched.lock.release()  # As it is after every 500 records.
        between.append(seen(told(watched)))
        watched.lock.acquire()
        return original(followed)

    monkeypatch.setattr(watched.model, "apply", apply)
    read(watched)
    assert between
    assert not any(between)
    assert seen(told(watched)) == set(OF_WHAT_WAS_READ)
