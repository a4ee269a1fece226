"""Which archives were left since their plan changed: a service goes on in a new one beside the old one."""

from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from flowsweep.archive.campaign import Campaign, archives_in, open_folder, read_campaign
from flowsweep.archive.journal import has_writer
from flowsweep.errors import FlowsweepError
from flowsweep.schedule import planned_name


class Begun(NamedTuple):
    """An archive, as far as succession asks."""

    folder: Path
    """Resolved."""
    name: str
    """Of the campaign in its plan; the folder's, where the plan has none."""
    at: datetime


def begun(folder: Path, campaign: Campaign) -> Begun:
    """What succession asks of an archive."""
    there = folder.resolve()
    return Begun(there, planned_name(campaign.plan) or there.name, campaign.created_at)


def successors(archives: Iterable[Begun]) -> dict[Path, Path]:
    """For each archive that was left the newest one of its campaign: beside it, and begun later."""
    archives = list(archives)
    newest: dict[tuple[Path, str], Begun] = {}
    for one in archives:
        beside = (one.folder.parent, one.name)
        if beside not in newest or newest[beside].at < one.at:
            newest[beside] = one
    last = ((one, newest[one.folder.parent, one.name]) for one in archives)
    return {one.folder: other.folder for one, other in last if one.at < other.at}


def goes_on_in(folder: Path, campaign: Campaign) -> Path | None:
    """The archive in which the campaign of another goes on; None where that is the newest, or is written.

    What cannot be read beside it does not count.
    """
    own = begun(folder, campaign)
    with suppress(FlowsweepError, OSError):
        if has_writer(open_folder(folder)):
            return None
    there = [own]
    with suppress(OSError):
        for archive in archives_in(own.folder.parent):
            with suppress(FlowsweepError, OSError):
                there.append(begun(archive, read_campaign(open_folder(archive))))
    return successors(there).get(own.folder)
