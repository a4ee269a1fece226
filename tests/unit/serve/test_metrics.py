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
from flowsweep.serve.rows import PathRows, make_row
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


def test_a_value_stays_what_it_was_whatever_failed_since(tmp_path: Path) -> None:
    """Two points that went well twice, then one of them alone fails for long."""
    began = datetime.now(UTC) - timedelta(days=3)
    outcomes = [
        make_outcome(make_trial(repeat=repeat, flows=flows), started_at=began + timedelta(minutes=repeat))
        for repeat in (1, 2)
        for flows in (1, 2)
    ]
    watched = Watched(0, write_archive(tmp_path / "archive", outcomes))
    read(watched)
    before = values_of(told(watched))
    assert {name for name, _ in before} >= {
        f"flowsweep_{name}"
        for name in ("goodput_bits_per_second", "goodput_highest_of_two_bits_per_second", "path_verdict")
    }
    [state] = watched.model.paths.values()
    for number in range(9_000):
        row = make_row(
            began=began.timestamp() + 3600 + number, trial_id=f"{number:012x}", offset=0, payload_bytes=0,
            attempt=1, point=1, status="failed", repeat=3 + number,
        )  # fmt: skip
        state.rows.add(row)
    state.version += 1
    assert values_of(told(watched)) == before
    assert state.rows.last(with_value_of="goodput") is not None
    [path] = watched.overview.paths()
    assert (path["goodput"] is None, path["status"]) == (False, "failed")
    assert PathRows(state.rows.rows).told == state.rows.told
    # What comes in its place counts by itself.
    state.rows.sum_up(state.rows.places([8_999])[8_999], {"status": "ok", "goodput_bps": 1e6}, -1)
    for place in range(4):
        state.rows.drop(int(state.rows.rows["trial"][place]), 1)
    assert state.rows.last(with_value_of="goodput") is None
    assert +state.rows.told == PathRows(state.rows.rows).told == {}


def values_of(text: str) -> dict[tuple[str, str], float]:
    """Samples of values and verdicts."""
    found = re.findall(
        r"^(\w+_per_second|\w+_seconds|\w+_ratio|\w+_verdict)({.*}) (\S+)$", text, re.MULTILINE
    )
    return {
        (name, labels): float(value)
        for name, labels, value in found
        if "age" not in name and "read" not in name
    }


def test_what_ran_in_part_counts_as_missed_and_the_help_says_so() -> None:
    made = generate_latest(registry([], is_alive=lambda: True, listeners=lambda: 0)).decode()
    meaning = "Times at which a sweep was due and did not run, or not all of it."
    assert f"# HELP flowsweep_slots_missed_total {meaning}" in made.splitlines()
