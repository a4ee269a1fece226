"""What the commands of one trial record: it in memory, and with `--save` an ordinary archive, too."""

from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from flowsweep.errors import ArchiveError
from flowsweep.plan import Plan
from flowsweep.run.outcome import TrialOutcome

if TYPE_CHECKING:
    from flowsweep.archive import ArchiveWriter

NO_SEED = 0
"""There is one trial, and no order."""


def refuse_what_is_there(folder: Path) -> None:
    """Refuse a folder that no new archive may be made in, before anything is started.

    Raises:
        ArchiveError: It has something in it, or is none.
        OSError: It cannot be read.
    """
    if not folder.exists():
        return
    what = "holds something already" if folder.is_dir() else "is no folder"
    if not folder.is_dir() or any(folder.iterdir()):
        raise ArchiveError(
            f"{folder}: {what}. --save makes a new archive and changes none: "
            "choose a folder that is empty or not there yet."
        )


class OneTrialRecord:
    """A recorder of one trial. Its archive is made once all hosts have answered: before, nothing is written.

    Args:
        plan: Of the trial.
        folder: Where the archive is made; absent: none is.
        seed: Of the order of its trials.
    """

    def __init__(self, plan: Plan, folder: Path | None, seed: int = NO_SEED) -> None:
        self.outcomes: list[TrialOutcome] = []
        self.facts: dict[str, dict[str, object]] = {}
        self._seed = seed
        self._plan = plan
        self._folder = folder
        self._writer: ArchiveWriter | None = None

    @property
    def begun(self) -> bool:
        """Whether there is an archive."""
        return self._writer is not None

    def hosts(self, facts: dict[str, dict[str, object]]) -> None:
        """Keep what the engines see of their hosts, in a new archive the first time."""
        self.facts.update(facts)
        if self._folder is not None and self._writer is None:
            from flowsweep.archive.writer import create_archive

            plan_json = self._plan.model_dump_json()
            self._writer = create_archive(self._folder, plan_json=plan_json, seed=self._seed)
        if self._writer is not None:
            self._writer.hosts(facts)

    def started(self, trial_id: str, attempt: int, at: datetime) -> None:
        """Keep that the attempt begins."""
        if self._writer is not None:
            self._writer.started(trial_id, attempt, at)

    def finished(self, outcome: TrialOutcome) -> None:
        """Keep the attempt, whatever came of it."""
        self.outcomes.append(outcome)
        if self._writer is not None:
            self._writer.finished(outcome)

    def take_back(self) -> bool:
        """Remove an archive in which no trial came to its end: it would be in the same command's way.

        No record may follow. Returns whether it is gone.
        """
        if self._writer is None or self._folder is None or self.outcomes:
            return False
        with suppress(OSError, ArchiveError):
            self._writer.take_back(with_attempts=True)
            return not self._folder.exists() or not any(self._folder.iterdir())
        return False

    def close(self) -> None:
        """Let others write the archive. Everything is on disk already."""
        if self._writer is not None:
            self._writer.close()
