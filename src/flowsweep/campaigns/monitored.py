"""A campaign, and its monitors while it lasts."""

from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from flowsweep.archive import ArchiveWriter
from flowsweep.hosts.access import HostAccess
from flowsweep.monitors.watching import monitored
from flowsweep.plan import Plan
from flowsweep.run.events import EventListener, MonitorAnswers, MonitorSilent
from flowsweep.run.outcome import Status


async def with_monitors(
    plan: Plan,
    accesses: Mapping[str, HostAccess],
    writer: ArchiveWriter,
    events: EventListener,
    campaign: Callable[[], Coroutine[Any, Any, Counter[Status]]],
) -> Counter[Status]:
    """Run a campaign while the plan's monitors are asked, and what they tell is kept in its archive.

    Raises:
        MonitorError: A monitor cannot be asked from here; nothing ran.
        FlowsweepError: What the campaign raises.
    """

    def told(monitor: str, reason: str | None) -> None:
        events(MonitorAnswers(monitor) if reason is None else MonitorSilent(monitor, reason))

    async with monitored(plan.monitors, accesses, writer.monitor_files.keep, told):
        return await campaign()
