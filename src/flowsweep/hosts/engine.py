"""The engine that comes with this installation."""

import hashlib
import shutil
import sys
from functools import cache
from importlib import metadata
from pathlib import Path

from flowsweep.errors import LaunchError

ENGINE_NAME = "flowsweep-engine"
THIS_MACHINE = "this machine"


def engine_path() -> Path:
    """Find the engine of this installation: its own distribution, the folder of this Python, then PATH.

    Raises:
        LaunchError: there is none.
    """
    for candidate in (_of_distribution(), Path(sys.executable).parent / ENGINE_NAME, _on_path()):
        if candidate is not None and candidate.is_file():
            return candidate
    raise LaunchError(
        THIS_MACHINE,
        f"the engine, {ENGINE_NAME}, is not installed: `pip install {ENGINE_NAME}` brings it (Linux only), "
        "in a checkout `make setup` builds it; for a host with an engine of its own, the plan can say where: "
        '`engine = "…"`',
    )


@cache
def engine_hash(path: Path) -> str:
    """Name a version of the engine: the first 16 hexadecimal digits of its SHA-256."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def _of_distribution() -> Path | None:
    try:
        files = metadata.distribution(ENGINE_NAME).files or []
    except metadata.PackageNotFoundError:
        return None
    return next((Path(str(file.locate())).resolve() for file in files if file.name == ENGINE_NAME), None)


def _on_path() -> Path | None:
    found = shutil.which(ENGINE_NAME)
    return None if found is None else Path(found)
