"""While a service runs: has the alarms of its campaigns looked at, also of one that cannot begin."""

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from flowsweep.alarms.told import is_end_untold
from flowsweep.campaigns.folders import folders_before, last_folder
from flowsweep.cli.alarms_watch import AlarmsWatch, watch_of, watch_of_left
from flowsweep.plan import Plan
from flowsweep.run.events import CampaignEvent, EventListener


class AlarmsOfService:
    """Watches each campaign from try to try, as long as its plan and its archive stay the same.

    No last look is waited for: the next start takes it.

    Args:
        base: Where the archives are.
        clock: In seconds.
    """

    def __init__(self, base: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._base = base
        self._clock = clock
        self._watches: dict[str, tuple[Plan, Path, AlarmsWatch | None]] = {}
        """By the campaign's name."""
        self._left: dict[str, AlarmsWatch] = {}
        """Of those that are measured no more, likewise; other campaigns say when there is time for a look."""

    def watched(self, plan: Plan, archive: Path, shown: EventListener) -> EventListener:
        """Who is to hear of a campaign's events in place of another, who hears of them before."""
        own = self._watch(plan, archive)

        def all_of_them(event: CampaignEvent) -> None:
            shown(event)
            for watch in self._with_left(own):
                watch(event)
                watch.tell()

        return all_of_them

    def in_vain(self, plan: Plan) -> None:
        """Hear that a campaign could not begin, or failed, and is tried again."""
        # A disk that cannot be read is told by whoever tries.
        with suppress(OSError):
            archive, _ = last_folder(self._base, plan)
            own = self._watch(plan, archive) if archive.is_dir() else None
            for watch in self._with_left(own):
                watch.in_vain()
                watch.tell()

    def left(self, plan: Plan) -> None:
        """Hear that a plan is gone, or its campaign has another name: its alarms are told as over."""
        name = plan.campaign.name
        self._watches.pop(name, None)
        with suppress(OSError):
            archive, _ = last_folder(self._base, plan)
            if archive.is_dir():
                archives = [archive, *_left(plan, archive)]
                if (watch := watch_of_left(plan, archives, self._clock)) is not None:
                    self._left[name] = watch

    def _with_left(self, own: AlarmsWatch | None) -> list[AlarmsWatch]:
        """What watches a campaign, and what is not over of those that were left."""
        self._left = {name: watch for name, watch in self._left.items() if not watch.is_over}
        return [*self._left.values(), *(() if own is None else (own,))]

    def _watch(self, plan: Plan, archive: Path) -> AlarmsWatch | None:
        name = plan.campaign.name
        self._left.pop(name, None)  # It is back.
        known = self._watches.get(name)
        if known is None or known[:2] != (plan, archive):
            known = plan, archive, watch_of(plan, archive, _left(plan, archive), self._clock)
            self._watches[name] = known
        return known[2]


def _left(plan: Plan, archive: Path) -> list[Path]:
    """Archives of which alarms may have to be told as over, since the plan changed: once or several times."""
    before = folders_before(archive, plan)
    return [folder for folder in before if folder == before[0] or is_end_untold(folder)]
