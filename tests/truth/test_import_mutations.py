"""A hundred thousand changed files of other tools.

What came out is in docs/truth/imports.md. `FLOWSWEEP_CHANGED_FILES` says how many, `FLOWSWEEP_FIRST_FILE`
from which on.
"""

import os
from collections import Counter
from pathlib import Path

from import_mutations import accepted, changed, check_commands

MOST = int(os.environ.get("FLOWSWEEP_CHANGED_FILES", "100000"))
FIRST = int(os.environ.get("FLOWSWEEP_FIRST_FILE", "0"))
AT_ONCE = 100
"""Files in one archive."""
EVERY = 200
"""Of those that are accepted, one in so many is read by all commands, too."""


def test_changed_files_are_refused_with_one_message_or_read_by_all(tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    seen: set[tuple[str, str]] = set()
    kept: list[Path] = []
    trials = 0
    for number in range(FIRST, FIRST + MOST):
        case = changed(number)
        path = tmp_path / f"{number}-{case.real.stem}"
        path.write_bytes(case.content)
        try:
            taken = accepted(path)
        except Exception as error:
            raise AssertionError(f"{number}: {case.real.name}, {case.kinds}: {error!r}") from error
        counts["accepted" if taken else "refused"] += 1
        new = {(case.real.name, kind) for kind in case.kinds} - seen
        if taken and (new or counts["accepted"] % EVERY == 0):
            seen |= new
            kept.append(path)
        else:
            path.unlink()
        if len(kept) == AT_ONCE:
            trials += _read_by_all(kept, tmp_path / f"until-{number}", counts)
    trials += _read_by_all(kept, tmp_path / "last", counts)
    told = f"{dict(counts)}, trials read by all commands: {trials}, kinds of change by file: {len(seen)}"
    print(told)  # noqa: T201 - what docs/truth/imports.md has
    assert counts["accepted"] > MOST // 10


def _read_by_all(kept: list[Path], folder: Path, counts: Counter[str]) -> int:
    if not kept:
        return 0
    folder.mkdir()
    trials = check_commands(kept, folder)
    counts["read by all commands"] += len(kept)
    counts["archives"] += 1
    kept.clear()
    return trials
