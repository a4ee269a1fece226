"""What a sweep of files must have, and what must agree in it."""

from collections.abc import Iterator

from flowsweep import defaults
from flowsweep.plan.hosts.expansion import members
from flowsweep.plan.input import HostTable, PlanFile
from flowsweep.plan.problems import KeyPath, Problem
from flowsweep.plan.sweeps.table import SweepTable
from flowsweep.units import write_size

_DIRECT = "direct"


def file_problems(file: PlanFile, sweep: SweepTable, _: list[int], at: KeyPath) -> Iterator[Problem]:
    """Find folders that are missing, and keys that contradict each other."""
    yield from _folder_problems(file, sweep, at)
    yield from _length_problems(sweep, at)
    if _DIRECT in (sweep.cache or ()) and True in sweep.sendfile:
        message = (
            f'found together with cache = "{_DIRECT}", expected one of them: it sends from the page cache'
        )
        yield Problem((*at, "sendfile"), message, about=((*at, "cache"),))
    if sweep.read is not None:
        if sweep.file_size is not None:
            message = "found together with `read`, expected one of them: files that are there have a size"
            yield Problem((*at, "file_size"), message, about=((*at, "read"),))
        if "content" in sweep.model_fields_set:
            message = "found together with `read`, expected one of them: files that are there have a content"
            yield Problem((*at, "content"), message, about=((*at, "read"),))
        if sweep.directions != "one":
            message = (
                f'found with directions = "{sweep.directions}", expected "one": it names files of one host'
            )
            yield Problem((*at, "read"), message, about=((*at, "directions"),))


def _folder_problems(file: PlanFile, sweep: SweepTable, at: KeyPath) -> Iterator[Problem]:
    ends = (
        name for path in sweep.paths for end in (path.src, path.dst) for name in members(file.groups, end)
    )
    for name in dict.fromkeys(ends):
        if file.hosts.get(name, HostTable()).folder is None:
            message = "missing: write a folder of that host in which files may be made, for a sweep of files"
            yield Problem(("hosts", name, "folder"), message, about=((*at, "test"), ("hosts", name)))


def _length_problems(sweep: SweepTable, at: KeyPath) -> Iterator[Problem]:
    block = defaults.DIRECT_BLOCK_BYTES
    for index, length in enumerate(sweep.length or ()):
        if _DIRECT in (sweep.cache or ()) and length % block:
            path = (*at, "length", index) if len(sweep.length or ()) > 1 else (*at, "length")
            message = (
                f'found {write_size(length)} with cache = "{_DIRECT}", expected a multiple of '
                f"{write_size(block)}: disks are read and written in whole blocks then"
            )
            yield Problem(path, message, about=((*at, "cache"),))
