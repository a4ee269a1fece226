"""A search as trials: which one comes next, from what those before it gave."""

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from flowsweep.defaults import SECOND_NS
from flowsweep.plan.searching.model import BestSearch, FlowsSearch, OfPlateau, RateSearch, WindowSearch
from flowsweep.schedule.search.rate import next_rate_bps
from flowsweep.schedule.search.tried import Tried
from flowsweep.schedule.trial import Slot, Trial

if TYPE_CHECKING:
    from flowsweep.schedule.search.best import BestDecision
    from flowsweep.schedule.search.plateau import Decision


class EndedEarly(NamedTuple):
    """What a step of a search in rounds gave that ended when its mean was known."""

    goodput_bps: float
    lasted_ns: int


Learned = bool | float | EndedEarly
"""What a step of a search gave: whether its rate was carried; of one in rounds goodput in bit/s, 0 of a trial
that failed."""


def followed(slot: Slot, learned: Mapping[str, Learned]) -> tuple[int, Slot | None]:
    """Follow a search as far as it is known: how many steps that is, and the next one, None at its end.

    Args:
        slot: The first step.
        learned: What trials gave, by trial_id; others than its own may be in it.
    """
    (first,) = slot.trials
    if isinstance(first.search, RateSearch):
        return _rates(first, first.search, learned)
    if isinstance(first.search, OfPlateau):
        return _levels(first, first.search, learned)[:2]
    if isinstance(first.search, BestSearch):
        return _settings(slot, first.search, learned)[:2]
    raise TypeError(f"trial {first.trial_id} is no step of a search")


def course_of(slot: Slot, learned: Mapping[str, Learned]) -> list[str]:
    """List the steps of a search that are known, by trial_id, each after those that it follows from."""
    asked = _Asked(learned)
    followed(slot, asked)
    return asked.course


class _Asked(Mapping[str, Learned]):
    """What trials gave, and which of them were asked for."""

    def __init__(self, learned: Mapping[str, Learned]) -> None:
        self._learned = learned
        self.course: list[str] = []

    def __getitem__(self, trial_id: str) -> Learned:
        gave = self._learned[trial_id]
        self.course.append(trial_id)
        return gave

    def __iter__(self) -> Iterator[str]:
        return iter(self._learned)

    def __len__(self) -> int:
        return len(self._learned)


def steps_left(slot: Slot, done: int, learned: Mapping[str, Learned]) -> int:
    """How many steps of a slot may follow those that are done, if each lasts as long as it may.

    Of those that end early more may follow than its time holds whole ones; what these left of it is known
    after each whole round.
    """
    left = slot.steps - done
    if slot.steps == slot.whole_steps:
        return left
    best = best_state(slot, learned)
    states = [decision.left for _, decision in plateau_states(slot, learned)]
    within = states[-1] if best is None else best.left
    return max(0, min(left, within.trials))


def largest_step(trial: Trial) -> Trial:
    """The step of its search that may send most, if it is one of a search."""
    match trial.search:
        case RateSearch() as search:
            return at_rate(trial, search.high_bps)
        case FlowsSearch() as search:
            return at_flows(trial, search, search.high_flows, trial.repeat)
        case _:
            return trial


def plateau_states(slot: Slot, learned: Mapping[str, Learned]) -> "list[tuple[Trial, Decision]]":
    """What searches for the plateau decided after their last whole round, by their first step.

    Those of a slot follow each other: flows, and then a window. Of other slots there are none.
    """
    search = slot.search
    return _levels(slot.trials[0], search, learned)[2] if isinstance(search, OfPlateau) else []


def best_state(slot: Slot, learned: Mapping[str, Learned]) -> "BestDecision | None":
    """What a search for the best decided after its last whole round; None of other slots."""
    search = slot.search
    return _settings(slot, search, learned)[2] if isinstance(search, BestSearch) else None


def _rates(first: Trial, search: RateSearch, learned: Mapping[str, Learned]) -> tuple[int, Slot | None]:
    rates: dict[int, bool] = {}
    while (rate_bps := next_rate_bps(search, rates)) is not None:
        step = at_rate(first, rate_bps)
        if step.trial_id not in learned:
            return len(rates), Slot(trials=(step,))
        rates[rate_bps] = bool(learned[step.trial_id])
    return len(rates), None


def _levels(
    first: Trial, search: OfPlateau, learned: Mapping[str, Learned]
) -> "tuple[int, Slot | None, list[tuple[Trial, Decision]]]":
    steps, following, decision = _of_one(first, search, search, learned)
    states = [(first, decision)]
    if following is not None or not isinstance(search, FlowsSearch):
        return steps, following, states
    then = search.then
    if then is None or decision.belief is None:
        return steps, None, states
    fewest = decision.belief.in_whole[0]
    least, most = decision.bounds
    flows = most if decision.end == "rising" else min(max(fewest, least), most)
    next_first = at_flows(first, search, flows, first.repeat).model_copy(update={"search": then})
    _, duration_ns, size = left = decision.left
    within = {"trials_max": search.trials_max - steps, "duration_max_ns": duration_ns, "bytes_max": size}
    sends_ns = first.parameters.duration_ns + first.pad_ns
    carried_bytes = decision.belief.plateau_bps * sends_ns / (8 * SECOND_NS)
    more, following, decision = _of_one(next_first, then, then.model_copy(update=within), learned)
    if more == 0 and not left.holds(len(decision.levels), carried_bytes):
        # Nothing is left for a round over its range.
        return steps, None, [*states, (next_first, replace(decision, levels=(), end="budget"))]
    return steps + more, following, [*states, (next_first, decision)]


def _of_one(
    first: Trial, search: OfPlateau, within: OfPlateau, learned: Mapping[str, Learned]
) -> tuple[int, Slot | None, "Decision"]:
    """Go through one search; `within` is the same with the budget that it has."""

    def at_level(level: int, round_: int) -> Trial:
        if isinstance(search, FlowsSearch):
            return at_flows(first, search, level, round_)
        return at_window(first, search, level, round_)

    # It needs NumPy, which only campaigns that search load.
    from flowsweep.schedule.search.plateau import decide

    beside = Slot(trials=(first,)).beside
    within, whole = _in_whole_bytes(within, first.total_flows)
    return _in_rounds(
        first,
        lambda tried, failed: decide(within, first.parameters.duration_ns, tried, failed, beside),
        lambda decision: list(dict.fromkeys(map(whole, decision.levels))),
        at_level,
        learned,
    )


def _in_whole_bytes(search: OfPlateau, flows: int) -> tuple[OfPlateau, Callable[[int], int]]:
    """A search over levels that flows can have, and how to get one from another: in whole bytes per flow.

    Window sums that fall on the same window of a flow are the same trial.
    """
    if not isinstance(search, WindowSearch) or search.of != "window_sum_bytes":
        return search, lambda level: level
    ends = {"low_bytes": search.low - search.low % flows, "high_bytes": search.high - search.high % flows}
    return search.model_copy(update=ends), lambda level: level - level % flows


def _settings(
    slot: Slot, search: BestSearch, learned: Mapping[str, Learned]
) -> tuple[int, Slot | None, "BestDecision"]:
    from flowsweep.schedule.search.best import decide_best

    first, settings = slot.trials[0], slot.planned
    trial_ns = first.parameters.duration_ns
    return _in_rounds(
        first,
        lambda tried, failed: decide_best(search, trial_ns, len(settings), tried, failed, slot.beside),
        lambda decision: decision.settings,
        lambda setting, round_: settings[setting].model_copy(update={"repeat": round_}),
        learned,
    )


_Decided = TypeVar("_Decided")


def _in_rounds(
    first: Trial,
    decide: Callable[[tuple[Tried, ...], tuple[int, ...]], _Decided],
    levels_of: Callable[[_Decided], Sequence[int]],
    at_level: Callable[[int, int], Trial],
    learned: Mapping[str, Learned],
) -> tuple[int, Slot | None, _Decided]:
    """Go round by round: how many steps are known, the next one, and what the last whole round decided."""
    tried: list[Tried] = []
    failed: list[int] = []
    round_ = 0
    while True:
        decision = decide(tuple(tried), tuple(failed))
        round_ += 1
        levels = levels_of(decision)
        for level in _in_order(first, levels, round_):
            step = at_level(level, round_)
            if (gave := learned.get(step.trial_id)) is None:
                return len(tried) + len(failed), Slot(trials=(step,)), decision
            goodput_bps, lasted_ns = gave if isinstance(gave, EndedEarly) else (gave, None)
            if goodput_bps > 0:
                tried.append(Tried(level, round_, math.log(goodput_bps), lasted_ns))
            else:
                failed.append(level)
        if not levels:
            return len(tried) + len(failed), None, decision


def at_window(trial: Trial, search: WindowSearch, window_bytes: int, round_: int) -> Trial:
    """Return a trial with another window, as one of a round of its search."""
    whole = search.of == "window_sum_bytes"
    of_flow = window_bytes // trial.total_flows if whole else window_bytes
    windows = {"window_send_bytes": of_flow, "window_recv_bytes": of_flow}
    return trial.model_copy(
        update={
            "repeat": round_,
            "parameters": trial.parameters.model_copy(update=windows),
            "window_sums_asked_bytes": (of_flow * trial.total_flows if not whole else window_bytes,),
        }
    )


def at_rate(trial: Trial, rate_sum_bps: int) -> Trial:
    """Return a trial of datagrams with another rate of all its flows."""
    paced = trial.parameters.at_rate_sum(rate_sum_bps, trial.total_flows)
    return trial.model_copy(update={"parameters": paced})


def at_flows(trial: Trial, search: FlowsSearch, flows: int, round_: int) -> Trial:
    """Return a trial with another number of flows between each pair, as one of a round of its search."""
    parameters = trial.parameters.model_copy(update={"flows": flows})
    (whole,) = trial.window_sums_asked_bytes or (None,)
    total = len(trial.pairs) * flows
    sums = trial.window_sums_asked_bytes
    if whole is not None and search.window_shared:
        windows = {"window_send_bytes": whole // total, "window_recv_bytes": whole // total}
        parameters = parameters.model_copy(update=windows)
    elif whole is not None:
        sums = (whole // trial.total_flows * total,)
    return trial.model_copy(
        update={"repeat": round_, "parameters": parameters, "window_sums_asked_bytes": sums}
    )


def _in_order(first: Trial, levels: Sequence[int], round_: int) -> list[int]:
    """Put the levels of a round in an order that is drawn: what drifts falls on all alike."""
    generator = random.Random(f"{first.trial_id}/{round_}")
    return sorted(levels, key=lambda _: generator.random())
