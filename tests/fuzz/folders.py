"""Folders that inputs are written to."""

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

from flowsweep.archive import create_archive


@cache
def archive_folder(plan_json: str) -> Path:
    """An archive without a trial, gone when this process ends."""
    folder = Path(tempfile.mkdtemp(prefix="flowsweep-fuzz-"))
    atexit.register(shutil.rmtree, folder)
    create_archive(folder / "archive", plan_json=plan_json, seed=1).close()
    return folder / "archive"
