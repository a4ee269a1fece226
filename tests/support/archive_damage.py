"""Archives whose journal is damaged: opened as every command opens them, and what is left of them."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from analysis_support import make_outcome, make_trial
from flowsweep.archive import ArchiveWriter, create_archive, open_archive_for_writing, read_archive
from flowsweep.archive.journal import parse
from flowsweep.archive.state import state_of


def write_campaign(folder: Path, trials: int, *, merged: bool) -> None:
    """Write a campaign of small trials, of which the last but one was tried twice."""
    with create_archive(folder, plan_json="{}", seed=1) as writer:
        writer.hosts({"a": {"kernel": "6.1"}, "b": {"kernel": "6.1"}})
        for repeat in range(1, trials + 1):
            add_trial(writer, repeat)
            if repeat == trials - 1:
                add_trial(writer, repeat)
        if merged:
            writer.compact()


def add_trial(writer: ArchiveWriter, repeat: int) -> None:
    """Run one more attempt at a trial."""
    trial = make_trial(repeat=repeat)
    outcome = make_outcome(trial, attempt=writer.attempts.get(trial.trial_id, 0) + 1)
    writer.started(trial.trial_id, outcome.record.attempt, outcome.record.started_at)
    writer.finished(outcome)


CAMPAIGNS = """
import sys
from itertools import count
from pathlib import Path
from archive_damage import add_trial
from flowsweep.archive import create_archive, open_archive_for_writing
for campaign in count(1):
    folder = Path(sys.argv[1], str(campaign))
    create_archive(folder, plan_json="{}", seed=1).close()
    print(campaign, flush=True)
    for repeat in range(12):
        with open_archive_for_writing(folder) as writer:
            add_trial(writer, 1 + repeat // 2)
            if repeat % 4 == 3:
                writer.compact()
"""


@contextmanager
def campaigns_without_end(folder: Path) -> Iterator[Callable[[], Path]]:
    """Run campaigns of 12 attempts, which merge three times each, in another process; tells the newest."""
    tests = str(Path(__file__).parent)
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {tests!r})\n{CAMPAIGNS}", str(folder)]

    def newest() -> Path:
        begun = [int(path.name) for path in folder.iterdir() if (path / "campaign.json").exists()]
        return folder / str(max(begun))

    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            yield newest
            assert process.poll() is None
        finally:
            process.kill()


def data_of(folder: Path) -> dict[str, bytes]:
    """Every Parquet file of an archive, by its path inside, wherever it lies."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.parquet"))}


def truncations(journal: bytes, step: int = 1) -> Iterator[tuple[str, bytes]]:
    """The journal cut off at every byte."""
    for at in range(0, len(journal), step):
        yield f"cut at {at}", journal[:at]


def flips(journal: bytes, step: int = 1) -> Iterator[tuple[str, bytes]]:
    """The journal with one byte changed, each in turn: to 0, or to its inverse."""
    for at in range(0, len(journal), step):
        for value in {0, journal[at] ^ 0xFF} - {journal[at]}:
            yield f"byte {at} is {value}", journal[:at] + bytes([value]) + journal[at + 1 :]


class Damaged:
    """A pristine archive, and a copy of it whose journal is replaced again and again."""

    def __init__(self, pristine: Path, copy: Path) -> None:
        self._pristine = pristine
        self._copy = copy
        self.journal = (pristine / "journal").read_bytes()
        self._data = data_of(pristine)
        with read_archive(pristine) as archive:
            self._trials = len(archive.records)
        self._renew()

    def open_all_ways(self, what: str, journal: bytes) -> None:
        """Open the copy with a damaged journal, to read and to go on; nothing of its data may be lost."""
        path = self._copy / "journal"
        path.write_bytes(journal)
        known = parse(journal, "journal")
        records = {record.trial_id for record in state_of(known.payloads, path).records.values()}
        with read_archive(self._copy) as archive:
            assert set(archive.records) == records, what
            lost = len(records) < self._trials or known.tail_bytes or known.damaged
            assert archive.losses or not lost, what
        with open_archive_for_writing(self._copy) as writer:
            assert set(writer.done) == records, what
            assert data_of(self._copy) == self._data, what
            assert path.read_bytes() == journal, what
            writer.make_ready()
        left = data_of(self._copy)
        lost = sorted(set(self._data.values()) - set(left.values()))
        assert not lost, f"{what}: {len(lost)} files of data are gone"
        if left != self._data or path.read_bytes() != journal:
            self._renew()

    def _renew(self) -> None:
        shutil.rmtree(self._copy, ignore_errors=True)
        shutil.copytree(self._pristine, self._copy)
