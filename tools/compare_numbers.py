"""Hold what today's code says of recorded campaigns against what was committed: every number.

    python tools/compare_numbers.py            compare, say each difference, exit 1 if there is one
    python tools/compare_numbers.py --write    write what is expected again: only after a change that is meant

`tests/contract/numbers` holds the archives (made by the plans beside them), what `flowsweep summary` and
`flowsweep findings` say of each as CSV and JSON, and `renamed.json`: which columns are called otherwise now,
which columns and kinds of findings came in addition, and of which fields of a finding the words were written
anew. Of such a field the numbers in it are compared. Summaries and sentences agree to the digit, the
estimates of findings to nine: linear algebra adds in another order on another kind of processor.
"""

import csv
import io
import json
import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue
from typer.testing import CliRunner

from flowsweep.cli import load
from flowsweep.cli.app import app

FOLDER = Path(__file__).parents[1] / "tests" / "contract" / "numbers"
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_SHOWN_AT_MOST = 20
_ROUNDING = 1e-9
"""Relative; of estimates that linear algebra gives."""


@dataclass(frozen=True)
class Renamed:
    """What is called otherwise since the expected output was written."""

    columns: Mapping[str, str]
    """Old name to new; also of what a finding's `axis` names."""
    added: frozenset[str]
    """Columns that came in addition."""
    values: Mapping[str, str]
    """Words that are values, old to new, as kinds of findings."""
    reworded: frozenset[str]
    """Fields of findings that are sentences, and were written anew."""
    added_findings: frozenset[str] = frozenset()
    """Kinds of findings that came in addition."""


def read_renamed(folder: Path = FOLDER) -> Renamed:
    """Read the map of old names to new."""
    found = json.loads((folder / "renamed.json").read_text(encoding="utf-8"))
    sets = (frozenset(found[name]) for name in ("added", "reworded", "added_findings"))
    added, reworded, added_findings = sets
    return Renamed(found["columns"], added, found["values"], reworded, added_findings)


def archives(folder: Path = FOLDER) -> tuple[str, ...]:
    """Names of the recorded campaigns."""
    return tuple(sorted(path.name for path in (folder / "archives").iterdir()))


def outputs(name: str, folder: Path = FOLDER) -> dict[str, str]:
    """What the commands say of a recorded campaign now, by the file that keeps it."""
    archive = str(folder / "archives" / name)
    return {
        f"{name}.summary.csv": _said("summary", archive, "--format", "csv"),
        f"{name}.findings.json": _said("findings", archive, "--format", "json"),
    }


def _said(command: str, *arguments: str) -> str:
    load([command])
    result = CliRunner().invoke(app, [command, *arguments])
    if result.exit_code:
        sys.exit(f"flowsweep {command} {' '.join(arguments)} ended with {result.exit_code}: {result.output}")
    return result.stdout


def differences(name: str, folder: Path = FOLDER) -> list[str]:
    """Every difference between what is expected of a recorded campaign and what is said of it now."""
    renamed = read_renamed(folder)
    found: list[str] = []
    for file, text in outputs(name, folder).items():
        before = (folder / "expected" / file).read_text(encoding="utf-8")
        compared = of_summaries if file.endswith(".csv") else of_findings
        found += [f"{file}: {difference}" for difference in compared(before, text, renamed)]
    return found


def of_summaries(before: str, after: str, renamed: Renamed) -> Iterator[str]:
    """Differences of two summaries as CSV: columns, their order, rows and cells."""
    old, new = (list(csv.reader(io.StringIO(text))) for text in (before, after))
    expected = [renamed.columns.get(column, column) for column in old[0]]
    # A campaign that was recorded later has some of those that came in addition.
    added = renamed.added - set(expected)
    kept = [index for index, column in enumerate(new[0]) if column not in added]
    columns = [new[0][index] for index in kept]
    if columns != expected:
        missing, unexpected = sorted({*expected} - {*columns}), sorted({*columns} - {*expected})
        yield f"columns: missing {missing}, unexpected {unexpected}"
        return
    if len(old) != len(new):
        yield f"{len(new) - 1} rows, expected {len(old) - 1}"
    for number, (was, now) in enumerate(zip(old[1:], new[1:], strict=False), start=1):
        for column, cell, index in zip(columns, was, kept, strict=True):
            if renamed.values.get(cell, cell) != now[index]:
                yield f"row {number}, {column}: found {now[index]}, expected {cell}"


def of_findings(before: str, after: str, renamed: Renamed) -> Iterator[str]:
    """Differences of two lists of findings as JSON."""
    old, every = json.loads(before), json.loads(after)
    added = renamed.added_findings - {finding.get("kind") for finding in old}
    new = [finding for finding in every if finding.get("kind") not in added]
    if len(old) != len(new):
        yield f"{len(new)} findings, expected {len(old)}"
    for number, (was, now) in enumerate(zip(old, new, strict=False), start=1):
        if was.keys() != now.keys():
            yield f"finding {number}: fields {sorted(now)}, expected {sorted(was)}"
            continue
        for field in was:
            if not _alike(field, was[field], now[field], renamed):
                yield f"finding {number}, {field}: found {now[field]}, expected {was[field]}"


def _alike(field: str, was: JsonValue, now: JsonValue, renamed: Renamed) -> bool:
    if field in renamed.reworded and isinstance(was, str) and isinstance(now, str):
        return _NUMBER.findall(was) == _NUMBER.findall(now)
    if isinstance(was, float) and isinstance(now, float):
        return math.isclose(was, now, rel_tol=_ROUNDING)
    return bool(_with_new_names(was, renamed) == now)


def _with_new_names(value: JsonValue, renamed: Renamed) -> JsonValue:
    match value:
        case str():
            return renamed.columns.get(value, renamed.values.get(value, value))
        case dict():
            return {name: _with_new_names(inner, renamed) for name, inner in value.items()}
        case list():
            return [_with_new_names(inner, renamed) for inner in value]
        case _:
            return value


def main(arguments: Sequence[str]) -> int:
    """Compare all recorded campaigns, or write what is expected of them."""
    if arguments == ["--write"]:
        (FOLDER / "expected").mkdir(exist_ok=True)
        for name in archives():
            for file, text in outputs(name).items():
                (FOLDER / "expected" / file).write_text(text, encoding="utf-8")
        return 0
    if arguments:
        sys.exit(f"found {' '.join(arguments)}, expected nothing or --write")
    found = [difference for name in archives() for difference in differences(name)]
    for difference in found[:_SHOWN_AT_MOST]:
        print(difference)
    print(f"{len(found)} differences in {len(archives())} campaigns")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
