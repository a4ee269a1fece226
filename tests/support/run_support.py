"""A campaign of two hosts, and its recorder without an archive."""

from datetime import datetime

from analysis_support import make_trial
from fake_engine import access
from flowsweep.run.outcome import TrialOutcome
from flowsweep.schedule import Slot

HOSTS = {name: access(name) for name in "ab"}


class ListRecorder:
    """Keeps everything in memory."""

    def __init__(self) -> None:
        self.facts: list[dict[str, dict[str, object]]] = []
        self.begun: list[tuple[str, int]] = []
        self.outcomes: list[TrialOutcome] = []

    def hosts(self, facts: dict[str, dict[str, object]]) -> None:
        self.facts.append(facts)

    def started(self, trial_id: str, attempt: int, at: datetime) -> None:
        assert at.tzinfo is not None
        self.begun.append((trial_id, attempt))

    def finished(self, outcome: TrialOutcome) -> None:
        self.outcomes.append(outcome)

    @property
    def statuses(self) -> list[str]:
        return [outcome.record.status for outcome in self.outcomes]


def campaign(trials: int) -> list[Slot]:
    """So many brief trials, one after another."""
    brief = {"duration_ns": 5_000_000, "drain_timeout_ns": 5_000_000}
    return [Slot(trials=(make_trial(repeat=number, **brief),)) for number in range(1, trials + 1)]
