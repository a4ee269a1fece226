"""Which archives were left since their plan changed: a service goes on in a new one beside the old one."""

import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from flowsweep.archive.campaign import Campaign, archives_in, open_folder, read_campaign
from flowsweep.archive.journal import has_writer
from flowsweep.errors import FlowsweepError
from flowsweep.grouping import grouped
from flowsweep.schedule import planned_name

_NUMBERED = re.compile(r"(.+)-(?:[2-9]|[1-9][0-9]+)")
"""Archives of a campaign after the first: NAME-2 and so on."""


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
    """For each archive that was left the newest one of its campaign.

    That lies beside it and is called as it is but for a number, has a plan of the same name, and was begun
    later. Others of the same name are campaigns of their own: as of two sites, which are measured at once.
    """
    found: dict[Path, Path] = {}
    for group in grouped(archives, lambda one: (one.folder.parent, one.name)).values():
        stems = [_stems(one.folder.name) for one in group]
        for one, own in zip(group, stems, strict=True):
            of_campaign = (other for other, its in zip(group, stems, strict=True) if own & its)
            newest = max(of_campaign, key=lambda other: other.at)
            if newest.at > one.at:
                found[one.folder] = newest.folder
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
        stems = _stems(own.folder.name)
        for archive in archives_in(own.folder.parent):
            if not stems & _stems(archive.name):
                continue
            with suppress(FlowsweepError, OSError):
                there.append(begun(archive, read_campaign(open_folder(archive))))
    return successors(there).get(own.folder)


def _stems(name: str) -> frozenset[str]:
    """What a folder of this name is called without its number, which may be a part of its name."""
    numbered = _NUMBERED.fullmatch(name)
    return frozenset({name} if numbered is None else {name, numbered[1]})
