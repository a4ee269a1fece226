"""What a conductor keeps: no more than it needs, and what it writes to the end."""

import asyncio
import threading

import pytest

from analysis_support import make_trial
from fake_engine import FakeNetwork
from flowsweep.run import conductor
from flowsweep.run.conductor import Conditions
from flowsweep.run.keeper import Keeper
from flowsweep.run.resume_state import ResumeState
from flowsweep.schedule import Slot
from run_support import ListRecorder


def test_nothing_is_kept_of_steps_of_a_search_whose_time_is_over() -> None:
    """Steps beside the first have names that no plan tells."""
    conditions = Conditions(FakeNetwork().connect)
    keeper, resume = Keeper(), ResumeState()
    made = conductor._Conductor(None, ListRecorder(), keeper, resume, lambda _: None, conditions)
    first = make_trial(repeat=7)
    steps = [first, first.model_copy(update={"repeat": 7, "sweep": first.sweep, "directions": "both"})]

    async def begin() -> None:
        for step in steps:
            made._learned[(await made._begin(step, 0)).trial.trial_id] = 1.0

    asyncio.run(begin())
    assert made._attempts
    made._forget([Slot(trials=(first,))])
    assert (made._attempts, made._learned, made._begun) == ({}, {}, {})


def test_what_is_being_kept_is_kept_to_the_end_however_often_it_is_cancelled() -> None:
    begun, may_end, kept = threading.Event(), threading.Event(), []

    def keep() -> None:
        begun.set()
        may_end.wait(10)
        kept.append("whole")

    async def cancelled_twice() -> None:
        task = asyncio.create_task(Keeper().keep(keep))
        await asyncio.to_thread(begun.wait, 10)
        for _ in range(2):
            task.cancel()
            await asyncio.sleep(0.01)
            assert not task.done()
        may_end.set()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled_twice())
    assert kept == ["whole"]
