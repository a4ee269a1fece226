"""Take the tests of many files into one archive."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path

from flowsweep.archive import ArchiveWriter, ImportedOutcome
from flowsweep.errors import ImportedFileError
from flowsweep.imports.known import Known, with_known
from flowsweep.imports.outcome import Numbering, content_ids, outcome_of
from flowsweep.imports.reading import read_file
from flowsweep.imports.transfer import Transfer

SWEEP = "imported"
"""What trials of other tools belong to, if nobody says it."""


class Step(Enum):
    """The two parts of an import."""

    READ = "read"
    """Files are read."""
    TAKEN_IN = "taken in"
    """The tests in them go into the archive."""


ProgressListener = Callable[[Step, int, int], None]
"""Is called after each file and each test: how many are done, and of how many."""
_AT_ONCE = 500
"""Trials that become files together: each time costs five waits for the disk."""


@dataclass(slots=True)
class Imported:
    """What became of some files."""

    files_read: int = 0
    taken: int = 0
    known: int = 0
    """Trials that the archive had already."""
    problems: list[str] = field(default_factory=list)
    """One for each file that could not be read."""


@dataclass(frozen=True, slots=True)
class _Test:
    transfer: Transfer
    trial_id: str
    imported_from: str


def import_files(
    files: Sequence[Path],
    writer: Callable[[], ArchiveWriter],
    *,
    kind: str | None = None,
    sweep: str = SWEEP,
    known: Known | None = None,
    progress: ProgressListener = lambda step, done, of: None,
) -> Imported:
    """Take every test of some files in, in the order in which they were run where all files tell the time.

    A file that cannot be read is named, and the others go on.

    Args:
        files: What to read.
        writer: Opens the archive; asked only if a file could be read, and closed again.
        kind: Of all files, one of `KINDS`; recognised if absent.
        sweep: What the trials belong to.
        known: What the files do not say.
        progress: Is called with what is done so far.

    Raises:
        ArchiveError: The archive does not take them; those that it has taken stay.
    """
    result = Imported()
    tests: list[_Test] = []
    for done, path in enumerate(files, start=1):
        try:
            found, transfers = read_file(path, kind)
        except ImportedFileError as error:
            result.problems.append(str(error))
            continue
        finally:
            progress(Step.READ, done, len(files))
        result.files_read += 1
        ids = content_ids(transfers)
        source = f"{found.name} {path.name}"
        tests += [_Test(test, trial_id, source) for test, trial_id in zip(transfers, ids, strict=True)]
    if tests:
        with writer() as archive:
            _take_in(_in_order(tests), archive, sweep, known or {}, result, progress)
    return result


def _in_order(tests: list[_Test]) -> list[_Test]:
    if any(test.transfer.started_at is None for test in tests):
        return tests
    return sorted(tests, key=lambda test: test.transfer.started_at or datetime.min.replace(tzinfo=UTC))


def _take_in(
    tests: Sequence[_Test],
    archive: ArchiveWriter,
    sweep: str,
    known: Known,
    result: Imported,
    progress: ProgressListener,
) -> None:
    numbering = Numbering(archive.imported.values(), [test.transfer.started_at for test in tests])
    seen = set(archive.imported)
    batch: list[ImportedOutcome] = []
    for done, test in enumerate(tests, start=1):
        if test.trial_id in seen:
            result.known += 1
        else:
            seen.add(test.trial_id)
            batch.append(
                outcome_of(
                    with_known(test.transfer, known),
                    test.trial_id,
                    sweep=sweep,
                    imported_from=test.imported_from,
                    numbering=numbering,
                )
            )
            result.taken += 1
        if len(batch) == _AT_ONCE:
            archive.take_in(batch)
            batch = []
        progress(Step.TAKEN_IN, done, len(tests))
    archive.take_in(batch)
    archive.compact()
