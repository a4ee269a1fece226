import asyncio
import threading
import time
from collections import Counter
from dataclasses import replace
from datetime import datetime

import pytest

from analysis_support import make_trial
from datagram_support import make_udp_trial
from fake_engine import FakeNetwork, access
from flowsweep.errors import ArchiveError, LaunchError
from flowsweep.run import conductor
from flowsweep.run.conductor import Conditions, run_campaign
from flowsweep.run.deadlines import Deadlines
from flowsweep.run.events import (
    CampaignEvent,
    CampaignStarted,
    PointBusy,
    SessionLost,
    SessionRegained,
    TrialFinished,
    TrialRunning,
    TrialStarted,
)
from flowsweep.run.outcome import TrialOutcome
from flowsweep.run.resume_state import ResumeState
from flowsweep.run.sessions import Patience
from flowsweep.schedule import Slot, slot_duration_ns
from flowsweep.schedule.packing import Sharing
from run_support import HOSTS, ListRecorder, campaign


def run(
    network: FakeNetwork, slots: list[Slot], resume: ResumeState | None = None
) -> tuple[Counter[str], ListRecorder, list[CampaignEvent]]:
    recorder = ListRecorder()
    events: list[CampaignEvent] = []
    conditions = Conditions(network.connect, Patience(0.001, 0.01), Deadlines(0.01, 0.01, 0.01))
    result = asyncio.run(
        run_campaign(slots, HOSTS, recorder, resume=resume, events=events.append, conditions=conditions)
    )
    return result, recorder, events


def test_all_trials_run_in_order_over_the_same_sessions() -> None:
    network = FakeNetwork()
    slots = campaign(3)
    result, recorder, events = run(network, slots)
    assert result == {"ok": 3}
    assert [outcome.record.trial for outcome in recorder.outcomes] == [slot.trials[0] for slot in slots]
    (facts,) = recorder.facts
    assert set(facts) == {"a", "b"}
    assert facts["a"]["hostname"] == "a"
    assert [entry for entry in network.log if entry.startswith("open")] == ["open a", "open b"]
    assert all(session.closed for session in network.sessions)
    assert [type(event) for event in events] == [
        CampaignStarted,
        *[TrialStarted, TrialRunning, TrialFinished] * 3,
    ]
    assert [event.rate_bps for event in events if isinstance(event, TrialRunning)] == [1_000_000.0] * 3


def test_what_is_done_does_not_run_again_and_attempts_go_on() -> None:
    slots = campaign(3)
    first, second, third = (slot.trials[0].trial_id for slot in slots)
    _, recorder, events = run(
        FakeNetwork(), slots, ResumeState(done={second}, attempts={second: 1, third: 4})
    )
    assert recorder.begun == [(first, 1), (third, 5)]
    left_ns = sum(slot_duration_ns(slot) for slot in slots[:2])
    assert events[0] == CampaignStarted(trials=3, done=1, left_ns=left_ns)
    started = [event for event in events if isinstance(event, TrialStarted)]
    assert [(event.number, event.left_ns) for event in started] == [(2, left_ns), (3, left_ns // 2)]


def test_a_failed_trial_is_recorded_and_the_campaign_goes_on() -> None:
    network = FakeNetwork(mishaps={("b", 2): "prepare", ("b", 3): "drain_timeout"})
    result, recorder, _ = run(network, campaign(4))
    assert recorder.statuses == ["ok", "failed", "incomplete", "ok"]
    assert result == {"ok": 2, "failed": 1, "incomplete": 1}


def test_a_trial_is_put_off_while_a_standing_point_is_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conductor, "POINT_BUSY_PAUSE_S", 0.001)
    network = FakeNetwork(mishaps={("b", 1): "busy", ("b", 2): "busy"})
    result, recorder, events = run(network, campaign(2))
    assert result == {"ok": 2}
    assert len(recorder.begun) == 2, "a point that was busy has begun nothing: it is the same attempt"
    assert [event for event in events if isinstance(event, PointBusy)] == [
        PointBusy("b", "this standing point is busy with alice")
    ]


def test_a_standing_point_that_stays_busy_fails_the_trial_and_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(conductor, "POINT_BUSY_PAUSE_S", 1000.0)
    _, recorder, events = run(FakeNetwork(mishaps={("b", 1): "busy"}), campaign(2))
    assert recorder.statuses == ["failed", "ok"]
    assert not [event for event in events if isinstance(event, PointBusy)]


def test_a_lost_session_is_regained_for_the_next_trial() -> None:
    network = FakeNetwork(mishaps={("b", 1): "dies"})
    _, recorder, events = run(network, campaign(2))
    assert recorder.statuses == ["failed", "ok"]
    assert [type(event) for event in events if isinstance(event, SessionLost | SessionRegained)] == [
        SessionLost,
        SessionRegained,
    ]
    assert network.log.count("open b") == 2
    assert [list(facts) for facts in recorder.facts] == [["a", "b"], ["b"]]


def test_a_host_that_stays_away_is_waited_for_once() -> None:
    network = FakeNetwork(mishaps={("b", 1): "dies"})

    async def connect_once(host):
        session = await network.connect(host)
        network.unreachable["b"] = 100
        return session

    recorder = ListRecorder()
    conditions = Conditions(connect_once, Patience(0.001, 0.01), Deadlines(0.01, 0.01, 0.01))
    hosts = {"b": HOSTS["b"], "a": HOSTS["a"]}
    asyncio.run(run_campaign(campaign(4), hosts, recorder, conditions=conditions))
    assert recorder.statuses == ["failed"] * 4
    kinds = [outcome.record.failure.kind for outcome in recorder.outcomes]
    assert kinds == ["session_lost", *["host_unreachable"] * 3]
    tries = 100 - network.unreachable["b"]
    assert 3 < tries < 10  # some while it was waited for, then one for each of the last two trials


def test_a_host_that_cannot_be_reached_at_the_start_is_an_error_and_nothing_runs() -> None:
    network = FakeNetwork(unreachable={"b": 1})
    with pytest.raises(LaunchError, match="host b: no route to host"):
        run(network, campaign(1))
    assert network.log == ["open a"]
    assert network.sessions[0].closed


def test_a_clock_that_is_set_between_two_trials_of_datagrams_makes_no_delay() -> None:
    jump_ns = 3_000_000_000
    network, recorder = FakeNetwork(carries_bps=1_000_000), ListRecorder()
    hosts = {name: replace(host, shares_files=False) for name, host in HOSTS.items()}
    brief = {"duration_ns": 5_000_000, "drain_timeout_ns": 5_000_000, "omit_ns": 0}

    def set_clock(event: CampaignEvent) -> None:
        if isinstance(event, TrialFinished):
            network.clocks["b"] = jump_ns

    slots = [Slot(trials=(make_udp_trial(repeat=number, **brief),)) for number in (1, 2)]
    conditions = Conditions(network.connect, Patience(0.001, 0.01), Deadlines(0.01, 0.01, 0.01))
    asyncio.run(run_campaign(slots, hosts, recorder, events=set_clock, conditions=conditions))
    before, after = (
        {end.host: end.clock_offset_ns for end in (*outcome.record.sources, *outcome.record.sinks)}
        for outcome in recorder.outcomes
    )
    assert after == before | {"b": before["b"] + jump_ns}


def simultaneous() -> list[Slot]:
    brief = {"duration_ns": 5_000_000, "drain_timeout_ns": 5_000_000}
    there = make_trial(simultaneous=True, **brief)
    back = make_trial(simultaneous=True, src="b", dst="a", **brief)
    return [Slot(trials=(there, back))]


def test_simultaneous_trials_start_when_both_are_ready() -> None:
    network = FakeNetwork()
    result, _, _ = run(network, simultaneous())
    assert result == {"ok": 2}
    starts = [index for index, entry in enumerate(network.log) if entry.startswith("start")]
    prepares = [index for index, entry in enumerate(network.log) if entry.startswith("prepare")]
    assert max(prepares) < min(starts)


def test_a_direction_does_not_run_alone() -> None:
    network = FakeNetwork(mishaps={("a", 1): "prepare"})
    _, recorder, _ = run(network, simultaneous())
    kinds = sorted(outcome.record.failure.kind for outcome in recorder.outcomes)
    assert kinds == ["not_simultaneous", "window_clipped"]
    assert not any(entry.startswith("start") for entry in network.log)


def test_a_direction_that_was_left_alone_is_not_whole() -> None:
    network = FakeNetwork(mishaps={("b", 1): "drain_timeout"})
    slots = simultaneous()
    result, recorder, events = run(network, slots)
    assert result == {"incomplete": 2}
    failures = {outcome.record.trial.src: outcome.record.failure for outcome in recorder.outcomes}
    (broken,) = (host for host, failure in failures.items() if failure.kind == "drain_timeout")
    (alone,) = set(failures) - {broken}
    assert failures[alone].kind == "not_simultaneous"
    assert f"from {broken} to {alone}, at the same time, is incomplete: drain on b: 3 flows" in str(
        failures[alone]
    )
    told = [event.record.status for event in events if isinstance(event, TrialFinished)]
    assert told == ["incomplete", "incomplete"]


def test_ctrl_c_stops_the_running_trial_and_keeps_what_is_done() -> None:
    network = FakeNetwork(mishaps={("b", 2): "silent"})
    recorder = ListRecorder()

    async def interrupted() -> None:
        second_runs = asyncio.Event()
        network.on_silence = second_runs.set
        conditions = Conditions(network.connect)
        running = asyncio.create_task(run_campaign(campaign(3), HOSTS, recorder, conditions=conditions))
        await second_runs.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(interrupted())
    assert recorder.statuses == ["ok"]
    assert len(recorder.begun) == 2
    assert network.log[-1] == "stop b"
    assert all(session.closed for session in network.sessions)


def mesh_slots() -> list[Slot]:
    """From a to b and from left to right, and then across."""
    brief = {"duration_ns": 5_000_000, "drain_timeout_ns": 5_000_000}
    ways = [("a", "b"), ("left", "right"), ("a", "right"), ("left", "b")]
    return [Slot(trials=(make_trial(src=src, dst=dst, **brief),)) for src, dst in ways]


class WatchfulRecorder(ListRecorder):
    """Fails if it is called while it is called."""

    def __init__(self) -> None:
        super().__init__()
        self._turn = threading.Lock()

    def started(self, trial_id: str, attempt: int, at: datetime) -> None:
        assert self._turn.acquire(blocking=False)
        time.sleep(0.002)
        super().started(trial_id, attempt, at)
        self._turn.release()

    def finished(self, outcome: TrialOutcome) -> None:
        assert self._turn.acquire(blocking=False)
        time.sleep(0.002)
        super().finished(outcome)
        self._turn.release()


def run_mesh(
    network: FakeNetwork, at_once: int, resume: ResumeState | None = None
) -> tuple[list[CampaignEvent], WatchfulRecorder]:
    events: list[CampaignEvent] = []
    recorder = WatchfulRecorder()
    hosts = {name: access(name) for name in ("a", "b", "left", "right")}
    conditions = Conditions(
        network.connect, Patience(0.001, 0.01), Deadlines(0.01, 0.01, 0.01), sharing=Sharing(at_once)
    )
    told = {"resume": resume, "events": events.append, "conditions": conditions}
    asyncio.run(run_campaign(mesh_slots(), hosts, recorder, **told))
    return events, recorder


def running_at_once(events: list[CampaignEvent]) -> tuple[int, list[set[str]]]:
    """How many trials ran at the same time at most, and the hosts that did whenever one more began."""
    running: dict[str, set[str]] = {}
    most, hosts = 0, []
    for event in events:
        if isinstance(event, TrialStarted):
            running[event.trial.trial_id] = set(event.trial.hosts)
            most = max(most, len(running))
            hosts.append([host for ends in running.values() for host in ends])
        elif isinstance(event, TrialFinished):
            del running[event.record.trial_id]
    return most, hosts


def test_what_shares_no_host_runs_at_the_same_time_and_is_recorded_one_by_one() -> None:
    events, recorder = run_mesh(FakeNetwork(), at_once=4)
    assert recorder.statuses == ["ok"] * 4
    most, hosts = running_at_once(events)
    assert most == 2
    assert all(len(set(each)) == len(each) for each in hosts)
    numbers = [event.number for event in events if isinstance(event, TrialStarted)]
    assert numbers == [1, 2, 3, 4]
    one_ns = slot_duration_ns(mesh_slots()[0])
    left_ns = [event.left_ns for event in events if isinstance(event, CampaignStarted | TrialStarted)]
    assert left_ns[:3] == [2 * one_ns] * 3
    assert left_ns[-1] >= one_ns


def test_no_more_run_at_the_same_time_than_the_plan_lets() -> None:
    events, recorder = run_mesh(FakeNetwork(), at_once=1)
    assert recorder.statuses == ["ok"] * 4
    assert running_at_once(events)[0] == 1


def test_a_host_that_fails_holds_up_nobody_else() -> None:
    events, recorder = run_mesh(FakeNetwork(mishaps={("right", 1): "prepare"}), at_once=4)
    assert sorted(recorder.statuses) == ["failed", "ok", "ok", "ok"]
    assert running_at_once(events)[0] == 2


def test_a_recorder_that_cannot_write_ends_all_that_runs() -> None:
    class FullDisk(ListRecorder):
        def finished(self, outcome: TrialOutcome) -> None:
            raise ArchiveError("the disk is full")

    network = FakeNetwork()
    hosts = {name: access(name) for name in ("a", "b", "left", "right")}
    conditions = Conditions(network.connect, sharing=Sharing(4))
    with pytest.raises(ArchiveError, match="the disk is full"):
        asyncio.run(run_campaign(mesh_slots(), hosts, FullDisk(), conditions=conditions))
    assert all(session.closed for session in network.sessions)


def test_ctrl_c_stops_all_trials_that_run() -> None:
    network = FakeNetwork(mishaps={("b", 1): "silent", ("right", 1): "silent"})
    recorder = ListRecorder()
    hosts = {name: access(name) for name in ("a", "b", "left", "right")}

    async def interrupted() -> None:
        silent = asyncio.Semaphore(0)
        network.on_silence = silent.release
        conditions = Conditions(network.connect, sharing=Sharing(4))
        running = asyncio.create_task(run_campaign(mesh_slots(), hosts, recorder, conditions=conditions))
        await silent.acquire()
        await silent.acquire()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(interrupted())
    assert recorder.statuses == []
    assert len(recorder.begun) == 2
    assert all(session.closed for session in network.sessions)
