"""What the searches of a slot believe, as events."""

from collections.abc import Iterator, Mapping

from flowsweep.plan.searching.model import BestSearch
from flowsweep.run.events import BestBelieved, SearchBelieves
from flowsweep.schedule import Learned, Slot, best_state, plateau_states


def beliefs_of(
    slot: Slot, learned: Mapping[str, Learned]
) -> Iterator[tuple[str, SearchBelieves | BestBelieved]]:
    """Say what each search in rounds believes since its last whole round, with the id of its first step.

    Of one that is over and believes nothing, that.
    """
    for first, state in plateau_states(slot, learned):
        if state.belief is not None or state.end is not None:
            told = (state.belief, state.levels, state.end, state.left)
            bounds = None if state.belief is None else state.bounds
            yield first.trial_id, SearchBelieves(first, *told, bounds)
    search, best = slot.search, best_state(slot, learned)
    if isinstance(search, BestSearch) and best is not None and (best.belief or best.end):
        said = (best.belief, best.settings, best.end, best.left)
        yield slot.trials[0].trial_id, BestBelieved(slot.planned, search.precision, *said)
