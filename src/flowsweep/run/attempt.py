"""One attempt at a trial."""

import time
from dataclasses import dataclass
from datetime import UTC, datetime

from flowsweep.schedule.trial import Trial


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at a trial, and when it began."""

    trial: Trial
    number: int
    """From 1."""
    started_at: datetime
    started_ns: int
    """On the monotonic clock."""

    @classmethod
    def now(cls, trial: Trial, number: int) -> "Attempt":
        """An attempt that begins now."""
        return cls(trial, number, datetime.now(UTC), time.monotonic_ns())

    @property
    def name(self) -> str:
        """Unique in a session."""
        return f"{self.trial.trial_id}-{self.number}"

    @property
    def elapsed_ns(self) -> int:
        """How long ago it began."""
        return time.monotonic_ns() - self.started_ns
