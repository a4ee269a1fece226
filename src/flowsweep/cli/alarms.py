"""`flowsweep alarms`: what began, what is over, and who was told."""

import math
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from flowsweep.alarms.alarm import Alarm, is_of, moment_of, moment_text, sentence
from flowsweep.alarms.delivery.ledger import Deliveries, Ledger, read_deliveries
from flowsweep.alarms.delivery.message import Message
from flowsweep.archive import disk
from flowsweep.archive.campaign import Campaign, begun_unix_ns, is_imported, open_folder, read_campaign
from flowsweep.archive.folder import Folder
from flowsweep.campaigns.succession import goes_on_in
from flowsweep.cli.alarms_targets import targets_of_archive, targets_of_plan
from flowsweep.cli.app import app
from flowsweep.cli.archives import print_warnings
from flowsweep.cli.completion import complete_plan
from flowsweep.cli.exit_codes import EXIT_ALARM
from flowsweep.cli.options import Format, TextOrJson
from flowsweep.cli.reading import told_if_long
from flowsweep.cli.terminal import say, say_json
from flowsweep.defaults import MICROSECOND_NS, SECOND_NS
from flowsweep.errors import ArchiveError, PlanError
from flowsweep.plan import Plan
from flowsweep.plan.alarms.model import Alarms, Kind
from flowsweep.run.hold_ups import shown_time
from flowsweep.schedule import has_times
from flowsweep.wording import counted

_OVER_SHOWN = 20
_KINDS: tuple[Kind, ...] = ("shift", "loss", "silent")


@app.command(
    epilog="Exit code 0: no alarm is active; 1: one is; 2: it is no archive of scheduled sweeps, or not "
    "yours to deliver from."
)
def alarms(
    archive: Annotated[Path, typer.Argument(metavar="DIR", help="The archive.")],
    form: TextOrJson = Format.text,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    deliver: Annotated[
        bool,
        typer.Option(
            "--deliver",
            help="Notify those whom the plan names; `run` and `service` do so themselves while they run.",
        ),
    ] = False,
    targets: Annotated[
        Path | None,
        typer.Option(
            "--targets",
            metavar="PLAN",
            autocompletion=complete_plan,
            help="With --deliver: notify those whom \\[alarms] of this plan's file names, not the plan in "
            "the archive; needed if the archive is not your own.",
        ),
    ] = None,
    from_stdin: Annotated[bool, typer.Option("--targets-from-stdin", hidden=True)] = False,
    left: Annotated[bool, typer.Option("--left", hidden=True)] = False,
) -> None:
    """Say which alarms of a campaign are active and which were: shifts, rising loss, silent paths."""
    if targets is not None and not deliver:
        raise PlanError("--targets", ("has an effect with --deliver only: add it, or leave both out",))
    with disk.reported(archive, "cannot be read"):
        folder = open_folder(archive)
        campaign = read_campaign(folder)
    plan = _plan(archive, campaign)
    settings = _settings(folder, plan, targets, deliver=deliver, from_stdin=from_stdin)
    goes_on = goes_on_in(archive, campaign)
    # Who looks for somebody else has a screen of its own.
    for_another = from_stdin or left
    with nullcontext() if for_another else told_if_long("looking at all trials"):
        found, losses = _found(folder, campaign, plan, left=left or goes_on is not None)
    if not for_another:
        print_warnings(losses)
    is_left = False
    if deliver and settings is not None:
        is_left = not _deliver(folder, campaign, plan, found, settings) and left
    deliveries = read_deliveries(folder)
    watch = _KINDS if settings is None else settings.watch
    told = [one for one in found if is_of(one, watch)]
    if form is Format.json or as_json:
        notes = [one.as_json() for one in found if not one.worse]
        listed = [one.as_json() | {"delivered": _delivered(one, deliveries)} for one in told]
        there = None if goes_on is None else goes_on.name
        say_json({"campaign": plan.campaign.name, "goes_on_in": there, "alarms": listed, "notes": notes})
    else:
        if goes_on is not None:
            say(f"{plan.campaign.name}: goes on in {goes_on.name}")
        for line in _lines(plan, told, [one for one in found if not one.worse], deliveries):
            say(line)
    raise typer.Exit(EXIT_ALARM if is_left or any(one.is_on for one in told) else 0)


def _settings(
    folder: Folder, plan: Plan, targets: Path | None, *, deliver: bool, from_stdin: bool
) -> Alarms | None:
    """What is watched, and who is told."""
    if from_stdin:
        return Alarms.model_validate_json(sys.stdin.read())
    if not deliver:
        return plan.alarms
    return targets_of_archive(folder, plan) if targets is None else targets_of_plan(targets)


def _plan(archive: Path, campaign: Campaign) -> Plan:
    if is_imported(campaign):
        raise ArchiveError(
            f"{archive}: imported, not measured here: alarms are of sweeps with times; `flowsweep "
            "compare` compares two archives"
        )
    try:
        plan = Plan.model_validate_json(campaign.plan_json)
    except ValidationError as error:
        raise ArchiveError(
            f"{archive}: has no plan that this Flowsweep understands: it may be of another version"
        ) from error
    if not has_times(plan):
        raise ArchiveError(
            f"{archive}: its sweeps ran once, so there is no usual level to differ from; `flowsweep "
            "compare` compares two campaigns"
        )
    return plan


def _found(folder: Folder, campaign: Campaign, plan: Plan, *, left: bool) -> tuple[list[Alarm], list[str]]:
    """All alarms, and what is damaged and left out of the journals, in sentences.

    Of an archive that was left, since its plan changed, alarms that were on then are over. It was left with
    its last trial. What fell silent after that counts if somebody was told that it began.
    """
    import pyarrow.compute as pc

    from flowsweep.alarms.found import WATCHED, alarms_of
    from flowsweep.prepared.recorded import recorded_rows

    losses: list[str] = []
    trials = recorded_rows(folder.path, WATCHED, losses.extend)
    began_us = trials["began_us"]
    began_ns, now_ns = begun_unix_ns(campaign), time.time_ns()
    found = alarms_of(plan, began_ns, campaign.seed, trials, now_ns)
    if not left:
        return found, losses
    # A clock that was set back leaves trials in the future.
    last_us = pc.max(pc.filter(began_us, pc.less_equal(began_us, now_ns // MICROSECOND_NS))).as_py()
    left_ns = began_ns if last_us is None else last_us * MICROSECOND_NS
    over = moment_of(left_ns / SECOND_NS)
    told = {key for (key, _), one in read_deliveries(folder).of.items() if one.delivered}
    kept = [
        replace(one, over=max(over, one.found), end="plan changed") if one.is_on else one
        for one in found
        if not one.is_on or one.kind != "silent" or one.found < over or Message("", one, "begin").key in told
    ]
    return kept, losses


def _deliver(
    folder: Folder, campaign: Campaign, plan: Plan, found: Sequence[Alarm], settings: Alarms
) -> bool:
    """Send what is due; returns whether nothing of these alarms is to be tried again."""
    from flowsweep.alarms.delivery.due import Teller, deliver_due, due
    from flowsweep.alarms.delivery.ways import deliver

    try:
        ledger = Ledger(folder)
    except BlockingIOError:
        return False  # Another process is at it.
    try:
        teller = Teller(plan.campaign.name, f"{campaign.created_at.isoformat()} {campaign.seed}")
        for entry in deliver_due(teller, found, settings, ledger, deliver, time.time):
            if entry.error is not None:
                was = "was not" if entry.outcome == "failed" else "was"
                say(f"{entry.target}: {entry.key} {was} delivered: {entry.error}", err=True)
        return not any(due(teller, found, settings, ledger.deliveries, math.inf))
    finally:
        ledger.close()


def _delivered(alarm: Alarm, deliveries: Deliveries) -> dict[str, dict[str, object]]:
    """By message and way, what became of it; only of those that were tried."""
    return {
        f"{moment} by {target}": {
            "delivered": one.delivered,
            "tries": one.tries,
            "error": one.error,
        }
        for moment in ("begin", "end")
        for (key, target), one in deliveries.of.items()
        if key == Message("", alarm, moment).key
    }


def _lines(
    plan: Plan, told: Sequence[Alarm], notes: Sequence[Alarm], deliveries: Deliveries
) -> Iterator[str]:
    on = [one for one in told if one.is_on]
    over = [one for one in told if not one.is_on]
    now = shown_time(time.time_ns())
    yield f"{plan.campaign.name}: {counted(len(on), 'alarm')} on, {len(over)} over ({now})"
    for one in on:
        yield f"ON  {one.kind}: {sentence(one)}; found {moment_text(one.found)}"
        yield from _undelivered(one, deliveries)
    for one in over[-_OVER_SHOWN:]:
        until = "" if one.over is None else f"; over {moment_text(one.over)} ({one.end})"
        yield f"was {one.kind}: {sentence(one)}{until}"
        yield from _undelivered(one, deliveries)
    if len(over) > _OVER_SHOWN:
        yield f"and {len(over) - _OVER_SHOWN} before: --json has all"
    for one in notes[-_OVER_SHOWN:]:
        yield f"note: {sentence(one)}"


def _undelivered(alarm: Alarm, deliveries: Deliveries) -> Iterator[str]:
    for what, one in _delivered(alarm, deliveries).items():
        if one["delivered"]:
            if one["error"]:
                yield f"    {what}: {one['error']}"
        else:
            why = one["error"] or "cut short"
            tries = counted(int(str(one["tries"])), "try", "tries")
            yield f"    {what}: not delivered after {tries}: {why}"
