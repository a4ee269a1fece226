"""Keeps the campaigns of several plans going until stopped, each by itself."""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from flowsweep.archive import ArchiveWriter
from flowsweep.campaigns.folders import folder_name, open_or_begin
from flowsweep.campaigns.housekeeping import Housekeeping, return_freed_memory
from flowsweep.campaigns.monitored import with_monitors
from flowsweep.campaigns.notify import Notifier
from flowsweep.campaigns.plans import has_changed, load_plans, refuse_what_needs_a_start
from flowsweep.campaigns.reach import reached_hosts
from flowsweep.campaigns.retention import Retention
from flowsweep.campaigns.timed import recorded, timetable
from flowsweep.errors import FlowsweepError, in_words
from flowsweep.plan import Plan
from flowsweep.run.conductor import Conditions, run_campaign
from flowsweep.run.events import CampaignEvent, CampaignStarted, EventListener
from flowsweep.run.hold_ups import Failing
from flowsweep.run.preflight import refuse_impossible
from flowsweep.schedule import schedule
from flowsweep.schedule.packing import sharing_of
from flowsweep.wording import counted

FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 60.0
"""Between two tries to go on with a campaign that failed: they double from the first one."""
Listening = Callable[[Plan, Path], AbstractContextManager[EventListener]]
RetentionOf = Callable[[ArchiveWriter, Plan, Callable[[str], None]], Retention]
Told = Callable[[str, str], None]
"""Is told the name of a campaign and what there is to say of it."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a service runs."""

    places: Sequence[Path]
    """Files of plans, or folders of them."""
    base: Path
    """Where their archives are."""
    free_bytes_min: int
    """With less free on its disk, nothing runs."""
    retention: RetentionOf | None = None
    """Makes what keeps summaries of parts that are over, of an archive and its plan, given whom to tell."""
    first_pause_s: float = FIRST_PAUSE_S
    ran_well_s: float = LONGEST_PAUSE_S
    """After a campaign ran for so long, pauses between tries begin with the first one again."""


class Supervisor:
    """Runs each plan in a task of its own.

    Args:
        settings: What runs.
        told: Is told what a person should know.
        listening: Has somebody listen to a campaign's events while a block runs: given its plan and archive.
        notifier: The service manager.
        in_vain: Hears of the plan of a campaign that could not begin, or failed, and is tried again.
        left: Hears of a plan that is gone, or was until its campaign had another name.
    """

    def __init__(
        self,
        settings: Settings,
        told: Told,
        listening: Listening,
        notifier: Notifier,
        *,
        in_vain: Callable[[Plan], None] = lambda _plan: None,
        left: Callable[[Plan], None] = lambda _plan: None,
    ) -> None:
        self._settings = settings
        self._told = told
        self._listening = listening
        self._notifier = notifier
        self._in_vain = in_vain
        self._left = left
        self._plans: dict[Path, Plan] = {}
        self._tasks: dict[Path, asyncio.Task[None]] = {}
        self._settled: set[Path] = set()
        """Plans that began, or of which it was told why they did not."""
        self._reload_wanted = asyncio.Event()

    def reload(self) -> None:
        """Have plans read again, as soon as possible."""
        self._reload_wanted.set()

    async def run(self, plans: dict[Path, Plan]) -> None:
        """Run plans until all campaigns are over, or for ever; ends in order when cancelled."""
        return_freed_memory()
        self._plans = dict(plans)
        for file in plans:
            self._begin(file)
        living = asyncio.create_task(self._live())
        try:
            while going := {task for task in self._tasks.values() if not task.done()}:
                wanted = asyncio.create_task(self._reload_wanted.wait())
                over, _ = await asyncio.wait({wanted, *going}, return_when=asyncio.FIRST_COMPLETED)
                wanted.cancel()
                for task in over & going:
                    task.result()  # an error that nobody expected ends the service
                if self._reload_wanted.is_set():
                    self._reload_wanted.clear()
                    await self._read_again()
        finally:
            self._notifier.tell("STOPPING=1")
            living.cancel()
            await asyncio.gather(living, *map(_ended, self._tasks.values()), return_exceptions=True)

    async def _read_again(self) -> None:
        """Go on with the plans as they are now; as they were, if one of them is wrong."""
        self._notifier.tell("RELOADING=1")
        try:
            plans = await asyncio.to_thread(load_plans, self._settings.places)
            refuse_what_needs_a_start(plans)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with a file, what runs goes on
            self._told("plans", f"{in_words(error)}\nall of them go on as they were")
        else:
            folders = {folder_name(plan) for plan in plans.values()}
            for file in [file for file, plan in self._plans.items() if has_changed(plan, plans.get(file))]:
                await _ended(self._tasks.pop(file))
                gone = self._plans.pop(file)
                if file not in plans:
                    self._told(gone.campaign.name, f"{file} is gone: ended")
                if folder_name(gone) not in folders:
                    self._left(gone)
            for file in [file for file in plans if file not in self._plans]:
                self._plans[file] = plans[file]
                self._begin(file)
        self._notifier.tell("READY=1")

    def _begin(self, file: Path) -> None:
        self._tasks[file] = asyncio.create_task(self._keep_going(file, self._plans[file]))

    async def _keep_going(self, file: Path, plan: Plan) -> None:
        """Run a campaign to its end, however often it fails in between."""
        name, pause_s = plan.campaign.name, self._settings.first_pause_s
        tries = _Tries()
        while True:
            try:
                await self._go_on(file, plan, tries)
            except (FlowsweepError, OSError) as error:
                if tries.ran_s() >= self._settings.ran_well_s:
                    pause_s = self._settings.first_pause_s
                self._told(name, f"{error}\nit is tried again in {pause_s:g} s")
                tries.failed(error)
                self._settle(file)
                task = asyncio.current_task()
                if task is not None and task.cancelling():
                    # What it failed at was the last thing to be written.
                    raise asyncio.CancelledError from error
                self._in_vain(plan)
            else:
                self._told(name, "the campaign is over")
                return
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)

    async def _go_on(self, file: Path, plan: Plan, tries: "_Tries") -> None:
        writer = await self._opened(plan)
        try:
            count = counted(writer.finished_count, "trial")
            self._told(plan.campaign.name, f"goes on in {writer.folder}, {count} so far")
            for loss in writer.losses:
                self._told(plan.campaign.name, f"warning: {loss}")
            await self._run(file, plan, writer, tries)
        finally:
            writer.close()

    async def _opened(self, plan: Plan) -> ArchiveWriter:
        """Open the archive in a thread: a long journal takes seconds. Close it if cancelled meanwhile."""
        opening = asyncio.ensure_future(asyncio.to_thread(open_or_begin, self._settings.base, plan))
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            with suppress(FlowsweepError, OSError):
                (await opening).close()
            raise

    async def _run(self, file: Path, plan: Plan, writer: ArchiveWriter, tries: "_Tries") -> None:
        resume = recorded(writer)
        name = plan.campaign.name
        await asyncio.to_thread(writer.keep_totals)
        settings, tell = self._settings, partial(self._told, name)
        retention = None if settings.retention is None else settings.retention(writer, plan, tell)
        housekeeping = Housekeeping(writer, settings.free_bytes_min, tell, retention=retention)
        due = replace(timetable(plan, writer, resume, housekeeping), failing=tries.failing)
        with (
            reached_hosts(plan, writer.seed) as (accesses, paths),
            self._listening(plan, writer.folder) as listener,
        ):

            def hear(event: CampaignEvent) -> None:
                if isinstance(event, CampaignStarted):
                    tries.began()
                    self._settle(file)
                listener(event)

            campaign = partial(
                run_campaign,
                schedule(plan, writer.seed),
                accesses,
                writer,
                resume=resume,
                events=hear,
                conditions=Conditions(paths=paths, vet=refuse_impossible, sharing=sharing_of(plan)),
                timetable=due,
            )
            await with_monitors(plan, accesses, writer, hear, campaign)

    def _settle(self, file: Path) -> None:
        self._settled.add(file)
        if self._settled >= self._plans.keys():
            self._notifier.tell("READY=1", f"STATUS={counted(len(self._plans), 'campaign')}")

    async def _live(self) -> None:
        """Tell the service manager that the loop goes round."""
        while (pause_s := self._notifier.watchdog_s) is not None:
            self._notifier.tell("WATCHDOG=1")
            await asyncio.sleep(pause_s)


class _Tries:
    """The tries to begin a campaign since it ran last."""

    def __init__(self) -> None:
        self._since_unix_ns = time.time_ns()
        self._runs = False
        self._ran_since_unix_ns: int | None = None
        self._began_s = 0.0
        self.failing: Failing | None = None

    def began(self) -> None:
        """It runs."""
        self._runs, self.failing = True, None
        self._ran_since_unix_ns = time.time_ns()
        self._began_s = time.monotonic()

    def ran_s(self) -> float:
        """For how long it has been running; 0 if it could not begin."""
        return time.monotonic() - self._began_s if self._runs else 0.0

    def failed(self, error: FlowsweepError | OSError) -> None:
        """It could not begin, or did not go on to its end."""
        if self._runs:
            self._since_unix_ns, self._runs = time.time_ns(), False
        why = " ".join(str(error).split())
        self.failing = Failing(self._since_unix_ns, why, self._ran_since_unix_ns)


async def _ended(task: asyncio.Task[None]) -> None:
    """End a campaign in order: its trial is stopped, and what is recorded stays."""
    task.cancel()
    # Not awaited itself: a cancellation of this wait would be taken for the task's own.
    await asyncio.wait({task})
    if not task.cancelled():
        task.result()
