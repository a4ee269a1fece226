"""A journal cut and changed at every byte, a kill at every system call, and two thousand hostile archives.

What is found goes to docs/truth/archive.md.
"""

from pathlib import Path

import pytest
from truth_support import NOTES, fill_table, table, write_result

from archive_crashes import calls_of_a_campaign, survives
from archive_damage import Damaged, flips, truncations, write_campaign
from flowsweep.archive import reader
from hostile_archives import Canary, attack

TRIALS = 20
HOSTILE = 2000


def test_what_befalls_an_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "_TRIES", 1)  # nobody is writing
    rows: list[tuple[str, int, str]] = []
    for kind, merged in (("loose", False), ("merged", True)):
        write_campaign(tmp_path / kind, TRIALS, merged=merged)
        damaged = Damaged(tmp_path / kind, tmp_path / f"{kind}-copy")
        for name, journals in (("cut", truncations(damaged.journal)), ("changed", flips(damaged.journal))):
            count = 0
            for what, journal in journals:
                damaged.open_all_ways(what, journal)
                count += 1
            rows.append((f"{name}, {kind}", count, "no file of data removed or changed, every loss told"))
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
