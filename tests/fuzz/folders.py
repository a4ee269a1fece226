"""Folders that inputs are written to: in memory where there is such a place, since there are a million."""

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

from flowsweep.archive import create_archive

MEMORY = Path("/dev/shm")


@cache
def archive_folder(plan_json: str) -> Path:
    """An archive without a trial, gone when this process ends."""
    place = MEMORY if MEMORY.is_dir() else None
    folder = Path(tempfile.mkdtemp(prefix="flowsweep-fuzz-", dir=place))
    atexit.register(shutil.rmtree, folder)
    create_archive(folder / "archive", plan_json=plan_json, seed=1).close()
    return folder / "archive"
