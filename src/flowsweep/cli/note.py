"""`flowsweep note`: what people did, for whoever looks at a campaign later."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer

from flowsweep.archive.campaign import Campaign, open_folder, read_campaign
from flowsweep.archive.notes import TEXT_MAX, Note, add_note, damaged_notes, read_notes, shown_by_clocks
from flowsweep.campaigns.succession import goes_on_in
from flowsweep.cli.app import app
from flowsweep.cli.terminal import say
from flowsweep.errors import PlanError
from flowsweep.plan.readers import shown
from flowsweep.wording import is_utf8, printable

_AGO = re.compile(r"(\d{1,4})\s*(min|h|d)", re.ASCII)
_UNITS = {"min": "minutes", "h": "hours", "d": "days"}


@app.command(epilog="Exit code 0; 2: it is no archive, or the note cannot be kept.")
def note(
    archive: Annotated[Path, typer.Argument(metavar="DIR", help="The archive; a run may be writing it.")],
    text: Annotated[
        str | None, typer.Argument(help="What happened, in a few words; without it all notes are shown.")
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="When: 2027-01-31T18:00:00Z, or 30min, 2h, 3d for so long ago; now if absent.",
        ),
    ] = None,
) -> None:
    """Note what happened around a campaign, such as a new kernel, at its time; or show all notes."""
    folder = open_folder(archive)
    campaign = read_campaign(folder)
    if text is None and at is not None:
        raise PlanError("--at", ("found a time without TEXT, expected what happened then",))
    if text is None:
        notes = read_notes(folder)
        damaged = damaged_notes(folder)
        for problem in damaged:
            say(problem, err=True)
        if not (notes or damaged):
            say("no notes yet", err=True)
        for one in notes:
            say(f"{one.at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC  {one.text}")
        return
    if not is_utf8(text):
        raise PlanError("TEXT", (f"found {shown(text)}, expected UTF-8 text",))
    words = " ".join(printable(text).split())
    if not 1 <= len(words) <= TEXT_MAX:
        raise PlanError("TEXT", (f"found {len(words)} characters, expected from 1 to {TEXT_MAX}",))
    made = Note(at=_moment(at), text=words)
    add_note(folder, made)
    say(f"{made.at:%Y-%m-%d %H:%M:%S} UTC  {made.text}")
    if made.at > datetime.now(UTC):
        say("this time is in the future; the note is kept nevertheless", err=True)
    _tell_if_left(archive, campaign, made)


def _tell_if_left(archive: Path, campaign: Campaign, made: Note) -> None:
    """Say where a campaign goes on whose archive was left before the moment of a note."""
    there = goes_on_in(archive, campaign)
    if there is not None and made.at >= read_campaign(open_folder(there)).created_at:
        name = archive.resolve().name
        say(f"{name}: goes on in {there.name}; this note is shown with {name} only", err=True)


def _moment(text: str | None) -> datetime:
    """Read when it was; without a time zone in UTC.

    Raises:
        PlanError: It has another form.
    """
    now = datetime.now(UTC).replace(microsecond=0)
    if text is None:
        return now
    try:
        if match := _AGO.fullmatch(text.strip()):
            return shown_by_clocks(now - timedelta(**{_UNITS[match[2]]: int(match[1])}))
        found = datetime.fromisoformat(text.strip())
        return shown_by_clocks((found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC))
    except (ValueError, OverflowError):
        expected = "expected a time, as in 2027-01-31T18:00:00Z, or how long ago it was, as in 2h"
        raise PlanError("--at", (f"found {shown(text)}, {expected}",)) from None
