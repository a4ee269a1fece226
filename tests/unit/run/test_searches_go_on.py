"""A step of a search in rounds that fails costs that step, whatever it failed of."""

import asyncio

import pytest

from fake_engine import FakeNetwork, access
from flowsweep.run import conductor, trial
from flowsweep.run.conductor import Conditions, run_campaign
from flowsweep.run.deadlines import Deadlines
from flowsweep.run.events import CampaignEvent, TrialFinished
from flowsweep.run.resume_state import ResumeState
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
