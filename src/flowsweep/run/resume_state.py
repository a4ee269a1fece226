"""What is known of a campaign's trials before one more of them runs."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from flowsweep.plan.searching.model import SearchInRounds
from flowsweep.run.outcome import FinishedTrial
from flowsweep.schedule import Learned, Slot, course_of, followed


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


def followed_from(
    slots: Iterable[Slot], finished: Mapping[str, FinishedTrial], whole: Collection[str]
) -> frozenset[str]:
    """Find trials that are not whole and do not run again, since later rounds of a search followed from them.

    Where they came out otherwise, those rounds would be none of the search's any more: it would have to spend
    what it may once more. What none followed from, as all of the last round, runs again; so does a search of
    which no trial was whole.

    Args:
        slots: Of the campaign.
        finished: Trials that its archive has.
        whole: Ids of those that need not run again anyway.
    """
    learned = {name: trial.learned for name, trial in finished.items() if trial.learned is not None}
    kept: set[str] = set()
    for slot in slots:
        if not isinstance(slot.search, SearchInRounds):
            continue
        course = course_of(slot, learned)
        if any(name in whole for name in course):
            rounds = [finished[name].repeat for name in course]
            # Where a search for a window follows one for flows, its rounds begin at 1 again.
            while rounds and rounds[-1] == finished[course[-1]].repeat:
                rounds.pop()
            kept.update(name for name in course[: len(rounds)] if name not in whole)
    return frozenset(kept)
