"""`flowsweep status`: what a campaign with times does now, what comes next, what it missed."""

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from typing import Annotated, Literal

import typer
from pydantic import ValidationError

from flowsweep.archive.campaign import archives_in, begun_unix_ns, is_imported
from flowsweep.archive.last_measured import last_measured
from flowsweep.archive.totals import CampaignSoFar, PathKey, PathTotals, read_so_far
from flowsweep.campaigns.succession import goes_on_in
from flowsweep.cli.app import app, print_error
from flowsweep.cli.archives import print_warnings
from flowsweep.cli.exit_codes import EXIT_USAGE
from flowsweep.cli.options import Format, TextOrJson
from flowsweep.cli.progress import missed_words
from flowsweep.cli.terminal import say, say_json
from flowsweep.defaults import SECOND_NS
from flowsweep.errors import ArchiveError
from flowsweep.plan import Plan
from flowsweep.run.hold_ups import shown_time
from flowsweep.schedule import Occasion, has_times, occasions
from flowsweep.schedule.overdue import due_well_before, was_due_twice
from flowsweep.wording import counted, direction, format_duration

_MISSED_SHOWN = 10


@dataclass(frozen=True, slots=True)
class PathStatus:
    """A direction of a sweep: when it was measured last, when it is due next."""

    sweep: str
    src: str
    dst: str
    last_ok_at: str | None
    last_ok_age_s: float | None
    last_status: str | None
    """Of the last trial, whatever came of it."""
    silent: bool
    """It was due more than once since it was measured last."""


@dataclass(frozen=True, slots=True)
class Status:
    """What an archive says of its campaign at a moment."""

    name: str
    state: Literal["runs", "does not run", "is over"]
    """It runs while a process has the archive open for writing."""
    trials: dict[str, int]
    """By status."""
    next_sweep: str | None
    next_due_at: str | None
    missed: int
    """How often a sweep did not run when it was due, or not all of it, as far as that is recorded."""
    paths: list[PathStatus]
    goes_on_in: str | None = None
    """The archive beside it in which the campaign goes on, since the plan changed: nothing is due here."""


@app.command(epilog="Exit code 0, also where a path is silent; 2: it is no archive, or cannot be read.")
def status(
    archive: Annotated[
        Path, typer.Argument(metavar="DIR", help="The archive, or a folder of archives, as a service has it.")
    ],
    form: TextOrJson = Format.text,
) -> None:
    """Say what a campaign does now, what comes next, what it missed, and which paths are silent."""
    several = archives_in(archive)
    now_ns = time.time_ns()
    read, found, unread = [], [], 0
    for folder in several or [archive]:
        try:
            one = read_so_far(folder)
            print_warnings(one.losses)
            if several and is_imported(one.campaign):
                say(_imported_words(one), err=True)
                continue
            found.append(_succeeded(status_of(one, _plan(one), now_ns), one))
            read.append(one)
        except ArchiveError as error:
            if not several:
                raise
            # What is wrong with one hides none of the others.
            print_error(error)
            unread += 1
    if form is Format.json:
        said = [
            asdict(status)
            | {"missed_times": [missed.model_dump(mode="json") for missed in one.totals.missed]}
            for one, status in zip(read, found, strict=True)
        ]
        say_json(said if several else said[0])
        raise typer.Exit(EXIT_USAGE if unread else 0)
    for number, (one, status) in enumerate(zip(read, found, strict=True)):
        if number:
            say("")
        for line in _lines(status, one, now_ns):
            say(line)
    raise typer.Exit(EXIT_USAGE if unread else 0)


def status_of(found: CampaignSoFar, plan: Plan, now_ns: int) -> Status:
    """Put together what is known at a moment, in Unix nanoseconds."""
    begun_ns = begun_unix_ns(found.campaign)
    coming = _coming(found, plan, begun_ns, now_ns)
    is_over = coming is None and has_times(plan)
    totals = found.totals
    return Status(
        name=plan.campaign.name,
        state="runs" if found.has_writer else "is over" if is_over else "does not run",
        trials={name: count for name, count in totals.statuses.items() if count},
        next_sweep=None if coming is None else coming.sweep,
        next_due_at=None if coming is None else shown_time(coming.due_unix_ns),
        missed=sum(one.count for one in totals.missed),
        paths=list(_paths(found, plan, begun_ns, now_ns)),
    )


def _succeeded(found: Status, so_far: CampaignSoFar) -> Status:
    """Of an archive that was left since its plan changed nothing is due, and nothing silent."""
    there = goes_on_in(so_far.folder, so_far.campaign)
    if there is None:
        return found
    paths = [replace(one, silent=False) for one in found.paths]
    return replace(found, next_sweep=None, next_due_at=None, paths=paths, goes_on_in=there.name)


def _imported_words(found: CampaignSoFar) -> str:
    return f"{found.folder}: imported, not measured here; `flowsweep summary` shows its trials"


def _plan(found: CampaignSoFar) -> Plan:
    if is_imported(found.campaign):
        raise ArchiveError(_imported_words(found))
    try:
        return Plan.model_validate_json(found.campaign.plan_json)
    except ValidationError as error:
        raise ArchiveError(
            f"{found.folder}: has no plan that this Flowsweep understands: it may be of another version; "
            "`flowsweep summary` shows its trials"
        ) from error


def _coming(found: CampaignSoFar, plan: Plan, begun_ns: int, now_ns: int) -> Occasion | None:
    """What may still begin, and neither ran nor was recorded as missed."""
    if not has_times(plan):
        return None
    due = occasions(plan, begun_ns, found.campaign.seed, due_well_before(plan, begun_ns, now_ns))
    ran = found.totals.ran
    left = (one for one in due if one.latest_unix_ns >= now_ns and one.number > ran.get(one.sweep, 0))
    return next(left, None)


def _paths(found: CampaignSoFar, plan: Plan, begun_ns: int, now_ns: int) -> Iterator[PathStatus]:
    of_path: dict[tuple[str, str, str], PathTotals | None] = {}
    for sweep in plan.sweeps:
        for path in sweep.paths:
            of_path[sweep.name, path.src, path.dst] = None
            if sweep.directions != "one":
                of_path[sweep.name, path.dst, path.src] = None
    of_path |= {(*key,): known for key, known in found.totals.paths.items()}
    measured = _measured(found, datetime.fromtimestamp(now_ns / SECOND_NS, UTC))
    for (name, src, dst), last in of_path.items():
        good = measured.get(PathKey(name, src, dst))
        since_ns = None if good is None else round(good.timestamp() * SECOND_NS)
        yield PathStatus(
            name,
            src,
            dst,
            last_ok_at=None if since_ns is None else shown_time(since_ns),
            last_ok_age_s=None if since_ns is None else round((now_ns - since_ns) / SECOND_NS, 1),
            last_status=None if last is None else last.last_status,
            silent=was_due_twice(plan, begun_ns, found.campaign.seed, name, since_ns=since_ns, now_ns=now_ns),
        )


def _measured(found: CampaignSoFar, now: datetime) -> dict[PathKey, datetime]:
    """When paths were measured last; where a clock was set back, what is in the future does not count."""
    last = {key: one.last_ok_at for key, one in found.totals.paths.items() if one.last_ok_at is not None}
    ahead = {key for key, at in last.items() if at > now}
    known = {key: at for key, at in last.items() if key not in ahead}
    return known | last_measured(found.folder, ahead, now) if ahead else known


def _lines(found: Status, so_far: CampaignSoFar, now_ns: int) -> Iterator[str]:
    state: str = "not running" if found.state == "does not run" else found.state
    if found.goes_on_in is not None:
        state = f"goes on in {found.goes_on_in}"
    yield f"{found.name}: {state} ({shown_time(now_ns)})"
    counts = ", ".join(f"{count} {name}" for name, count in sorted(found.trials.items()))
    yield f"trials: {counts or 'none yet'}"
    if found.next_sweep is not None:
        go_on = f"flowsweep run PLAN --archive {quote(str(so_far.folder))} --resume"
        waits = "" if found.state == "runs" else f", if it is gone on with until then: {go_on}"
        yield f"next: {found.next_sweep} at {found.next_due_at}{waits}"
    for path in found.paths:
        way = f"{path.sweep}, {direction(path.src, path.dst)}"
        if path.last_ok_age_s is None:
            said = "never measured"
        else:
            said = f"measured {format_duration(round(path.last_ok_age_s) * SECOND_NS)} ago, {path.last_ok_at}"
        if path.last_status not in (None, "ok"):
            said += f"; the last trial was {path.last_status}"
        yield f"{way}: {said}{'; SILENT for longer than it should be' if path.silent else ''}"
    if found.missed:
        recorded = so_far.totals.missed
        in_part = sum(one.count for one in recorded if one.trials_run)
        also = f", {in_part} of them in part" if in_part else ""
        yield f"missed: {counted(found.missed, 'time')}{also}"
        for one in recorded[-_MISSED_SHOWN:]:
            yield f"  {missed_words(one)}"
        if len(recorded) > _MISSED_SHOWN:
            yield f"  and {len(recorded) - _MISSED_SHOWN} before: --format json has all"
