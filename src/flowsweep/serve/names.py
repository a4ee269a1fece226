"""What archives that are served together are called, and how addresses name them."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import count, islice
from pathlib import Path

from flowsweep.archive.campaign import Campaign, begun_unix_ns
from flowsweep.campaigns.succession import Begun, successors
from flowsweep.grouping import grouped

_DIGITS = 10
_PATH_DIGITS = 6


def names_apart(archives: Sequence[Begun]) -> list[str]:
    """Call each archive by another name, in their order: by which else should a metric tell them apart?

    One that goes on has its campaign's name, whatever was measured before it and left since its plan changed.
    Where several have the same, each is called by as much of its path as tells them apart: of that of the
    oldest archive of its campaign, so that it stays when the plan changes.
    """
    left = successors(archives)
    going_on = [one for one in archives if one.folder not in left]
    found: dict[Path, str] = {}
    for group in sorted(grouped(going_on, lambda one: one.name).values(), key=len):
        if len(group) == 1:
            found[group[0].folder] = group[0].name
        else:
            found |= _by_paths([_oldest(one, archives, left) for one in group], group, set(found.values()))
    names = Counter(one.folder.name for one in archives)
    for one in archives:
        if one.folder not in found:
            taken = set(found.values())
            ends = _ends(one.folder, 1 if names[one.folder.name] == 1 else 2)
            found[one.folder] = next(end for end in ends if end not in taken)
    return [found[one.folder] for one in archives]


def address_of(campaign: Campaign) -> str:
    """How addresses name an archive: by when its campaign began and its seed, wherever it lies.

    It begins with a letter, as no number does.
    """
    return "c" + _digest(f"{begun_unix_ns(campaign)} {campaign.seed}", _DIGITS)


def address_of_copy(campaign: Campaign, folder: Path) -> str:
    """How addresses name an archive beside another of the same campaign, such as a copy."""
    return f"{address_of(campaign)}-{_digest(str(folder.resolve()), _PATH_DIGITS)}"


def _by_paths(paths: Sequence[Path], group: Sequence[Begun], taken: set[str]) -> dict[Path, str]:
    """Names of archives of one name: equally many last parts of these paths, as few as tell them apart."""
    # Those that lie in one place no part tells apart: a link leads elsewhere now.
    ways = islice(
        zip(*(_ends(path, 2) for path in paths), strict=False), max(len(one.parts) for one in paths)
    )
    names = next((way for way in ways if len(set(way)) == len(way) and taken.isdisjoint(way)), None)
    if names is None:
        names = tuple(f"{path} {number}" for number, path in enumerate(paths, start=1))
    return dict(zip((one.folder for one in group), names, strict=True))


def _oldest(of: Begun, archives: Sequence[Begun], left: Mapping[Path, Path]) -> Path:
    """Where the campaign of an archive was measured first."""
    campaign = [of, *(one for one in archives if left.get(one.folder) == of.folder)]
    return min(campaign, key=lambda one: one.number or 1).folder


def _ends(path: Path, first: int) -> Iterator[str]:
    """The last parts of a path, one more each time; once there are no more, with a number."""
    for parts in range(first, len(path.parts)):
        yield "/".join(path.parts[-parts:])
    for number in count(2):
        yield f"{path} {number}"


def _digest(text: str, digits: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:digits]
