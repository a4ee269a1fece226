"""What is known of a campaign's trials before one more of them runs."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from flowsweep.schedule import Learned, Slot, followed


@dataclass(frozen=True, slots=True)
class ResumeState:
    """What the archive of a campaign that is gone on with has already."""

    done: Collection[str] = frozenset()
    """Ids of the trials that need not run again."""
    attempts: Mapping[str, int] = field(default_factory=dict)
    """How many attempts were begun, by trial id; of a campaign with times only those of its newest part."""
    learned: Mapping[str, Learned] = field(default_factory=dict)
    """Of those that are done and steps of a search: what they gave, by trial id."""
    ran_before: bool = False
    """Whether attempts were begun that are not among these, in parts of the archive that are over."""

    @property
    def has_run(self) -> bool:
        """Whether any attempt was begun."""
        return self.ran_before or bool(self.attempts)

    def next_step(self, slot: Slot) -> tuple[int, Slot | None]:
        """How many steps of a slot are done, and what is to run in its place next; None if nothing is.

        A slot of which one trial is missing runs as a whole: its trials are about each other. A search of
        which a step is done and told nothing is over: it could not go on.
        """
        if slot.search is not None:
            steps, step = followed(slot, self.learned)
            failed = step is not None and all(trial.trial_id in self.done for trial in step.trials)
            return steps, None if failed else step
        if all(trial.trial_id in self.done for trial in slot.trials):
            return 1, None
        return 0, slot
