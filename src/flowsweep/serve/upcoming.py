"""Which trial of a plan it is that has begun: the journal tells its id alone until it is settled."""

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import takewhile

from flowsweep.defaults import SECOND_NS
from flowsweep.schedule import Slot, Trial, expand, has_times, occasion_slots, occasions, schedule
from flowsweep.schedule.overdue import due_well_before
from flowsweep.serve.campaign import CampaignModel, Running

_OCCASIONS = 6
"""Times of each sweep before a moment that are looked through, the last ones."""
_TRIALS_MAX = 2_000
"""Of a plan without times, whose ids are worked out."""
_KNOWN_MAX = 20_000


class Upcoming:
    """Finds trials by their ids; what was worked out once is kept."""

    def __init__(self, model: CampaignModel) -> None:
        self._model = model
        self._known: dict[str, Trial] = {}
        self._looked: set[tuple[str, int]] = set()

    def find(self, running: Running) -> Trial | None:
        """The trial that has begun; None where the plan does not say which ones there will be."""
        if running.trial_id not in self._known and self._model.plan is not None:
            if len(self._known) > _KNOWN_MAX:
                self._known.clear()
                self._looked.clear()
            for trial in self._trials(round(running.at.timestamp() * SECOND_NS)):
                self._known[trial.trial_id] = trial
        return self._known.get(running.trial_id)

    def _trials(self, at_ns: int) -> Iterator[Trial]:
        plan, model = self._model.plan, self._model
        if plan is None:
            return
        points = expand(plan)
        if not has_times(plan):
            if ("", 0) not in self._looked and len(points) * plan.campaign.repeats <= _TRIALS_MAX:
                yield from _of(schedule(plan, model.campaign.seed))
            self._looked.add(("", 0))
            return
        after = due_well_before(plan, model.begun_ns, at_ns - _LONGEST_NS)
        for sweep in plan.sweeps:
            own = plan.model_copy(update={"sweeps": (sweep,)})
            of_sweep = [point for point in points if point.sweep == sweep.name]
            due = takewhile(
                lambda one: one.due_unix_ns <= at_ns,
                occasions(own, model.begun_ns, model.campaign.seed, after),
            )
            recent = (one for one in due if one.latest_unix_ns >= at_ns - _LONGEST_NS)
            for occasion in deque(recent, maxlen=_OCCASIONS):
                if occasion.key not in self._looked:
                    self._looked.add(occasion.key)
                    yield from _of(occasion_slots(plan, of_sweep, occasion, model.campaign.seed))


_LONGEST_NS = 600 * SECOND_NS
"""A run may go on for so long after it had to begin."""


def _of(slots: Iterable[Slot]) -> Iterator[Trial]:
    for slot in slots:
        yield from slot.trials
