"""Take the tests of many files into one archive."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path

from flowsweep.archive import ArchiveWriter, ImportedOutcome
from flowsweep.errors import ImportedFileError
from flowsweep.imports.known import (
    Known,
    assumed_directions,
    left_open,
    rough_windows,
    with_known,
    without_effect,
)
from flowsweep.imports.outcome import Numbering, added_ids, content_ids, former_ids, late_ids, outcome_of
from flowsweep.imports.reading import in_one_line, read_file
from flowsweep.imports.transfer import FailedTestError, Transfer
from flowsweep.imports.unlike import Unlike
from flowsweep.wording import counted

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
    remarks: list[str] = field(default_factory=list)
    """What whoever imports should know of what was taken in, and what was not."""


@dataclass(frozen=True, slots=True)
class _Test:
    transfer: Transfer
    trial_id: str
    former_ids: tuple[str, ...]
    """What earlier versions called it."""
    imported_from: str
    path: Path


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
            told = read_file(path, kind)
        except ImportedFileError as error:
            result.problems.append(str(error))
            continue
        finally:
            progress(Step.READ, done, len(files))
        result.files_read += 1
        result.remarks += _left_out(path, told.failed)
        doubts = (of_file(told.transfers, known or {}) for of_file in (rough_windows, assumed_directions))
        result.remarks += [f"{path}: {doubt}" for doubt in doubts if doubt is not None]
        ids = zip(told.transfers, content_ids(told.transfers), _former_ids(told.transfers), strict=True)
        source = f"{told.kind.name} {path.name}"
        tests += [_Test(test, trial_id, before, source, path) for test, trial_id, before in ids]
    if tests:
        with writer() as archive:
            _take_in(_in_order(tests), archive, sweep, known or {}, result, progress)
    return result


def _former_ids(transfers: Sequence[Transfer]) -> Iterator[tuple[str, ...]]:
    """Of each test of a file, those of all earlier versions."""
    of_versions = [former_ids(transfers, with_rates=read) for read in (False, True)]
    of_versions.append(added_ids(transfers))
    if any(transfer.as_lately for transfer in transfers):
        of_versions.append(late_ids(transfers))
    return zip(*of_versions, strict=True)


def _left_out(path: Path, failed: Sequence[FailedTestError]) -> Iterator[str]:
    """Say of a file's tests that failed how many they are, and why the last one did."""
    if failed:
        is_left = "is left out" if len(failed) == 1 else "are left out; of the last one"
        why = f"{failed[-1].place}: {in_one_line(failed[-1])}"
        yield f"{counted(len(failed), 'test')} of {path} failed and {is_left}: {why}"


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
    seen = _Seen({trial_id: record.imported_from for trial_id, record in archive.imported.items()})
    filled: set[str] = set()
    unlike = Unlike(archive.imported.values())
    batch: list[ImportedOutcome] = []
    for done, test in enumerate(tests, start=1):
        if not seen.is_new(test):
            result.known += 1
        else:
            filled |= left_open(test.transfer, known)
            batch.append(
                outcome_of(
                    with_known(test.transfer, known),
                    test.trial_id,
                    sweep=sweep,
                    imported_from=test.imported_from,
                    numbering=numbering,
                )
            )
            unlike.add(batch[-1].record, test.transfer.asked_bytes)
            result.taken += 1
        if len(batch) == _AT_ONCE:
            archive.take_in(batch)
            batch = []
        progress(Step.TAKEN_IN, done, len(tests))
    archive.take_in(batch)
    archive.compact()
    result.remarks += [*seen.doubts(), *unlike.remarks()]
    if result.taken and (unused := without_effect(known, filled)):
        result.remarks.append(f"--set {', '.join(unused)}: has no effect, since the files tell it themselves")


class _Seen:
    """Which tests are in the archive, and of which it is not sure that they are the same."""

    def __init__(self, sources: dict[str, str]) -> None:
        self._sources = sources
        """By trial_id kind and name of the file that it was imported from."""
        self._paths: dict[str, Path] = {}
        """Likewise, of those imported now, the whole path."""
        self._doubtful: list[tuple[_Test, str]] = []
        """Tests, and where the equal one is."""

    def is_new(self, test: _Test) -> bool:
        """Whether it is none of those before; from now on it is one."""
        known_id = test.trial_id
        if known_id not in self._sources:
            former = (one for one in test.former_ids if one in self._sources and one not in self._paths)
            known_id = next(former, known_id)
        source = self._sources.get(known_id)
        if source is None:
            self._sources[test.trial_id], self._paths[test.trial_id] = test.imported_from, test.path
            return True
        path = self._paths.get(known_id)
        is_other = source != test.imported_from if path is None else path != test.path
        # With a time nothing but the same test is equal.
        if is_other and test.transfer.started_at is None:
            self._doubtful.append((test, source.partition(" ")[2] if path is None else str(path)))
        return False

    def doubts(self) -> Iterator[str]:
        """Say what may be missing: tests of different files that merely had the same result."""
        if not self._doubtful:
            return
        test, other = self._doubtful[0]
        count = len(self._doubtful)
        equal = "is equal to one" if count == 1 else "are equal to some"
        yield (
            f"{counted(count, 'test')} without a time {equal} of another file, and taken for the same: "
            f"{test.path} has what {other} has. Where it is another test, tell its time, as in a column of a "
            "table, or put both into one file, where equal ones count"
        )
