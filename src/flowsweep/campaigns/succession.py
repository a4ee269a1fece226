"""Which archives were left since their plan changed: a service goes on in a new one beside the old one."""

import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from flowsweep.archive.campaign import Campaign, archives_in, open_folder, read_campaign
from flowsweep.archive.journal import has_writer
from flowsweep.errors import FlowsweepError
from flowsweep.grouping import grouped
from flowsweep.schedule import planned_name

_NOT_IN_NAMES = re.compile(r"[^\w.-]+")


class Begun(NamedTuple):
    """An archive, as far as succession asks."""

    folder: Path
    """Resolved."""
    name: str
    """Of the campaign in its plan; the folder's, where the plan has none."""
    number: int | None
    """Which archive of that campaign it is, as a service numbers them; None: it is called otherwise."""
    is_there: bool
    """Whether it was not removed."""


def folder_called(name: str) -> str:
    """What the archives of a campaign of this name are called, but for their number."""
    return _NOT_IN_NAMES.sub("-", name).strip("-.") or "campaign"


def number_of(folder: str, name: str) -> int | None:
    """Which archive of a campaign a folder is by its name; `NAME` is 1. None: it is called otherwise."""
    found = re.fullmatch(rf"{re.escape(folder_called(name))}(?:-([2-9]|[1-9][0-9]+))?", folder)
    return None if found is None else int(found[1] or 1)


def begun(folder: Path, campaign: Campaign) -> Begun:
    """What succession asks of an archive."""
    there = folder.resolve()
    name = planned_name(campaign.plan) or there.name
    return Begun(there, name, number_of(there.name, name), there.exists())


def successors(archives: Iterable[Begun]) -> dict[Path, Path]:
    """For each archive that was left the newest one of its campaign.

    That lies beside it and has a plan of the same name; both are called as a service calls them, and it has
    the higher number: a clock may have been set back. Others of the same name are campaigns of their own: as
    of two sites, which are measured at once. Where a newer one was removed, it goes on in what is there.
    """
    numbered = [(one.number, one) for one in archives if one.number is not None]
    found: dict[Path, Path] = {}
    for group in grouped(numbered, lambda both: (both[1].folder.parent, both[1].name)).values():
        _, newest = max([both for both in group if both[1].is_there] or group)
        found |= {one.folder: newest.folder for _, one in group if one.folder != newest.folder}
    return found


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
            if number_of(archive.name, own.name) is not None:
                with suppress(FlowsweepError, OSError):
                    there.append(begun(archive, read_campaign(open_folder(archive))))
    return successors(there).get(own.folder)
