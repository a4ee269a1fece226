"""Write a report to a file."""

import os
from pathlib import Path

from flowsweep.archive import Archive
from flowsweep.report.material import material
from flowsweep.report.render import render


def write_report(archive: Archive, target: Path) -> None:
    """Write the report of an archive into one HTML file that needs nothing else.

    The file is there completely or not at all; an older one is replaced.

    Raises:
        OSError: It cannot be written there.
    """
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.unfinished")
    try:
        unfinished.write_text(render(material(archive)), encoding="utf-8")
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
