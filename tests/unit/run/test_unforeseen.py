"""What nobody expected costs one trial, is recorded, and the campaign goes on."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from analysis_support import make_trial
from fake_engine import FakeChannel, FakeNetwork
from flowsweep.errors import ArchiveError
from flowsweep.hosts.messages import Prepare, Start, Stop
from flowsweep.run import pair, trial
from flowsweep.run.conductor import Conditions, run_campaign
from flowsweep.run.deadlines import Deadlines
from flowsweep.run.events import CampaignEvent, EventListener, TrialRunning
from flowsweep.run.observer import PathObserver
from flowsweep.run.sessions import Patience
from flowsweep.schedule import Slot
from run_support import HOSTS, ListRecorder

BRIEF = {"duration_ns": 5_000_000, "drain_timeout_ns": 5_000_000}


def three_trials() -> list[Slot]:
    return [Slot(trials=(make_trial(repeat=number, **BRIEF),)) for number in (1, 2, 3)]


def run(
    slots: Sequence[Slot],
    network: FakeNetwork | None = None,
    paths: PathObserver | None = None,
    events: EventListener = lambda _: None,
) -> ListRecorder:
    recorder = ListRecorder()
    network = network or FakeNetwork()
    conditions = Conditions(network.connect, Patience(0.001, 0.01), Deadlines(0.01, 0.01, 0.01), paths=paths)

    async def in_time() -> None:
        async with asyncio.timeout(20):
            await run_campaign(slots, HOSTS, recorder, conditions=conditions, events=events)

    asyncio.run(in_time())
    return recorder


def raising(function: Callable[..., Any], error: BaseException, call: int) -> Callable[..., Any]:
    """Do as the function does, but for one call, counted from 1; 0 is every call."""
    calls = 0

    def called(*given: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if call in (0, calls):
            raise error
        return function(*given, **named)

    return called


def test_an_error_while_a_trial_is_prepared_is_its_failure_and_nothing_of_it_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    network = FakeNetwork()
    monkeypatch.setattr(pair, "connect", raising(pair.connect, KeyError("port"), 2))
    recorder = run(three_trials(), network)
    assert recorder.statuses == ["ok", "failed", "ok"]
    failure = recorder.outcomes[1].record.failure
    assert (failure.kind, failure.host, failure.phase) == ("unforeseen", "the controller", "run")
    assert "nobody expected this, please report it: KeyError: 'port', at flowsweep.run.pair line " in str(
        failure
    )
    assert [entry for entry in network.log if entry.startswith("stop")] == ["stop b"], "b listened already"


def test_an_engine_that_cannot_even_be_told_to_stop_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    send = FakeChannel.send

    async def send_unless_stop(channel: FakeChannel, request: Prepare | Start | Stop) -> None:
        if not isinstance(request, Stop):
            await send(channel, request)
            return
        raise RuntimeError("why")

    monkeypatch.setattr(FakeChannel, "send", send_unless_stop)
    network = FakeNetwork(mishaps={("a", 2): "prepare"})
    assert run(three_trials(), network).statuses == ["ok", "failed", "ok"]
    assert network.log.count("open b") == 2


def test_an_error_in_what_engines_reported_is_the_failure_of_the_trial(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(trial, "outcome_of", raising(trial.outcome_of, ZeroDivisionError("by\nzero"), 2))
    recorder = run(three_trials())
    assert recorder.statuses == ["ok", "failed", "ok"]
    assert "ZeroDivisionError: by zero, at flowsweep.run.trial line " in str(
        recorder.outcomes[1].record.failure
    )


def test_where_every_trial_meets_it_every_trial_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "outcome_of", raising(trial.outcome_of, RuntimeError("why"), 0))
    assert run(three_trials()).statuses == ["failed"] * 3


def test_the_other_direction_does_not_wait_for_one_that_never_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "own_traffic", raising(trial.own_traffic, RuntimeError("why"), 1))
    there = make_trial(simultaneous=True, **BRIEF)
    back = make_trial(simultaneous=True, src="b", dst="a", **BRIEF)
    recorder = run([Slot(trials=(there, back)), *three_trials()])
    kinds = [one.record.failure.kind for one in recorder.outcomes if one.record.failure is not None]
    assert kinds == ["unforeseen", "not_simultaneous"]
    assert recorder.statuses == ["failed", "failed", "ok", "ok", "ok"]


class Paths:
    """Paths that cannot say what they did during the first trial."""

    def __init__(self) -> None:
        self.ended = 0
        self._take = raising(tuple, LookupError("counters"), 1)

    def watch(self, _pairs: object) -> "Paths":
        return self

    async def broken(self) -> tuple[str, str]:
        await asyncio.Event().wait()
        raise AssertionError

    async def take(self) -> Sequence[Mapping[str, object]]:
        return self._take()

    def end(self) -> None:
        self.ended += 1


def test_an_error_of_whoever_watches_the_paths_is_the_failure_of_the_trial() -> None:
    paths = Paths()
    assert run(three_trials(), paths=paths).statuses == ["failed", "ok", "ok"]
    assert paths.ended == 3


@pytest.mark.parametrize(
    "error", [OSError("the terminal is gone"), ArchiveError("full"), KeyboardInterrupt(), SystemExit(3)]
)
def test_what_is_no_trials_own_still_ends_the_campaign(error: BaseException) -> None:
    def fail(event: CampaignEvent) -> None:
        if isinstance(event, TrialRunning):
            raise error

    with pytest.raises(type(error)):
        run(three_trials(), events=fail)
