"""A journal cut and changed at every byte, a kill at every system call, and two thousand hostile archives.

What is found goes to docs/truth/archive.md.
"""

import os
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from pathlib import Path

import pytest
from truth_support import NOTES, fill_table, table, write_result

from archive_crashes import calls_of_a_campaign, survives
from archive_damage import Damaged, flips, truncations, write_campaign
from flowsweep.archive import reader
from hostile_archives import Canary, attack

TRIALS = 20
HOSTILE = 2000
WAYS = {"cut": truncations, "changed": flips}


def test_what_befalls_an_archive(tmp_path: Path) -> None:
    rows: list[tuple[str, int, str]] = []
    shares = os.cpu_count() or 1
    with ProcessPoolExecutor(shares) as pool:
        for kind, merged in (("loose", False), ("merged", True)):
            write_campaign(tmp_path / kind, TRIALS, merged=merged)
            for way in WAYS:
                parts = [pool.submit(damage, tmp_path / kind, way, share, shares) for share in range(shares)]
                count = sum(part.result() for part in parts)
                rows.append(
                    (f"{way}, {kind}", count, "no file of data removed or changed, every loss reported")
                )
    calls = calls_of_a_campaign(tmp_path / "whole")
    for at in range(calls):
        survives(tmp_path / f"killed-{at}", at)
    rows.append(("killed before a system call", calls, "every trial and row there once, after going on"))
    canary = Canary(tmp_path / "outside")
    for seed in range(HOSTILE):
        attack(tmp_path / "hostile", seed, canary)
    rows.append(("hostile", HOSTILE, "nothing outside opened, written or removed"))
    columns = ("archives", "tried", "what held for all")
    result = {"rows": [dict(zip(columns, row, strict=True)) for row in rows], "trials": TRIALS}
    write_result("archive", "Archives that are damaged, killed and hostile", result)
    fill_table(NOTES / "archive.md", "archive", table(columns, rows))


def damage(pristine: Path, way: str, share: int, shares: int) -> int:
    """Damage the journal of an archive in every so many of all ways, and open it; how many that were."""
    count = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "_TRIES", 1)  # nobody is writing
        damaged = Damaged(pristine, pristine.with_name(f"{pristine.name}-copy-{share}"))
        for what, journal in islice(WAYS[way](damaged.journal), share, None, shares):
            damaged.open_all_ways(what, journal)
            count += 1
    return count
