"""Steps of searches for the fewest flows, and then a window: what of a trial changes, and what does not."""

import math
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from flowsweep.defaults import SECOND_NS
from flowsweep.plan.searching.model import FlowsSearch
from flowsweep.schedule import Learned, Trial, followed, plateau_states, schedule
from flowsweep.schedule.search import steps as search_steps
from flowsweep.schedule.search.plateau import Decision
from flowsweep.schedule.search.steps import EndedEarly, largest_step, steps_left
from plan_support import plan_of

WHOLE = 'find = "plateau"\nflows = { from = 1, to = 16 }\nduration = "4s"\n'


def steps(sweep: str) -> list[Trial]:
    """All steps of a search where three flows carry all there is."""
    (slot,) = schedule(plan_of(WHOLE + sweep), 1)
    learned: dict[str, Learned] = {}
    found: list[Trial] = []
    while (step := followed(slot, learned)[1]) is not None:
        (trial,) = step.trials
        found.append(trial)
        learned[trial.trial_id] = 1e9 * min(1.0, trial.total_flows / 2.5) * (1 + 1e-4 * (len(found) % 3))
    return found


@pytest.mark.parametrize(
    ("sweep", "window_bytes"),
    [
        ("", lambda _: None),
        ('window = "64KiB"', lambda _: 65_536),
        ('window_sum = "1MiB"', lambda flows: (1 << 20) // flows),
    ],
    ids=["the kernel's", "of each flow", "shared"],
)
def test_each_step_has_its_flows_and_the_window_that_was_asked_for(sweep: str, window_bytes: object) -> None:
    assert callable(window_bytes)
    found = steps(sweep)
    assert {1, 2, 3, 16} <= {trial.parameters.flows for trial in found} <= set(range(1, 17))
    assert len({trial.trial_id for trial in found}) == len(found)
    for trial in found:
        expected = window_bytes(trial.total_flows)
        assert trial.parameters.window_bytes == expected
        asked = () if expected is None else (1 << 20 if "sum" in sweep else expected * trial.total_flows,)
        assert trial.window_sums_asked_bytes == asked


@pytest.mark.parametrize("flows", [512, 200, 3, 4])
def test_window_sums_are_whole_windows_of_all_flows_and_no_trial_is_counted_twice(flows: int) -> None:
    """The mean is far from known at any window: noise of 3 %, and 2 % are asked for."""
    keys = (
        f'find = "plateau"\nflows = {flows}\nwindow_sum = {{ from = "4KiB", to = "64KiB" }}\nprecision = "2%"'
    )
    (slot,) = schedule(plan_of(keys), 1)
    learned: dict[str, Learned] = {}
    generator = random.Random(0)
    while (step := followed(slot, learned)[1]) is not None:
        (trial,) = step.trials
        assert trial.window_sums_asked_bytes == (trial.window_sum_bytes,)
        window = trial.window_sum_bytes or 0
        learned[trial.trial_id] = 9.5e7 * min(1.0, window / 3e4) * math.exp(generator.gauss(0, 0.03))
    assert followed(slot, learned)[0] == len(learned)
    [(_, decided)] = plateau_states(slot, learned)
    assert decided.left.trials == slot.steps - len(learned)
    assert decided.bounds == (4096 - 4096 % flows, 65_536 - 65_536 % flows)


def test_it_ends_when_no_other_number_of_flows_is_possible() -> None:
    found = steps("")
    assert len(found) < 20
    assert {2, 3} <= {trial.parameters.flows for trial in found if trial.repeat > 1}


def test_what_a_step_may_take_is_that_of_the_most_flows() -> None:
    first = steps('window_sum = "1MiB"')[0]
    most = largest_step(first)
    assert most.parameters.flows == 16
    assert most.parameters.window_bytes == (1 << 20) // 16


def both(
    keys: str, goodput_bps: Callable[[Trial], float]
) -> tuple[list[Trial], list[tuple[Trial, Decision]], int]:
    """All steps of a search for flows and then a window, what both decided, how many steps were allowed."""
    (slot,) = schedule(plan_of(WHOLE + keys), 1)
    learned: dict[str, Learned] = {}
    found: list[Trial] = []
    while (step := followed(slot, learned)[1]) is not None:
        assert followed(slot, learned)[0] == len(found)
        (trial,) = step.trials
        found.append(trial)
        learned[trial.trial_id] = goodput_bps(trial) * (1 + 1e-4 * (len(found) % 3))
    return found, plateau_states(slot, learned), slot.steps


def by_window(trial: Trial) -> float:
    """Each flow carries 8 Mbit/s at most, and needs 20 KB for that; the path carries 20 Mbit/s."""
    (flows, window_bytes) = trial.total_flows, trial.parameters.window_bytes or 0
    return min(flows * 8e6 * min(1.0, window_bytes / 20_000), 20e6)


@pytest.mark.parametrize(
    "windows",
    ['window = { from = "4KiB", to = "256KiB" }', 'window_sum = { from = "16KiB", to = "1MiB" }'],
    ids=["of each flow", "of all flows"],
)
def test_the_fewest_flows_come_first_and_then_the_smallest_window_with_them(windows: str) -> None:
    found, states, _ = both(windows, by_window)
    of_flows = [trial for trial in found if trial.search == found[0].search]
    of_window = found[len(of_flows) :]
    assert len({trial.trial_id for trial in found}) == len(found)
    # With the largest window three flows are the fewest that carry 97 % of 20 Mbit/s.
    (first, flows_known), (second, window_known) = states
    assert (first.search, second.search) == (found[0].search, of_window[0].search)
    assert flows_known.belief is not None
    assert flows_known.belief.in_whole[0] == 3
    largest = {trial.parameters.window_bytes for trial in of_flows}
    sums = {trial.window_sums_asked_bytes for trial in of_flows}
    assert (largest == {256 << 10}) if "sum" not in windows else (sums == {(1 << 20,)})
    assert {trial.parameters.flows for trial in of_window} == {3}
    # Of three flows, each needs 20/24 of its 20 KB for the path, and 3 % less for what counts as enough.
    assert window_known.belief is not None
    enough = 0.97 * 20_000 * 20 / 24 * (3 if "sum" in windows else 1)
    assert window_known.belief.enough == pytest.approx(enough, rel=0.1)
    assert (flows_known.end, window_known.end) == ("precise", "precise")


def test_both_have_one_budget() -> None:
    windows = 'window = { from = "4KiB", to = "256KiB" }\nat_most = { trials = 16 }'
    found, states, steps = both(windows, by_window)
    assert len(found) <= steps == 16
    assert [one.end for _, one in states] == ["precise", "budget"]
    assert states[1][1].left.trials < 3
    found, states, steps = both(windows.replace("16", "12"), by_window)
    # What the first left does not suffice for a round over the range of the second.
    assert len(found) < steps == 12
    assert states[1][1].belief is None
    assert {trial.search for trial in found} == {found[0].search}


def test_where_goodput_rises_up_to_the_most_flows_that_work_the_window_is_searched_with_these() -> None:
    def few(trial: Trial) -> float:
        return 0.0 if trial.parameters.flows > 12 else trial.total_flows * 1e6

    found, states, _ = both('window = { from = "4KiB", to = "256KiB" }', few)
    (_, flows_known), (second, _) = states
    worked = {trial.parameters.flows for trial in found if few(trial)}
    assert flows_known.end == "rising"
    assert second.parameters.flows == max(worked) <= 12


def test_the_second_search_begins_only_if_what_its_first_round_may_send_is_left() -> None:
    """With 20 Mbit/s a trial of 4 s sends 10 MB."""
    windows = 'window = { from = "4KiB", to = "256KiB" }\nat_most = { bytes = "%dMB" }'
    found, states, _ = both(windows % 1000, by_window)
    of_flows = sum(trial.search == found[0].search for trial in found)
    used = sum(by_window(trial) for trial in found[:of_flows]) * 4 / 8e6
    found, states, _ = both(windows % (used + 30), by_window)
    assert len(found) == of_flows
    assert [one.end for _, one in states] == ["precise", "budget"]


def test_where_goodput_still_rises_the_window_is_searched_with_the_most_flows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is believed to be enough may lie below, as the interval is open."""
    of_one = search_steps._of_one

    def rising(*given: Any) -> Any:
        steps, following, decision = of_one(*given)
        known = decision.end == "precise" and isinstance(given[1], FlowsSearch)
        return steps, following, replace(decision, end="rising") if known else decision

    monkeypatch.setattr(search_steps, "_of_one", rising)
    found, states, _ = both('window = { from = "4KiB", to = "256KiB" }', by_window)
    (_, flows_known), (second, _) = states
    assert flows_known.belief is not None
    assert (flows_known.end, flows_known.belief.in_whole[0]) == ("rising", 3)
    assert second.parameters.flows == 16
    assert {trial.parameters.flows for trial in found if trial.search == second.search} == {16}


def test_steps_that_end_early_are_as_many_as_the_time_of_a_search_holds() -> None:
    """Of 8 s at most, 1.5 s at least: 12 whole ones and a rest, or four times as many."""
    keys = (
        'find = "plateau"\nwindow = { from = "64KiB", to = "64MiB" }\n'
        'duration = { until = "2%", at_least = "1s", at_most = "8s" }\n'
        'interval = "100ms"\nsample_interval = "50ms"\n'
        'at_most = { trials = 40, duration = "107s" }\n'
    )
    (slot,) = schedule(plan_of(keys), 1)
    assert (slot.whole_steps, slot.steps) == (13, 40)
    ways = []
    for lasted_ns in (8 * SECOND_NS, 2 * SECOND_NS):
        learned: dict[str, Learned] = {}
        while (step := followed(slot, learned)[1]) is not None:
            (trial,) = step.trials
            window = trial.window_sum_bytes
            assert window is not None
            # Noise of 10 %, so that it goes on for as long as it may.
            goodput_bps = 1e9 * min(1.0, window / 1e6) * (1 + 0.1 * (-1) ** len(learned))
            learned[trial.trial_id] = EndedEarly(goodput_bps, lasted_ns)
            left = steps_left(slot, len(learned), learned)
            # As many whole ones as the time that is left holds, or at the beginning of their round did.
            left_ns = 107 * SECOND_NS - len(learned) * (lasted_ns + slot.beside.overhead_ns)
            whole = left_ns // (8 * SECOND_NS + slot.beside.overhead_ns)
            assert min(40 - len(learned), whole) <= left <= min(40 - len(learned), whole + 8)
        ways.append(len(learned))
    assert ways[0] <= 12 < ways[1] <= 40
