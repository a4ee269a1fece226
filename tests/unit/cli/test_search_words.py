"""What `run` says of its searches after each round."""

import io
from dataclasses import replace
from types import SimpleNamespace

import pytest

from analysis_support import make_trial
from flowsweep.cli.progress import progress_view
from flowsweep.cli.search_words import belief_words, best_words
from flowsweep.cli.terminal import Screen
from flowsweep.defaults import SECOND_NS
from flowsweep.plan.searching.model import Left
from flowsweep.run import beliefs
from flowsweep.run.events import BestBelieved, CampaignStarted, SearchBelieves
from flowsweep.schedule import Learned, Slot, followed, schedule
from flowsweep.schedule.search.belief import Belief, Lower
from flowsweep.schedule.search.best import BestBelief, BestEnd
from flowsweep.schedule.search.plateau import End
from plan_support import plan_of
from searched_responses import asked_flows

TRIAL = make_trial(flows=4, window_bytes=262_144)
RANGE = (1 << 16, 64 << 20)


@pytest.mark.parametrize(
    ("belief", "windows", "end", "words"),
    [
        (Belief(1e6, None, None, 1e9), (65_536, 2_097_152), None, "about 977 KiB, not yet bounded, plateau"),
        (Belief(1e6, None, None, 1e9), (65_536, 2_097_152), None, "Gbit/s; next: 64 KiB, 2 MiB; at most"),
        (Belief(1e6, None, None, 1e9), (65_536,), None, "at most 21 trials, 1 min 30 s and 1.20 GB left"),
        (Belief(1e6, 9e5, 1.2e6, 1e9), (), "precise", "is 977 KiB, +20.0 % −10.0 %, plateau 1.00 Gbit/s"),
        (Belief(1e6, 9e5, None, 1e9), (), "budget", "Gbit/s; over: no trial is left within `at_most`"),
    ],
)  # fmt: skip
def test_what_a_search_believes_is_said_after_each_round(
    belief: Belief, windows: tuple[int, ...], end: End | None, words: str
) -> None:
    event = SearchBelieves(TRIAL, belief, windows, end, Left(21, 90 * SECOND_NS, 1_200_000_000))
    output = io.StringIO()
    with progress_view(Screen(file=output, width=300)) as show:
        show(CampaignStarted(trials=60, done=0, left_ns=20 * SECOND_NS, at_most=True))
        show(event)
    first, second = output.getvalue().splitlines()
    assert first == "at most 60 of 60 trials to run, 20 s"
    assert second.strip().startswith("search a → b: ")
    assert words in second


@pytest.mark.parametrize(
    ("belief", "flows", "words"),
    [
        (Belief(2.4, None, None, 1e9), (2, 3, 8), "enough is about 3 flows, not yet bounded, plateau"),
        (Belief(2.4, 2.0, 3.0, 1e9), (2, 3), "enough is 3 flows, plateau 1.00 Gbit/s; next: 2, 3 flows; "),
        (Belief(2.4, 1.0, 5.2, 1e9), (2, 3, 8), "enough is 3 flows, 2 to 6, plateau"),
    ],
)  # fmt: skip
def test_what_a_search_for_flows_believes_is_said_in_whole_flows(
    belief: Belief, flows: tuple[int, ...], words: str
) -> None:
    trial = TRIAL.model_copy(update={"search": asked_flows()})
    output = io.StringIO()
    with progress_view(Screen(file=output, width=300)) as show:
        show(CampaignStarted(trials=60, done=0, left_ns=20 * SECOND_NS, at_most=True))
        show(SearchBelieves(trial, belief, flows, None, Left(21, None, None)))
    assert words in output.getvalue().splitlines()[1]


@pytest.mark.parametrize(
    ("belief", "bounds", "end", "words"),
    [
        (Belief(159 << 20, 60 << 20, None, 1e9), RANGE, "rising", "more than 60 MiB; over: goodput"),
        (Belief(300 << 20, 99 << 20, None, 1e9), RANGE, "rising", "more than 64 MiB; over: goodput"),
        (Belief(55_800, None, 65_536, 1e9), RANGE, "level", "at most 64 KiB, plateau 1.00 Gbit/s; "),
        (Belief(55_800, None, 65_536, 1e9), (1 << 17, 64 << 20), "level", "at most 128 KiB, plateau "),
        (Belief(159 << 20, None, None, 1e9), RANGE, None, "about 64 MiB, not yet bounded, pl"),
        (Belief(55_800, None, None, 1e9), RANGE, "budget", "about 64 KiB, not yet bounded, pl"),
        (Belief(4_927_561, 3_876_157, 7_805_622, 1e9), (1 << 16, 4 << 20), None, "about 4 MiB, not yet"),
        (Belief(253 << 10, 233 << 10, 263 << 10, 1e9), (1 << 18, 4 << 20), None, "256 KiB, +2.73 % −8.98 %"),
    ],
)  # fmt: skip
def test_no_estimate_is_named_beyond_what_may_be_enough(
    belief: Belief, bounds: tuple[int, int], end: End | None, words: str
) -> None:
    said = belief_words(SearchBelieves(TRIAL, belief, (1 << 20,), end, Left(21, None, None), bounds))
    assert f"search a → b: enough is {words}" in said
    assert ("plateau" in said) == (end != "rising")


@pytest.mark.parametrize(
    ("belief", "end", "words"),
    [
        (Belief(40.0, 15.9, None, 1e9), "rising", "more than 15 flows; over: goodput rises"),
        (Belief(0.4, None, 1.0, 1e9), "level", "at most 1 flow, plateau 1.00 Gbit/s; over: "),
        (Belief(40.0, None, None, 1e9), None, "about 16 flows, not yet bounded, plateau"),
        (Belief(17.5, 15.2, 17.7, 1e9), None, "about 16 flows, not yet bounded, plateau"),
    ],
)
def test_no_number_of_flows_is_named_beyond_what_may_be_enough(
    belief: Belief, end: End | None, words: str
) -> None:
    trial = TRIAL.model_copy(update={"search": asked_flows()})
    said = belief_words(SearchBelieves(trial, belief, (2,), end, Left(21, None, None), (1, 16)))
    assert f"search a → b: enough is {words}" in said


AGAIN = Lower(((10, 6e8), (32, 5.9e8)), sure=False, up_to=None, again=None, highest=(3, 7.51e8))


@pytest.mark.parametrize(
    ("belief", "words", "sure"),
    [
        (
            Belief(40.0, None, None, 7.51e8, AGAIN),
            "how many flows are enough is not known yet, most is 751 Mbit/s at 3 flows; at more flows ",
            "may be",
        ),
        (
            Belief(2.9, 2.0, 3.0, 7.51e8, replace(AGAIN, sure=True, up_to=3)),
            "enough is 3 flows, plateau 751 Mbit/s; beyond 3 flows ",
            "is",
        ),
    ],
)
def test_where_goodput_is_lower_again_it_is_said(belief: Belief, words: str, sure: str) -> None:
    trial = TRIAL.model_copy(update={"search": asked_flows()})
    said = belief_words(SearchBelieves(trial, belief, (2,), None, Left(21, None, None), (1, 32)))
    lower = f"goodput {sure} lower again: 600 Mbit/s at 10 flows, 590 Mbit/s at 32 flows"
    assert said.startswith(f"search a → b: {words}{lower}; next: 2 flows; ")


def test_a_search_that_ended_without_an_answer_says_so() -> None:
    trial = TRIAL.model_copy(update={"search": asked_flows()})
    left = Left(0, None, None)
    assert belief_words(SearchBelieves(TRIAL, None, (), "budget", left)) == (
        "search a → b: which window is enough is not known; over: no trial is left within `at_most`"
    )
    assert belief_words(SearchBelieves(trial, None, (), "failures", left)) == (
        "search a → b: how many flows are enough is not known; over: too many trials failed"
    )


def test_of_a_search_that_never_began_it_is_told_why(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = SimpleNamespace(belief=None, levels=(), end=None, left=Left(0, None, None))
    over = SimpleNamespace(belief=None, levels=(), end="budget", left=Left(0, None, None))
    monkeypatch.setattr(beliefs, "plateau_states", lambda *_: [(TRIAL, nothing), (TRIAL, over)])
    [(name, event)] = beliefs.beliefs_of(Slot(trials=(TRIAL,)), {})
    assert (name, event.end) == (TRIAL.trial_id, "budget")


@pytest.mark.parametrize(
    ("open_", "next_", "end", "words"),
    [
        ((1,), (0, 1), None, "1.00 Gbit/s, 1 other may have over 10.0 % more; next: 8 flows; at"),
        ((), (0, 1), None, "best so far is 4 flows, 1.00 Gbit/s, none of the others has over 10.0 % more"),
        ((), (), "precise", "has over 10.0 % more; over: no other can be better by more than was asked"),
        ((1,), (), "budget", "may have over 10.0 % more; over: no trial is left within `at_most`"),
    ],
)  # fmt: skip
def test_what_a_search_for_the_best_believes_is_said_after_each_round(
    open_: tuple[int, ...], next_: tuple[int, ...], end: BestEnd | None, words: str
) -> None:
    more = TRIAL.model_copy(update={"parameters": TRIAL.parameters.model_copy(update={"flows": 8})})
    belief = BestBelief(0, 1e9, ((1, 0.1, -0.2, 0.4),), open_)
    event = BestBelieved((TRIAL, more), 0.1, belief, next_, end, Left(21, None, None))
    output = io.StringIO()
    with progress_view(Screen(file=output, width=300)) as show:
        show(CampaignStarted(trials=60, done=0, left_ns=20 * SECOND_NS, at_most=True))
        show(event)
    second = output.getvalue().splitlines()[1]
    assert second.strip().startswith("search a → b: ")
    assert words in second


def test_a_search_for_the_best_that_could_compare_nothing_says_so() -> None:
    (slot,) = schedule(plan_of('find = "best"\ncongestion = ["cubic", "reno"]\n'), 1)
    learned: dict[str, Learned] = {}
    while (step := followed(slot, learned)[1]) is not None:
        assert not list(beliefs.beliefs_of(slot, learned))
        learned[step.trials[0].trial_id] = (
            1e9 if step.trials[0].parameters.congestion_asked == "reno" else 0.0
        )
    [(_, event)] = beliefs.beliefs_of(slot, learned)
    assert isinstance(event, BestBelieved)
    assert best_words(event) == (
        "search left → right: which setting is best is not known; over: too many trials failed"
    )
