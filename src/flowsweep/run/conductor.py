"""Carries a campaign out: slot by slot, every attempt recorded, whatever becomes of it."""

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from flowsweep.defaults import BITS_PER_BYTE, MICROSECOND_NS, POINT_BUSY_PAUSE_S, SECOND_US
from flowsweep.errors import LaunchError, SessionError
from flowsweep.hosts.access import HostAccess
from flowsweep.hosts.messages import HostFacts, Progress
from flowsweep.hosts.opening import open_session
from flowsweep.plan.searching.model import SearchInRounds
from flowsweep.run.attempt import Attempt
from flowsweep.run.beliefs import beliefs_of
from flowsweep.run.deadlines import Deadlines
from flowsweep.run.engines import HostSession
from flowsweep.run.events import (
    CampaignStarted,
    EventListener,
    PointBusy,
    SessionLost,
    TrialFinished,
    TrialProbing,
    TrialRunning,
    TrialStarted,
    TrialsWillFail,
    TrialWaits,
)
from flowsweep.run.keeper import Keeper
from flowsweep.run.observer import PathObserver, links_table
from flowsweep.run.outcome import EndRole, Recorder, Status, TrialOutcome
from flowsweep.run.packed import PackedRunner
from flowsweep.run.results import simultaneous, unreachable, without_data
from flowsweep.run.resume_state import ResumeState
from flowsweep.run.sessions import Connector, Patience, Sessions
from flowsweep.run.timed_campaign import TimedCampaign
from flowsweep.run.timetable import SlotWatch, Timekeeper, Timetable
from flowsweep.run.trial import ProgressListener, run_trial
from flowsweep.run.trial_end import POINT_BUSY
from flowsweep.run.unforeseen import ENDS_A_CAMPAIGN, unforeseen
from flowsweep.schedule import Slot, Trial, followed, slot_duration_ns, steps_left
from flowsweep.schedule.packing import ONE_AT_A_TIME, Batch, Job, Need, Packing, Sharing, packed
from flowsweep.tests import facts_of

Vetting = Callable[[Sequence[Slot], Mapping[str, HostFacts]], Sequence[str]]
"""Says why some of what is to run will fail, from facts by host; raises PreflightError if all of it will."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """What a campaign runs under: sessions with real engines and the standard deadlines, but in tests."""

    connector: Connector = open_session
    patience: Patience = field(default_factory=Patience)
    deadlines: Deadlines = field(default_factory=Deadlines)
    vet: Vetting = lambda _slots, _facts: ()
    """Looks at what the engines see of their hosts before the first trial."""
    sharing: Sharing = ONE_AT_A_TIME
    """Which slots may run at the same time."""
    paths: PathObserver | None = None
    """Whoever emulates the paths; none for real ones."""


async def run_campaign(
    slots: Sequence[Slot],
    accesses: Mapping[str, HostAccess],
    recorder: Recorder,
    *,
    resume: ResumeState | None = None,
    events: EventListener = lambda _: None,
    conditions: Conditions | None = None,
    timetable: Timetable | None = None,
) -> Counter[Status]:
    """Run what is not done yet, in order. A trial that fails is recorded, and the campaign goes on.

    A search runs in the place of its slot, step by step; one that has a step that is not whole ends there.

    When cancelled (Ctrl-C), the running trial is stopped and not recorded as finished; an attempt that is
    being recorded is recorded to the end.

    Args:
        slots: the whole campaign; with a timetable, each sweep once.
        accesses: every host that a trial names.
        recorder: keeps facts and outcomes; called in a thread, one call at a time.
        resume: what is done already.
        events: notified of what happens, in the order it does.
        conditions: how engines are reached, how long they may take, and how many trials run at a time.
        timetable: when sweeps run, if not once; `resume` counts for trials of all times.

    Returns:
        How many trials of this run came to each status.

    Raises:
        LaunchError, SessionError: a host's engine cannot be had at the start; nothing ran. Of a campaign with
            a timetable no trial has all its hosts, and nothing ran before: they may be there when it is due.
        PreflightError: no trial can run on the hosts as they are; nothing ran.
    """
    conditions = conditions or Conditions()
    resume = resume or ResumeState()
    known: dict[str, HostFacts] = {}

    async def keep_facts(facts: Mapping[str, HostFacts]) -> None:
        known.update(facts)
        await keeper.keep(lambda: recorder.hosts({name: fact.model_dump() for name, fact in facts.items()}))

    keeper = Keeper()
    sessions = Sessions(accesses, conditions.connector, events, conditions.patience, keep_facts)
    conductor = _Conductor(sessions, recorder, keeper, resume, events, conditions)
    try:

        def enough(there: Collection[str]) -> bool:
            """Where something ran before: after a power cut a controller may be back before its hosts are."""
            some = any(set(trial.hosts) <= set(there) for slot in slots for trial in slot.trials)
            return timetable is not None and (some or resume.has_run)

        for away in await sessions.open_all(enough=enough):
            events(SessionLost(away.host, away.in_full))
        left = [slot for slot in slots if resume.next_step(slot)[1] is not None]
        for reason in conditions.vet(left, known):
            events(TrialsWillFail(reason))
        return await (conductor.run(slots) if timetable is None else conductor.run_when_due(timetable))
    finally:
        await sessions.close_all()


class _Conductor:
    def __init__(
        self,
        sessions: Sessions,
        recorder: Recorder,
        keeper: Keeper,
        resume: ResumeState,
        events: EventListener,
        conditions: Conditions,
    ) -> None:
        self._sessions = sessions
        self._recorder = recorder
        self._keep = keeper.keep
        self._sharing = conditions.sharing
        self._packing = Packing((), conditions.sharing)
        self._runner = PackedRunner(self._packing, self._tell_waiting)
        self._number = 0
        """Of the last trial that began."""
        self._resume = resume
        self._learned = dict(resume.learned)
        self._believed: dict[str, object] = {}
        """What was said last of a search, by the id of its first step."""
        self._attempts = Counter(resume.attempts)
        self._begun: dict[tuple[str, int], list[str]] = {}
        """Trials that began, by sweep and repeat."""
        self._events = events
        self._deadlines = conditions.deadlines
        self._paths = conditions.paths
        self._tally: Counter[Status] = Counter()

    async def run(self, slots: Sequence[Slot]) -> Counter[Status]:
        self._number = sum(self._resume.next_step(slot)[0] * len(slot.trials) for slot in slots)
        jobs = self._jobs(slots)
        left_ns = Packing(jobs, self._sharing).left_ns()
        trials = sum(slot.trial_count for slot in slots)
        at_most = any(isinstance(slot.search, SearchInRounds) for slot in slots)
        ends_early = any(trial.parameters.may_end_early for slot in slots for trial in slot.planned)
        self._events(CampaignStarted(trials, self._number, left_ns, at_most, ends_early))
        await self._runner.run(Batch(tuple(jobs)), self._run_job)
        return self._tally

    async def run_when_due(self, timetable: Timetable) -> Counter[Status]:
        self._number = len(self._resume.done)
        self._events(CampaignStarted(None, self._number, None))
        campaign = TimedCampaign(timetable, self._run_due, self._keep, self._events)
        await Timekeeper(timetable, campaign, side_by_side=self._sharing.at_once > 1).run()
        return self._tally

    async def _run_due(self, slots: Sequence[Slot], watch: SlotWatch) -> bool:
        """Run what is left of slots that are due; returns whether none of them was too late."""
        jobs = self._jobs(slots)
        begins_ns = packed(jobs, self._sharing).begins_ns

        async def run_job(job: Job) -> None:
            watch.begins(job.slot)
            await self._run_job(job, ask_clock=True)
            watch.over()

        try:
            batch = Batch(tuple(jobs), lambda job: watch.in_time(begins_ns[job]))
            return await self._runner.run(batch, run_job)
        finally:
            self._forget(slots)

    def _forget(self, slots: Sequence[Slot]) -> None:
        """Keep nothing of what ran and never runs again: this may go on for years."""
        times = {(trial.sweep, trial.repeat) for slot in slots for trial in slot.planned}
        for name in [name for time in times for name in self._begun.pop(time, ())]:
            if name not in self._resume.attempts:
                self._attempts.pop(name, None)
            if name not in self._resume.learned:
                self._learned.pop(name, None)

    def _jobs(self, slots: Sequence[Slot]) -> list[Job]:
        """What is left to do of slots."""
        jobs = []
        for slot in slots:
            done, step = self._resume.next_step(slot)
            if step is not None:
                lasts_ns = steps_left(slot, done, self._resume.learned) * slot_duration_ns(slot)
                jobs.append(Job(slot, self._sharing.needs(slot), lasts_ns))
        return jobs

    def _tell_waiting(self, job: Job, needs: Sequence[Need]) -> None:
        if self._sharing.at_once > 1:
            self._events(TrialWaits(job.slot.trials[0], tuple(map(str, needs))))

    async def _run_job(self, job: Job, *, ask_clock: bool = False) -> None:
        """Run what is left of a slot, step by step."""
        slot = job.slot
        done, step = self._resume.next_step(slot)
        left_ns = job.lasts_ns
        for _ in range(done, slot.steps):
            if step is not None:
                step = await self._run_step(slot, step, self._packing.left_ns(), ask_clock=ask_clock)
            else:
                # A search that could not go on leaves the numbers of its other steps out.
                self._number += len(slot.trials)
            done += 1
            still_ns = min(left_ns, steps_left(slot, done, self._learned) * slot_duration_ns(slot))
            self._packing.progressed(job, left_ns - still_ns)
            left_ns = still_ns

    async def _run_step(self, slot: Slot, step: Slot, left_ns: int, *, ask_clock: bool) -> Slot | None:
        """Run what is next in the place of a slot; returns what is to follow in it, if anything can."""
        outcomes = await self._run_slot(step, left_ns, ask_clock=ask_clock)
        learned = {one.record.trial_id: one.record.learned for one in outcomes}
        self._learned.update((name, known) for name, known in learned.items() if known is not None)
        if slot.search is None or None in learned.values():
            return None
        self._tell_belief(slot)
        return followed(slot, self._learned)[1]

    def _tell_belief(self, slot: Slot) -> None:
        """Say once after each round what a search in rounds believes."""
        for first_id, event in beliefs_of(slot, self._learned):
            if self._believed.get(first_id) != event:
                self._believed[first_id] = event
                self._events(event)

    async def _run_slot(self, slot: Slot, left_ns: int, *, ask_clock: bool) -> Sequence[TrialOutcome]:
        """Get the sessions, run the slot's trials together, record them."""
        sessions = await self._sessions_of(slot, ask_clock=ask_clock)
        attempts = [await self._begin(trial, left_ns) for trial in slot.trials]
        outcomes: Sequence[TrialOutcome]
        if isinstance(sessions, LaunchError | SessionError):
            outcomes = [unreachable(attempt, sessions.host, sessions.in_full) for attempt in attempts]
        else:
            outcomes = await self._run_when_free(attempts, sessions)
        settled = simultaneous(outcomes)
        for outcome in settled:
            await self._record(outcome)
        return settled

    async def _sessions_of(
        self, slot: Slot, *, ask_clock: bool
    ) -> dict[str, HostSession] | LaunchError | SessionError:
        """Sessions with all hosts of a slot, or why one is missing; where clocks matter, with what they show.

        They do for traffic at the same time and for one-way delays. After a long wait clocks may have been
        set, and a session may be lost without having said so: asking for the clock shows both.
        """
        hosts = list(dict.fromkeys(host for trial in slot.trials for host in trial.hosts))
        asks = ask_clock or len(slot.trials) > 1 or any(map(_needs_clocks, slot.trials))
        sessions = await asyncio.gather(
            *(self._sessions.session_with(host, ask_clock=asks) for host in hosts), return_exceptions=True
        )
        for session in sessions:
            if isinstance(session, LaunchError | SessionError):
                return session
            if isinstance(session, BaseException):
                raise session
        there = (session for session in sessions if isinstance(session, HostSession))
        return dict(zip(hosts, there, strict=True))

    async def _begin(self, trial: Trial, left_ns: int) -> Attempt:
        self._attempts[trial.trial_id] += 1
        self._begun.setdefault((trial.sweep, trial.repeat), []).append(trial.trial_id)
        self._number += 1
        attempt, number = self._attempts[trial.trial_id], self._number
        await self._keep(lambda: self._recorder.started(trial.trial_id, attempt, datetime.now(UTC)))
        self._events(TrialStarted(number, trial, attempt, left_ns))
        return Attempt.now(trial, attempt)

    async def _run_when_free(
        self, attempts: Sequence[Attempt], sessions: Mapping[str, HostSession]
    ) -> Sequence[TrialOutcome]:
        """Run trials that begin together; where a standing point is busy with others, try again for a while.

        Such a point has begun nothing, so all of it is one attempt.
        """
        clock = asyncio.get_running_loop().time
        until = clock() + self._deadlines.point_busy_s
        told: set[str] = set()
        while True:
            start_line = asyncio.Barrier(len(attempts))
            outcomes = await asyncio.gather(
                *(self._run_attempt(attempt, sessions, start_line, attempts) for attempt in attempts)
            )
            failures = (outcome.record.failure for outcome in outcomes)
            busy = next((one for one in failures if one is not None and one.kind == POINT_BUSY), None)
            if busy is None or clock() + POINT_BUSY_PAUSE_S > until:
                return outcomes
            if busy.host not in told:
                told.add(busy.host)
                self._events(PointBusy(busy.host, busy.message))
            await asyncio.sleep(POINT_BUSY_PAUSE_S)
            attempts = [Attempt.now(attempt.trial, attempt.number) for attempt in attempts]

    async def _run_attempt(
        self,
        attempt: Attempt,
        sessions: Mapping[str, HostSession],
        start_line: asyncio.Barrier,
        of_slot: Sequence[Attempt],
    ) -> TrialOutcome:
        trial = attempt.trial
        watch = None if self._paths is None else self._paths.watch(trial.pairs)
        try:
            outcome = await run_trial(
                attempt,
                sessions,
                watch=watch,
                start_line=start_line,
                progress=_rate_reporter(trial, self._events),
                deadlines=self._deadlines,
                together_with=next((other.name for other in of_slot if other is not attempt), None),
            )
            counted = () if watch is None else await watch.take()
            return replace(outcome, links=links_table(counted, attempt.started_at))
        except ENDS_A_CAMPAIGN:
            raise
        except Exception as error:  # noqa: BLE001 - recorded, with its words
            # Whoever waits for this one to start with it does not wait for ever.
            await start_line.abort()
            return without_data(attempt, unforeseen(error))
        finally:
            if watch is not None:
                watch.end()

    async def _record(self, outcome: TrialOutcome) -> None:
        await self._keep(lambda: self._recorder.finished(outcome))
        self._tally[outcome.record.status] += 1
        self._events(TrialFinished(outcome.record))


def _needs_clocks(trial: Trial) -> bool:
    """Whether clocks of hosts are compared: over several pairs, with what runs beside, or by a delay."""
    return len(trial.pairs) > 1 or bool(trial.background) or facts_of(trial.test).datagrams


def _rate_reporter(trial: Trial, events: EventListener) -> ProgressListener:
    """Turn the sinks' running totals into rates, each time that the first of them says how far it is.

    Of a trial without flows to speak of it is the source that has something to say.
    """
    before_us, before_bytes = 0, 0
    totals: dict[int, int] = {}

    def report(pair: int, end: EndRole, progress: Progress) -> None:
        nonlocal before_us, before_bytes
        if end == "source":
            if pair == 0 and not facts_of(trial.test).bulk:
                events(TrialProbing(trial, progress.elapsed_us * MICROSECOND_NS, progress.bytes))
            return
        totals[pair] = progress.bytes
        if pair != 0:
            return
        elapsed_us = max(1, progress.elapsed_us - before_us)
        total = sum(totals.values())
        rate_bps = (total - before_bytes) * BITS_PER_BYTE * SECOND_US / elapsed_us
        before_us, before_bytes = progress.elapsed_us, total
        events(TrialRunning(trial, progress.elapsed_us * MICROSECOND_NS, rate_bps))

    return report
