"""Where the parts of an archive lie: the first in its own folder, part N in `parts/N`."""

from itertools import pairwise

from flowsweep.archive.entries import PARTS_FOLDER, part_folder
from flowsweep.archive.folder import Folder


def part_numbers(folder: Folder) -> list[int]:
    """Which parts an archive has, in their order."""
    there = (name for name in folder.names(PARTS_FOLDER) if name.isascii() and name.isdecimal())
    return [1, *sorted(int(name) for name in there if name == str(int(name)) and int(name) > 1)]


def missing_parts(folder: Folder) -> tuple[str, ...]:
    """Say which parts are not there though later ones are, in sentences: one for each gap."""
    gaps = ((before + 1, after - 1) for before, after in pairwise(part_numbers(folder)))
    return tuple(
        f"{folder.path / part_folder(first)}: is missing; its trials are left out"
        if first == last
        else f"{folder.path / part_folder(first)} to {last}: are missing; their trials are left out"
        for first, last in gaps
        if first <= last
    )


def opened_part(folder: Folder, number: int) -> Folder:
    """The folder of a part."""
    return folder if number == 1 else folder.inside(part_folder(number))
