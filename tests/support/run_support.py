"""A campaign's recorder without an archive."""

from datetime import datetime

from flowsweep.run.outcome import TrialOutcome


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
