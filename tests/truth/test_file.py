"""Which of disks and network limits files: loop devices and links of known speed, one of them the slowest."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from truth_support import NOTES, fill_table, table, write_result

from campaign_support import flowsweep, summary
from disk_support import disk, needs_disks, needs_slow_disks
from flowsweep.wording import format_rate, format_share

pytestmark = [needs_disks, needs_slow_disks]

REPEATS = 10
REPEATS_OF_PARTS = 5
RIGHT_AT_LEAST = 38
"""Of 40."""
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
cache = "direct"
file_size = "96MiB"
duration = "30s"
"""
PARTS = '["whole", "read", "network", "write"]'


@dataclass(frozen=True)
class Case:
    """What is how fast, and what is slowest by construction."""

    name: str
    read_bytes_per_s: int
    rate: str
    write_bytes_per_s: int
    verdict: str
    lowest: str
    """What the finding calls the lowest bound."""


CASES = (
    Case("slow source", 50 * MB, "1Gbit/s", 0, "source disk", "the source's disk alone"),
    Case("slow sink", 0, "1Gbit/s", 50 * MB, "sink disk", "the sink's disk alone"),
    Case("slow network", 100 * MB, "400Mbit/s", 100 * MB, "network", "the network alone"),
    Case("all near each other", 50 * MB, "600Mbit/s", 66 * MB, "source disk", "the source's disk alone"),
)


def test_the_slowest_of_disks_and_network_is_named(tmp_path: Path) -> None:
    cells, right, claims = [], 0, []
    for case in CASES:
        with _folders(tmp_path, case) as folders:
            rows = _rows(tmp_path, case, folders)
            claims.append(_bound(tmp_path, case, folders))
        right += sum(row["verdict"] == case.verdict for row in rows)
        cells += [_cells(case, row) for row in rows]
    named = [claim.partition("lowest bound: ")[2].partition(",")[0] for claim in claims]
    bounds = sum(case.lowest == name for case, name in zip(CASES, named, strict=True))
    columns = ("case", "read", "link", "write", "goodput", "source", "network", "sink", "verdict", "expected")
    fill_table(NOTES / "file.md", "cases", table(columns, cells))
    counts = {"cases": len(cells), "right": right, "bounds": len(CASES), "bounds_right": bounds}
    write_result("file", "verdicts of files between disks of known speed, and lowest bounds", counts)
    assert len(cells) == REPEATS * len(CASES)
    assert right >= RIGHT_AT_LEAST
    assert bounds == len(CASES), claims


@contextmanager
def _folders(folder: Path, case: Case) -> Iterator[dict[str, Path]]:
    name = case.name.replace(" ", "-")
    with (
        disk(folder, f"{name}-left", DISK_BYTES, read_bytes_per_s=case.read_bytes_per_s) as left,
        disk(folder, f"{name}-right", DISK_BYTES, write_bytes_per_s=case.write_bytes_per_s) as right,
    ):
        yield {"left": left, "right": right}


def _run(folder: Path, name: str, case: Case, folders: dict[str, Path], parts: str, repeats: int) -> Path:
    plan, archive = folder / f"{case.name}-{name}.toml", folder / f"{case.name}-{name}"
    text = PLAN.format(rate=case.rate, parts=parts, repeats=repeats, **folders)
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


def _cells(case: Case, row: dict[str, str]) -> tuple[str, ...]:
    """Of the table."""
    shares = (
        format_share(float(row[f"{name}_share"])) for name in ("source_storage", "network", "sink_storage")
    )
    disks = (
        "not limited" if not speed else f"{speed // MB} MB/s"
        for speed in (case.read_bytes_per_s, case.write_bytes_per_s)
    )
    read, write = disks
    goodput = format_rate(float(row["goodput_bps"]))
    return (case.name, read, case.rate, write, goodput, *shares, row["verdict"], case.verdict)
