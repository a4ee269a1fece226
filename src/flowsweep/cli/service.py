"""`flowsweep service`: run plans with times until stopped."""

import asyncio
import signal
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from flowsweep.campaigns.live import live_told
from flowsweep.campaigns.notify import Notifier, hand_on_the_socket
from flowsweep.campaigns.plans import load_plans
from flowsweep.campaigns.supervisor import Settings, Supervisor
from flowsweep.cli.alarms_of_service import AlarmsOfService
from flowsweep.cli.app import app
from flowsweep.cli.exit_codes import CODES_OF_SERVICE
from flowsweep.cli.parts_over import Retentions
from flowsweep.cli.progress import trouble
from flowsweep.cli.terminal import say
from flowsweep.errors import PlanError
from flowsweep.lab import enter_user_namespace_if_needed
from flowsweep.plan import Plan
from flowsweep.run.events import CampaignEvent, EventListener
from flowsweep.units import QuantityError, parse_size


@app.command(
    epilog="SIGHUP reads the plans again: one that changed goes on in a new archive; if one is wrong, all go "
    f"on as they were. SIGTERM and Ctrl-C end all campaigns cleanly, with exit code 0. {CODES_OF_SERVICE}"
)
def service(
    plans: Annotated[
        list[Path], typer.Argument(metavar="PLAN...", help="Scheduled plans, or folders of them (*.toml).")
    ],
    archive: Annotated[
        Path,
        typer.Option("--archive", metavar="DIR", help="Where each campaign has its archive: DIR/NAME."),
    ],
    *,
    keep_free: Annotated[
        str, typer.Option("--keep-free", metavar="SIZE", help="With less free on that disk, nothing runs.")
    ] = "1GB",
) -> None:
    """Run scheduled plans until stopped. After a crash or restart, resume where they left off.

    Each plan has its own archive; `flowsweep status DIR/NAME` shows what it does. With
    deploy/flowsweep.service, which ships with Flowsweep, systemd starts, watches and restarts it.
    """
    free_bytes_min = _size(keep_free)
    known = load_plans(plans)
    if any(plan.links for plan in known.values()):
        hand_on_the_socket()
        enter_user_namespace_if_needed(named=[*plans, archive])
    settings = Settings(plans, archive, free_bytes_min, Retentions())
    alarms = AlarmsOfService(archive)

    def listening(plan: Plan, folder: Path) -> AbstractContextManager[EventListener]:
        return live_told(folder, alarms.watched(plan, folder, partial(_show, plan.campaign.name)))

    supervisor = Supervisor(settings, _tell, listening, Notifier(), in_vain=alarms.in_vain, left=alarms.left)
    asyncio.run(_until_ended(supervisor, known))


async def _until_ended(supervisor: Supervisor, plans: dict[Path, Plan]) -> None:
    loop = asyncio.get_running_loop()
    running = asyncio.create_task(supervisor.run(plans))

    def end() -> None:
        # Once: a second cancellation would cut short what ends in order.
        if not running.cancelling():
            running.cancel()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, end)
    loop.add_signal_handler(signal.SIGHUP, supervisor.reload)
    try:
        await running
    except asyncio.CancelledError:
        say("ended in order", err=True)


def _size(text: str) -> int:
    try:
        return parse_size(text)
    except QuantityError as error:
        raise PlanError("--keep-free", (str(error),)) from error


def _tell(name: str, words: str) -> None:
    for line in words.splitlines():
        say(f"{name}: {line}", err=True)


def _show(name: str, event: CampaignEvent) -> None:
    """Say what goes wrong, and no more: a service runs for years, and its trials are in its archives."""
    if (message := trouble(event)) is not None:
        _tell(name, message)
