"""Where the parts of an archive lie: the first in its own folder, part N in `parts/N`."""

from flowsweep.archive.entries import PARTS_FOLDER, part_folder
from flowsweep.archive.folder import Folder


def part_numbers(folder: Folder) -> list[int]:
    """Which parts an archive has, in their order."""
    there = (name for name in folder.names(PARTS_FOLDER) if name.isascii() and name.isdecimal())
    return [1, *sorted(int(name) for name in there if name == str(int(name)) and int(name) > 1)]


def missing_parts(folder: Folder) -> tuple[str, ...]:
    """Say which parts are not there though later ones are, in sentences."""
    there = part_numbers(folder)
    missing = [number for number in range(1, there[-1]) if number not in there]
    return tuple(
        f"{folder.path / part_folder(number)}: is missing; its trials are left out" for number in missing
    )


def opened_part(folder: Folder, number: int) -> Folder:
    """The folder of a part."""
    return folder if number == 1 else folder.inside(part_folder(number))
