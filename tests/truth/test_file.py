"""Which of disks, file systems and network limits files: all of known speed, one of them the slowest."""

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from truth_support import NOTES, fill_table, table, write_result

from campaign_support import flowsweep, summary
from disk_support import (
    disk,
    memory_disk,
    needs_disks,
    needs_memory_disks,
    needs_slow_disks,
    needs_slow_file_systems,
    slow_file_system,
)
from flowsweep.wording import format_rate, format_share

pytestmark = [needs_disks, needs_slow_disks]

REPEATS = 10
REPEATS_OF_PARTS = 5
WRONG_AT_MOST = 1 / 20
DISK_BYTES = 600 << 20
MB = 1_000_000
PLAN = """
[campaign]
name = "file"
seed = 1
repeats = {repeats}

[lab.links.wire]
between = ["left", "right"]
rate = "{rate}"
delay = "1ms"

[hosts.left]
folder = "{left}"

[hosts.right]
folder = "{right}"

[[sweep]]
name = "files"
test = "file"
paths = [{{ from = "left", to = "right" }}]
part = {parts}
cache = "{cache}"
files = {files}
file_size = "{file_size}"
duration = "30s"
"""
PARTS = '["whole", "read", "network", "write"]'


@dataclass(frozen=True)
class Storage:
    """What files lie on at one end."""

    name: str
    speed: str
    make: Callable[[Path, str], AbstractContextManager[Path]]
    """In a folder, by a name."""


@dataclass(frozen=True)
class Case:
    """What is how fast, and what is slowest by construction."""

    name: str
    source: Storage
    rate: str
    sink: Storage
    verdict: str
    cache: str = "direct"
    files: int = 1
    file_size: str = "96MiB"
    lowest: str = ""
    """What the finding calls the lowest bound; empty where it is not asked."""


def _disk(*, read: int = 0, write: int = 0) -> Storage:
    """A disk that reads, or writes, so many bytes in a second."""
    make = partial(disk, size_bytes=DISK_BYTES, read_bytes_per_s=read, write_bytes_per_s=write)
    return _named("disk", read or write, make)


def _file_system(*, read: int = 0, write: int = 0) -> Storage:
    """A file system without a disk, likewise."""
    make = partial(slow_file_system, read_bytes_per_s=read, write_bytes_per_s=write)
    return _named("file system", read or write, make)


def _named(kind: str, bytes_per_s: int, make: Callable[[Path, str], AbstractContextManager[Path]]) -> Storage:
    speed = f"{bytes_per_s // MB} MB/s" if bytes_per_s else "not limited"
    return Storage(f"{kind}, {speed}", speed, make)


FREE = _disk()
IN_MEMORY = _named("disk in memory", 0, partial(memory_disk, size_bytes=DISK_BYTES))
SLOW_SOURCE, SLOW_SINK = _disk(read=50 * MB), _disk(write=50 * MB)
OF_SOURCE, OF_NETWORK, OF_SINK = "the source's storage alone", "the network alone", "the sink's storage alone"
DISKS = (
    Case("slow source", SLOW_SOURCE, "1Gbit/s", FREE, "source disk", lowest=OF_SOURCE),
    Case("slow sink", FREE, "1Gbit/s", SLOW_SINK, "sink disk", lowest=OF_SINK),
    Case(
        "slow network", _disk(read=100 * MB), "400Mbit/s", _disk(write=100 * MB), "network", lowest=OF_NETWORK
    ),
    Case(
        "all near each other", SLOW_SOURCE, "600Mbit/s", _disk(write=66 * MB), "source disk", lowest=OF_SOURCE
    ),
)
FILE_SYSTEMS = (
    Case("not in the cache", SLOW_SOURCE, "1Gbit/s", FREE, "source disk", cache="dropped"),
    Case("in the cache", SLOW_SOURCE, "1Gbit/s", FREE, "network", cache="warm"),
    Case("slow sink below its cache", FREE, "1Gbit/s", _disk(write=25 * MB), "sink disk", cache="dropped"),
    Case(
        "slow file system, source",
        _file_system(read=50 * MB),
        "1Gbit/s",
        FREE,
        "source file system",
        cache="dropped",
    ),
    Case(
        "slow file system, sink",
        FREE,
        "1Gbit/s",
        _file_system(write=50 * MB),
        "sink file system",
        cache="dropped",
    ),
    Case(
        "many syncs",
        FREE,
        "1Gbit/s",
        IN_MEMORY,
        "sink file system",
        cache="warm",
        files=2000,
        file_size="4KiB",
    ),
)


def test_the_slowest_of_disks_and_network_is_named(tmp_path: Path) -> None:
    judged = {case: _judged(tmp_path, case) for case in DISKS}
    columns = ("case", "read", "link", "write", "goodput", "source", "network", "sink", "verdict", "expected")
    cells = [
        (case.name, case.source.speed, case.rate, case.sink.speed, *_goodput_and_shares(row), case.verdict)
        for case, (rows, _) in judged.items()
        for row in rows
    ]
    fill_table(NOTES / "file.md", "cases", table(columns, cells))
    bounds = sum(f"lowest bound: {case.lowest}," in claim for case, (_, claim) in judged.items())
    counts = _counts(judged) | {"bounds": len(DISKS), "bounds_right": bounds}
    write_result("file", "verdicts of files between disks of known speed, and lowest bounds", counts)
    assert counts["cases"] - counts["right"] <= WRONG_AT_MOST * counts["cases"]
    assert bounds == len(DISKS), judged


@needs_memory_disks
@needs_slow_file_systems
def test_file_systems_and_what_the_cache_has_are_told_from_disks(tmp_path: Path) -> None:
    judged = {case: _judged(tmp_path, case) for case in FILE_SYSTEMS}
    columns = (
        "case", "files", "source", "sink", "read of the device, a byte", "written to it, a byte",
        "device of the sink busy", "goodput", "source", "network", "sink", "verdict", "expected",
    )  # fmt: skip
    cells = [
        (
            case.name, f"{case.files} of {case.file_size}, {case.cache}", case.source.name, case.sink.name,
            *_devices(row), *_goodput_and_shares(row), case.verdict,
        )
        for case, (rows, _) in judged.items()
        for row in rows
    ]  # fmt: skip
    fill_table(NOTES / "file.md", "file-systems", table(columns, cells))
    counts = _counts(judged)
    what = "verdicts of files on file systems that are slow themselves, and with and without the page cache"
    write_result("file-systems", what, counts)
    assert counts["cases"] - counts["right"] <= WRONG_AT_MOST * counts["cases"]


def _judged(folder: Path, case: Case) -> tuple[list[dict[str, str]], str]:
    """Trials of the whole way, and what is said of the bounds where that is asked."""
    name = case.name.replace(" ", "-").replace(",", "")
    with case.source.make(folder, f"{name}-left") as left, case.sink.make(folder, f"{name}-right") as right:
        folders = {"left": left, "right": right}
        rows = _rows(folder, case, folders)
        return rows, _bound(folder, case, folders) if case.lowest else ""


def _counts(judged: dict[Case, tuple[list[dict[str, str]], str]]) -> dict[str, int]:
    verdicts = [(row["verdict"], case.verdict) for case, (rows, _) in judged.items() for row in rows]
    assert len(verdicts) == REPEATS * len(judged)
    return {"cases": len(verdicts), "right": sum(found == due for found, due in verdicts)}


def _run(folder: Path, name: str, case: Case, folders: dict[str, Path], parts: str, repeats: int) -> Path:
    plan, archive = folder / f"{case.name}-{name}.toml", folder / f"{case.name}-{name}"
    text = PLAN.format(
        rate=case.rate, parts=parts, repeats=repeats, cache=case.cache, files=case.files,
        file_size=case.file_size, **folders,
    )  # fmt: skip
    plan.write_text(text, encoding="utf-8")
    flowsweep("run", plan, "--archive", archive, timeout_s=900)
    return archive


def _rows(folder: Path, case: Case, folders: dict[str, Path]) -> list[dict[str, str]]:
    rows = summary(_run(folder, "whole", case, folders, '"whole"', REPEATS))
    assert {row["status"] for row in rows} == {"ok"}
    return rows


def _bound(folder: Path, case: Case, folders: dict[str, Path]) -> str:
    """What is said of the bounds."""
    archive = _run(folder, "parts", case, folders, PARTS, REPEATS_OF_PARTS)
    found: list[dict[str, Any]] = json.loads(flowsweep("findings", archive, "--format", "json"))
    (bound,) = [one for one in found if one["kind"] == "bounds"]
    return f"{bound['decision']}: {bound['claim']}"


def _goodput_and_shares(row: dict[str, str]) -> tuple[str, ...]:
    """Of a table, with the verdict."""
    shares = (
        format_share(float(row[f"{name}_share"])) for name in ("source_storage", "network", "sink_storage")
    )
    return (format_rate(float(row["goodput_bps"])), *shares, row["verdict"])


def _devices(row: dict[str, str]) -> tuple[str, ...]:
    """Of a table: what both moved, and how long the sink's had something to do."""
    moved = (
        f"{float(per_byte):.2f}" if (per_byte := row[f"{end}_device_bytes_per_byte"]) else "no device"
        for end in ("source", "sink")
    )
    busy = row["sink_device_busy_share"]
    return (*moved, format_share(float(busy)) if busy else "no device")
