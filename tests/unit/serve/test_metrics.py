"""What Prometheus is told while an archive is read, and when a clock was set back."""

import re
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import generate_latest

from analysis_support import make_campaign, make_outcome, make_trial, write_archive
from flowsweep.archive.journal import JOURNAL_FILE
from flowsweep.serve.metrics import registry
from flowsweep.serve.watch import Watched

OF_WHAT_WAS_READ = (
    "flowsweep_trials_total{", "flowsweep_slots_missed_total{", "flowsweep_goodput_bits_per_second{",
    "flowsweep_path_overdue{", "flowsweep_path_failed{", "flowsweep_archive_read_timestamp_seconds{",
    "flowsweep_campaign_running{",
)  # fmt: skip


def told(watched: Watched) -> str:
    made = registry([watched], is_alive=lambda: True, listeners=lambda: 0)
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


@pytest.mark.parametrize(("hours", "age_s"), [((-1, 24), 3600.0), ((24,), None)])
def test_a_measurement_after_now_does_not_look_new(
    tmp_path: Path, hours: tuple[int, ...], age_s: float | None
) -> None:
    now = datetime.now(UTC)
    outcomes = [
        make_outcome(make_trial(repeat=number), started_at=now + timedelta(hours=hour))
        for number, hour in enumerate(hours, start=1)
    ]
    watched = Watched(0, write_archive(tmp_path / "archive", outcomes))
    read(watched)
    text = told(watched)
    ages = [float(one) for one in re.findall(r"flowsweep_path_age_seconds{.*} (.*)", text)]
    last = [float(one) for one in re.findall(r"last_success_timestamp_seconds{.*} (.*)", text)]
    assert ages == ([] if age_s is None else [pytest.approx(age_s, abs=60)])
    assert last == ([] if age_s is None else [pytest.approx(time.time() - age_s, abs=60)])


@pytest.mark.parametrize(
    ("axis", "levels", "words"),
    [
        ("rate_bps", (10_010_000, 10_020_000), ("10.01Mbit/s", "10.02Mbit/s")),
        ("window_bytes", ((10 << 20) + 1024, (10 << 20) + 2048), ("10241KiB", "10242KiB")),
        ("rate_bps", (10_000_000, 20_000_000), ("10.0 Mbit/s", "20.0 Mbit/s")),
    ],
)
def test_points_that_are_close_together_have_names_of_their_own(
    tmp_path: Path, axis: str, levels: tuple[int, ...], words: tuple[str, ...]
) -> None:
    outcomes = [
        make_outcome(make_trial(repeat=repeat, **{axis: level})) for repeat in (1, 2) for level in levels
    ]
    watched = Watched(0, write_archive(tmp_path / "archive", outcomes))
    read(watched)
    lines = [line.rpartition(" ")[0] for line in told(watched).splitlines() if not line.startswith("#")]
    assert len(lines) == len(set(lines))
    goodput = [line for line in lines if line.startswith("flowsweep_goodput_bits_per_second{")]
    assert len(goodput) == 2
    for word in words:
        assert sum(f" {word}" in line for line in goodput) == 1, goodput
