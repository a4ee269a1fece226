"""A campaign with times, from its sessions to what was missed: hosts may be away, before it and in it."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from analysis_support import make_trial
from fake_engine import FakeNetwork, access
from flowsweep.archive import create_archive, open_archive_for_writing
from flowsweep.campaigns.timed import recorded
from flowsweep.defaults import SECOND_NS
from flowsweep.errors import LaunchError
from flowsweep.run.clock import Reading
from flowsweep.run.conductor import Conditions, run_campaign
from flowsweep.run.deadlines import Deadlines
from flowsweep.run.events import (
    CampaignStarted,
    SessionLost,
    TrialFinished,
    TrialStarted,
    Waiting,
)
from flowsweep.run.hold_ups import Failing
from flowsweep.run.outcome import Missed
from flowsweep.run.resume_state import ResumeState
from flowsweep.run.sessions import Patience
from flowsweep.run.timetable import Timetable
from flowsweep.schedule import Occasion, Slot, slot_duration_ns
from long_tests import long_after
from run_support import HOSTS, ListRecorder, campaign


class VirtualClock:
    """Time passes where somebody sleeps."""

    now_ns = 0

    def read(self) -> Reading:
        return Reading(self.now_ns, self.now_ns, self.now_ns)

    async def sleep(self, duration_ns: int) -> None:
        self.now_ns += duration_ns


def due(slots: list[Slot]) -> tuple[Timetable, list[Missed]]:
    """Each slot an hour after the one before; and what is missed of them."""
    hour_ns, missed = 3600 * SECOND_NS, []
    by_key = {("s", number): slot for number, slot in enumerate(slots, start=1)}
    times = (Occasion(*key, key[1] * hour_ns, key[1] * hour_ns) for key in by_key)
    return Timetable(times, lambda one: [by_key[one.key]], missed.append, clock=VirtualClock()), missed


def run_when_due(
    network: FakeNetwork, slots: list[Slot], resume: ResumeState, names: str = "ab"
) -> tuple[ListRecorder, list]:
    events, recorder = [], ListRecorder()
    conditions = Conditions(network.connect, Patience(0.001, 0.002), Deadlines(0.01, 0.01, 0.01))
    timetable, missed = due(slots)
    told = {"resume": resume, "events": events.append, "conditions": conditions}
    hosts = {name: access(name) for name in names}
    asyncio.run(run_campaign(slots, hosts, recorder, **told, timetable=timetable))
    assert missed == []
    return recorder, events


def test_slots_run_when_they_are_due_and_the_next_one_is_told() -> None:
    recorder, events = run_when_due(FakeNetwork(), campaign(2), ResumeState())
    assert recorder.statuses == ["ok", "ok"]
    told = [type(event) for event in events if isinstance(event, CampaignStarted | Waiting | TrialFinished)]
    hour = [Waiting] * 3600
    assert told == [CampaignStarted, *hour, TrialFinished, *hour, TrialFinished]
    left_ns = [event.left_ns for event in events if isinstance(event, Waiting)]
    assert left_ns == [second * SECOND_NS for second in range(3600, 0, -1)] * 2
    assert [event.left_ns for event in events if isinstance(event, TrialStarted)] == [
        slot_duration_ns(slot) for slot in campaign(2)
    ]


@pytest.mark.parametrize("away", ["a", "b", "ab"])
def test_hosts_without_which_no_trial_can_run_are_an_error_at_the_first_start_only(away: str) -> None:
    network = FakeNetwork(unreachable=dict.fromkeys(away, 100))
    with pytest.raises(LaunchError, match=f"host {away[0]}: no route to host"):
        run_when_due(network, campaign(2), ResumeState())
    recorder, _ = run_when_due(network, campaign(2), ResumeState(attempts={"before": 1}))
    assert [outcome.record.failure.kind for outcome in recorder.outcomes] == ["host_unreachable"] * 2


@pytest.mark.long
def test_a_campaign_with_times_begins_without_a_host_that_is_away() -> None:
    network = FakeNetwork(unreachable={"c": 100})
    slots = [*campaign(1), Slot(trials=(make_trial(dst="c"),))]
    recorder, events = run_when_due(network, slots, ResumeState(), names="abc")
    assert recorder.statuses == ["ok", "failed"]
    assert recorder.outcomes[1].record.failure.kind == "host_unreachable"
    assert [event.host for event in events if isinstance(event, SessionLost)] == ["c"]
    assert network.log.count("open a") == 1, "the session that opened was not kept"
    assert [list(facts) for facts in recorder.facts] == [["a", "b"]]
    recorder, _ = run_when_due(FakeNetwork(unreachable={"c": 1}), slots, ResumeState(), names="abc")
    assert recorder.statuses == ["ok", "ok"]
    assert [list(facts) for facts in recorder.facts] == [["a", "b"], ["c"]]


def test_what_was_missed_while_it_could_not_begin_says_so() -> None:
    timetable, missed = due(campaign(2))
    timetable.clock.now_ns = 5400 * SECOND_NS
    timetable = replace(timetable, failing=Failing(1800 * SECOND_NS, "host b: no route to host"))
    conditions = Conditions(FakeNetwork().connect)
    recorder = ListRecorder()
    asyncio.run(run_campaign(campaign(2), HOSTS, recorder, conditions=conditions, timetable=timetable))
    assert recorder.statuses == ["ok"]
    assert [one.reason for one in missed] == ["the campaign could not begin (host b: no route to host)"]


def of_a_new_part(folder: Path) -> ResumeState:
    """What is recorded where a new part of an archive was begun, and nothing ran since."""
    with create_archive(folder, plan_json="{}", seed=1) as writer:
        assert not recorded(writer).has_run
        writer.started(make_trial().trial_id, 1, datetime(2026, 9, 21, tzinfo=UTC))
        writer.begin_part()
    with open_archive_for_writing(folder) as writer:
        assert writer.attempts == {}
        return recorded(writer)


@pytest.mark.parametrize("in_new_part", long_after(1, of=[False, True]))
def test_a_campaign_that_is_gone_on_with_begins_without_hosts_that_are_away(
    tmp_path: Path, *, in_new_part: bool
) -> None:
    gone_on_with = of_a_new_part(tmp_path / "a") if in_new_part else ResumeState(attempts={"before": 1})
    recorder, events = run_when_due(FakeNetwork(unreachable={"b": 100}), campaign(2), gone_on_with)
    assert [outcome.record.failure.kind for outcome in recorder.outcomes] == ["host_unreachable"] * 2
    assert next(event for event in events if isinstance(event, SessionLost)).host == "b"
    recorder, _ = run_when_due(FakeNetwork(unreachable={"b": 1}), campaign(2), gone_on_with)
    assert recorder.statuses == ["ok", "ok"]
