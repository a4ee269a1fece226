"""Files over emulated links: all bytes arrive, what goes wrong is recorded, and nothing of them is left."""

import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from lab_support import engine_of, needs_lab

from campaign_support import finished_trials, flowsweep_here, start, summary
from disk_support import disk, needs_disks
from flowsweep.archive import read_archive
from flowsweep.run.outcome import TrialRecord
from waiting import wait_until

pytestmark = [*needs_lab, needs_disks]

MIB = 1 << 20
PLAN = """
[campaign]
name = "file"
seed = 1

[lab.links.wire]
between = ["left", "right"]
rate = "{rate}"

[hosts.left]
folder = "{left}"

[hosts.right]
folder = "{right}"

[[sweep]]
name = "files"
test = "file"
paths = [{{ from = "left", to = "right" }}]
{more}
"""
TWO_SLOW_FILES = 'files = 2\nfile_size = "12MiB"\nduration = "30s"\n'
"""At 50 Mbit/s each takes two seconds."""


def written(folder: Path, more: str, *, right: Path | None = None, rate: str = "50Mbit/s") -> Path:
    """A plan between two folders that are new and empty, but for one that is given."""
    folders = {"left": folder / "left", "right": right or folder / "right"}
    for path in folders.values():
        path.mkdir(exist_ok=True)
    plan = folder / "plan.toml"
    plan.write_text(PLAN.format(rate=rate, more=more, **folders), encoding="utf-8")
    return plan


def record_of(archive: Path) -> TrialRecord:
    (record,) = read_archive(archive).records.values()
    return record


def unnamed(controller: int, host: str, folder: Path) -> list[Path]:
    """Files without names that the engine of a host has below a folder."""
    with suppress(OSError, ValueError):
        descriptors = Path(f"/proc/{engine_of(controller, host)}/fd")
        return [
            one for one in descriptors.iterdir() if (name := str(one.readlink())).startswith(f"{folder}/")
            and name.endswith("(deleted)")
        ]  # fmt: skip
    return []


def sizes(files: list[Path]) -> list[int]:
    with suppress(OSError):
        return sorted(file.stat().st_size for file in files)
    return []


def test_bytes_and_files_agree_at_both_ends_in_every_part(tmp_path: Path) -> None:
    more = (
        'part = ["whole", "read", "network", "write"]\nfiles = 3\nfile_size = "1000001B"\nflows = 2\n'
        'verify = "stored"\nduration = "20s"\ncache = ["dropped", "direct"]\n'
    )
    flowsweep_here("run", written(tmp_path, more, rate="500Mbit/s"), "--archive", tmp_path / "archive")
    rows = summary(tmp_path / "archive")
    assert {row["status"] for row in rows} == {"ok"}
    assert len(rows) == 8
    for row in rows:
        assert int(row["bytes"]) == int(row["bytes_sent"]) == int(row["job_bytes"]) == 3_000_003, row
        assert float(row["job_moved_share"]) == 1
        assert (row["files_moved"] == "3") == (row["mode"] in {"whole", "write"})
        assert row["verdict"], row
    tables = read_archive(tmp_path / "archive").tables()
    storage: list[dict[str, Any]] = tables.storage.to_pyarrow().to_pylist()
    for end, parts in {"source": {"whole", "read"}, "sink": {"whole", "write"}}.items():
        for trial in rows:
            own = [row for row in storage if (row["trial_id"], row["role"]) == (trial["trial_id"], end)]
            moved = 3_000_003 if trial["mode"] in parts else 0
            assert sum(row["storage_bytes"] for row in own) == moved
    assert tables.devices.count().to_pyarrow().as_py() > 0
    assert not [file for end in ("left", "right") for file in (tmp_path / end).iterdir()]


def test_the_kernel_sends_what_is_compared_at_the_far_end(tmp_path: Path) -> None:
    more = (
        'sendfile = [false, true]\nfiles = 3\nfile_size = "1000001B"\nflows = 2\n'
        'verify = "stored"\nduration = "20s"\ncache = ["dropped", "warm"]\n'
    )
    flowsweep_here("run", written(tmp_path, more, rate="500Mbit/s"), "--archive", tmp_path / "archive")
    rows = summary(tmp_path / "archive")
    assert {(row["sendfile"], row["cache"]) for row in rows} == {
        (sendfile, cache) for sendfile in ("false", "true") for cache in ("dropped", "warm")
    }
    for row in rows:
        assert (row["status"], row["bytes"], row["files_moved"]) == ("ok", "3000003", "3"), row


def test_files_that_are_there_are_read_by_name_and_stay_as_they_are(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    contents = {f"{number}": os.urandom(100_000 * number) for number in (1, 2, 3)}
    for name, content in contents.items():
        (own / name).write_bytes(content)
    more = f'read = "{own}"\nfiles = 2\nduration = "20s"'
    flowsweep_here("run", written(tmp_path, more), "--archive", tmp_path / "archive")
    (row,) = summary(tmp_path / "archive")
    assert (row["status"], row["bytes"], row["files_moved"]) == ("ok", "300000", "2")
    assert {file.name: file.read_bytes() for file in own.iterdir()} == contents


def test_a_job_that_takes_too_long_is_cut_and_says_so(tmp_path: Path) -> None:
    more = 'file_size = "64MiB"\nduration = "2s"'
    flowsweep_here("run", written(tmp_path, more), "--archive", tmp_path / "archive")
    (row,) = summary(tmp_path / "archive")
    assert row["status"] == "ok", row
    assert 0.05 < float(row["job_moved_share"]) < 0.5
    assert 30e6 < float(row["goodput_bps"]) < 50e6
    assert row["verdict"] == "network"


def test_a_byte_that_changes_on_the_disk_is_found(tmp_path: Path) -> None:
    plan, archive = written(tmp_path, TWO_SLOW_FILES + 'verify = "stored"'), tmp_path / "archive"
    command = start("run", plan, "--archive", archive)
    right = tmp_path / "right"
    wait_until(lambda: sizes(unnamed(command.pid, "right", right))[-1:] == [12 * MIB])
    whole = max(unnamed(command.pid, "right", right), key=lambda file: file.stat().st_size)
    file = os.open(whole, os.O_RDWR)
    try:
        (before,) = os.pread(file, 1, 5 * MIB)
        os.pwrite(file, bytes([before ^ 1]), 5 * MIB)
    finally:
        os.close(file)
    output, _ = command.communicate(timeout=180)
    assert command.returncode == 1, output
    record = record_of(archive)
    assert record.failure is not None
    assert record.failure.host == "right"
    assert f"file 0, bytes {5 * MIB} to " in record.failure.message, record.failure
    assert not any(right.iterdir())


def test_a_disk_that_fills_up_is_recorded(tmp_path: Path) -> None:
    with disk(tmp_path, "small", 100 * MIB) as small:
        plan, archive = written(tmp_path, TWO_SLOW_FILES, right=small), tmp_path / "archive"
        there = set(small.iterdir())
        command = start("run", plan, "--archive", archive)
        wait_until(lambda: sizes(unnamed(command.pid, "right", small))[-1:] > [MIB])
        filler = small / "filler"
        with suppress(OSError), filler.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(MIB))
        output, _ = command.communicate(timeout=180)
        filler.unlink()
        assert command.returncode == 1, output
        record = record_of(archive)
        assert record.failure is not None
        assert (record.failure.host, record.failure.phase) == ("right", "run")
        assert "No space left" in record.failure.message, record.failure
        assert set(small.iterdir()) == there


def test_a_job_that_needs_more_than_half_of_a_disk_is_refused(tmp_path: Path) -> None:
    with disk(tmp_path, "small", 60 * MIB) as small:
        plan = written(tmp_path, 'file_size = "40MiB"', right=small)
        flowsweep_here("run", plan, "--archive", tmp_path / "archive", expect=1)
        record = record_of(tmp_path / "archive")
        assert record.failure is not None
        assert (record.status, record.failure.kind, record.failure.host) == ("failed", "no_space", "right")


@pytest.mark.parametrize("host", ["left", "right"])
def test_of_an_engine_that_is_killed_nothing_is_left(tmp_path: Path, host: str) -> None:
    with disk(tmp_path, "small", 100 * MIB) as small:
        plan, archive = written(tmp_path, TWO_SLOW_FILES, right=small), tmp_path / "archive"
        there, free = set(small.iterdir()), os.statvfs(small).f_bfree
        command = start("run", plan, "--archive", archive)
        wait_until(lambda: sizes(unnamed(command.pid, "right", small))[-1:] > [MIB])
        os.kill(engine_of(command.pid, host), signal.SIGKILL)
        command.communicate(timeout=180)
        assert finished_trials(archive) == 1
        record = record_of(archive)
        assert record.status in {"failed", "incomplete"}
        assert record.failure is not None
        assert set(small.iterdir()) == there
        wait_until(lambda: os.statvfs(small).f_bfree == free)
        assert not any((tmp_path / "left").iterdir())
