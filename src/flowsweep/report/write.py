"""Write a report to a file."""

import os
from collections.abc import Callable
from pathlib import Path

from flowsweep.archive import Archive
from flowsweep.report.material import material
from flowsweep.report.render import render


def write_report(archive: Archive, target: Path, told: Callable[[str], object] = str) -> None:
    """Write the report of an archive into one HTML file that needs nothing else.

    The file is there completely or not at all; an older one is replaced. `told` is called with what is going
    on, in a few words, whenever that changes.

    Raises:
        OSError: It cannot be written there.
    """
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.unfinished")
    try:
        made_of = material(archive, told)
        told("drawing figures")
        unfinished.write_text(render(made_of), encoding="utf-8")
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
