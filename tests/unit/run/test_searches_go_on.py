"""A step of a search in rounds that fails costs that step, whatever it failed of."""

import asyncio
import math
import random
from collections.abc import Collection

import pytest

from fake_engine import FakeNetwork, access
from flowsweep.run import conductor, trial
from flowsweep.run.conductor import Conditions, run_campaign
from flowsweep.run.deadlines import Deadlines
from flowsweep.run.events import CampaignEvent, TrialFinished
from flowsweep.run.outcome import FinishedTrial
from flowsweep.run.resume_state import ResumeState, followed_from
from flowsweep.run.sessions import Patience
from flowsweep.schedule import Learned, Slot, followed, schedule
from plan_support import plan_of
from run_support import ListRecorder

SEARCH = """
find = "plateau"
window = { from = "64KiB", to = "4MiB" }
duration = "1s"
interval = "100ms"
"""
HOSTS = {name: access(name) for name in ("left", "right")}


def run(*, away_after: int | None = None, returns: bool = True) -> tuple[Slot, ListRecorder]:
    """Run a search; a host is away after so many trials, until one has failed or for ever."""
    network = FakeNetwork()
    (slot,) = schedule(plan_of(SEARCH), 1)
    recorder = ListRecorder()

    def listen(event: CampaignEvent) -> None:
        if not isinstance(event, TrialFinished):
            return
        if len(recorder.outcomes) == away_after:
            network.unreachable["right"] = 10_000
            network.sessions[-1].lose("connection reset")
        elif returns:
            network.unreachable.clear()

    conditions = Conditions(network.connect, Patience(0.001, 0.01), Deadlines(0.01, 0.01, 0.01))
    asyncio.run(run_campaign([slot], HOSTS, recorder, conditions=conditions, events=listen))
    return slot, recorder


def learned_of(recorder: ListRecorder) -> dict[str, Learned]:
    told = {one.record.trial_id: one.record.learned for one in recorder.outcomes}
    return {name: known for name, known in told.items() if known is not None}


def test_one_step_whose_host_is_away_does_not_end_a_search() -> None:
    slot, recorder = run(away_after=5)
    assert recorder.statuses[:6] == ["ok"] * 5 + ["failed"]
    failure = recorder.outcomes[5].record.failure
    assert failure is not None
    assert failure.kind == "host_unreachable"
    assert set(recorder.statuses[6:]) == {"ok"}
    # What is recorded leads there again.
    learned = learned_of(recorder)
    assert followed(slot, learned) == (len(recorder.outcomes), None)
    state = ResumeState(done=frozenset(learned), learned=learned)
    assert state.next_step(slot) == (len(recorder.outcomes), None)


def test_a_search_whose_host_stays_away_ends_after_its_round() -> None:
    _, recorder = run(away_after=5, returns=False)
    assert "failed" in recorder.statuses
    assert len(recorder.statuses) < 20


def test_a_step_that_failed_of_what_nobody_expected_does_not_end_a_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real, calls = trial.run_trial, 0

    def once_wrong(*given: object, **named: object) -> object:
        nonlocal calls
        calls += 1
        if calls == 5:
            raise RuntimeError("nobody expected this")
        return real(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(conductor, "run_trial", once_wrong)
    _, recorder = run()
    assert recorder.statuses[4] == "failed"
    assert set(recorder.statuses[5:]) == {"ok"}


BEST = 'find = "best"\nflows = [1, 4]\nduration = "1s"\ninterval = "100ms"\n'
BOTH = """
find = "plateau"
flows = { from = 1, to = 8 }
window = { from = "64KiB", to = "1MiB" }
duration = "1s"
interval = "100ms"
"""
AT_MOST = "at_most = { trials = 20 }\n"


def carried_out(
    slot: Slot, finished: dict[str, FinishedTrial], fails: Collection[int] = (), stops_at: int = 99
) -> list[str]:
    """Run what is left of a search as the command does; ids of what ran."""
    whole = {name for name, trial in finished.items() if trial.learned}
    done = whole | followed_from([slot], finished, whole)
    learned = {name: trial.learned for name, trial in finished.items() if name in done}
    told: dict[str, Learned] = {name: gave for name, gave in learned.items() if gave is not None}
    ran: list[str] = []
    step = ResumeState(done=done, learned=told).next_step(slot)[1]
    while step is not None and len(ran) < stops_at:
        (trial,) = step.trials
        noise = random.Random(trial.trial_id).gauss(0, 0.1)
        window = trial.window_sum_bytes or trial.total_flows << 18
        gave = 0.0 if len(ran) in fails else 1e9 * min(1.0, window / 1e6) * math.exp(noise)
        told[trial.trial_id] = gave
        finished[trial.trial_id] = FinishedTrial(1, trial.sweep, trial.repeat, gave)
        ran.append(trial.trial_id)
        step = followed(slot, told)[1]
    return ran


@pytest.mark.parametrize("sweep", [SEARCH, BOTH, BEST])
@pytest.mark.parametrize("failed", [0, 3, 7])
def test_a_resumed_search_stays_on_its_course_and_within_its_budget(sweep: str, failed: int) -> None:
    (slot,) = schedule(plan_of(sweep + AT_MOST), 1)
    finished: dict[str, FinishedTrial] = {}
    carried_out(slot, finished, [failed])
    before = dict(finished)
    # Nothing followed from one of the last round: there is none here.
    assert carried_out(slot, finished) == []
    assert finished == before
    assert len(finished) <= slot.steps == 20


@pytest.mark.parametrize("sweep", [SEARCH, BOTH, BEST])
@pytest.mark.parametrize("stops_at", [2, 5, 9, 12])
def test_after_a_failed_step_a_search_that_was_broken_off_goes_on_as_if_it_had_not_been(
    sweep: str, stops_at: int
) -> None:
    (slot,) = schedule(plan_of(sweep + AT_MOST), 1)
    at_once: dict[str, FinishedTrial] = {}
    in_one = carried_out(slot, at_once, [0])
    finished: dict[str, FinishedTrial] = {}
    first = carried_out(slot, finished, [0], stops_at)
    if len({trial.repeat for trial in finished.values()}) == 1:
        # It is of the last round, and runs again.
        assert carried_out(slot, finished, stops_at=1) == first[:1]
    else:
        assert [*first, *carried_out(slot, finished)] == in_one


def test_failed_steps_of_the_last_round_run_again() -> None:
    (slot,) = schedule(plan_of(SEARCH + AT_MOST), 1)
    finished: dict[str, FinishedTrial] = {}
    ran = carried_out(slot, finished, range(4, 99))
    last = [name for name in ran[4:] if finished[name].repeat == finished[ran[-1]].repeat]
    assert carried_out(slot, finished)[: len(last)] == last


def test_a_search_of_which_nothing_worked_begins_again() -> None:
    (slot,) = schedule(plan_of(BEST), 1)
    finished: dict[str, FinishedTrial] = {}
    failed = carried_out(slot, finished, range(99))
    assert {trial.repeat for trial in finished.values()} == {1, 2}
    assert carried_out(slot, finished)[: len(failed)] == failed
