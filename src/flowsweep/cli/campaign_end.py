"""What `run` and `demo` say at the end of a campaign; imported only then, since it needs the analysis."""

from collections import Counter
from pathlib import Path
from shlex import quote

from flowsweep.archive import read_archive
from flowsweep.cli.exit_codes import EXIT_TRIALS_FAILED
from flowsweep.cli.summary_rows import rows_at_end
from flowsweep.cli.terminal import say
from flowsweep.report.answers import answers
from flowsweep.report.headline import emulation_marks, highest_goodputs, missed_mark
from flowsweep.wording import counted

_PATHS_SHOWN = 12
_REASONS_SHOWN = 5


def print_end(folder: Path) -> int:
    """Say in a few lines what a campaign came to; returns the exit code. Imported ones do not count."""
    archive = read_archive(folder)
    there = rows_at_end(archive)
    rows = [row for row in there if not row.get("imported_from")]
    statuses = Counter(row["status"] for row in rows)
    counts = ", ".join(
        f"{statuses[status]} {status}" for status in ("ok", "incomplete", "failed") if statuses[status]
    )
    say(f"{counted(len(rows), 'trial')}: {counts}")
    found = highest_goodputs(rows)
    for highest in found[:_PATHS_SHOWN]:
        say(
            f"  {highest.direction}: best point {highest.number} {highest.unit} {highest.meant}, "
            f"at {highest.place}"
        )
    if len(found) > _PATHS_SHOWN:
        say(f"  {len(found) - _PATHS_SHOWN} more directions: flowsweep summary {quote(str(folder))}")
    for answer in answers(rows):
        say(f"  {answer.direction}: {answer.what} {answer.number} {answer.unit}, {answer.spread}")
    for error, count in Counter(row["error"] for row in rows if row["error"]).most_common(_REASONS_SHOWN):
        say(f"  {count} of them: {error}")
    if (missed := missed_mark(archive.state.missed)) is not None:
        say(f"  {missed}")
    for mark in emulation_marks(rows):
        say(f"  {mark}")
    if imported := len(there) - len(rows):
        say(f"  not counted: {counted(imported, 'imported trial')}")
    return 0 if set(statuses) <= {"ok"} and missed is None else EXIT_TRIALS_FAILED
