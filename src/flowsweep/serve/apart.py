"""Telling archives apart that are served together: their names, their addresses, which were left."""

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from flowsweep.archive.follow_parts import end_of
from flowsweep.archive.journal import has_writer
from flowsweep.campaigns.succession import Begun, begun, successors
from flowsweep.errors import FlowsweepError
from flowsweep.grouping import grouped
from flowsweep.serve.names import address_of, address_of_copy, names_apart
from flowsweep.serve.watch import Watched

if TYPE_CHECKING:
    from pathlib import Path


def has_changed(one: Watched) -> bool:
    """Whether it is to be told apart anew: another is in its place, or it was removed or came back."""
    return one.told_apart_as != begun(one.folder.path, one.model.campaign)


def tell_apart(watched: Sequence[Watched]) -> None:
    """Give each archive a name and an address of its own, and say which were left."""
    places: dict[Path, tuple[Watched, Begun]] = {}
    for one in watched:
        one.told_apart_as = archive = begun(one.folder.path, one.model.campaign)
        one.is_twin = archive.folder in places
        one.model.is_gone |= one.is_twin
        places.setdefault(archive.folder, (one, archive))
    archives = [archive for _, archive in places.values()]
    left = successors(archives)
    names = names_apart(archives)
    addresses = _addresses([one for one, _ in places.values()])
    for (one, archive), name, address in zip(places.values(), names, addresses, strict=True):
        with one.lock:
            one.model.address = address
            # Before its name: metrics may look at any time, and leave it out.
            one.model.is_left = archive.folder in left
            one.model.name = name


def _addresses(watched: Sequence[Watched]) -> list[str]:
    """By what addresses name archives: of copies, the one that goes on has what links before them say."""
    found: dict[int, str] = {}
    for address, group in grouped(watched, lambda one: address_of(one.model.campaign)).items():
        foremost = group[0] if len(group) == 1 else max(group, key=_progress)
        for one in group:
            beside = address_of_copy(one.model.campaign, one.folder.path)
            found[one.number] = address if one is foremost else beside
    return [found[one.number] for one in watched]


def _progress(one: Watched) -> tuple[bool, bool, int]:
    """Of copies that which is there, is written or else has the longest journal is ahead."""
    is_there = one.folder.path.exists()
    with suppress(FlowsweepError, OSError):
        return is_there, has_writer(one.folder), end_of(one.folder)
    return False, False, 0
