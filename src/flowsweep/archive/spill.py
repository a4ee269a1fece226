"""Where DuckDB puts what does not fit into memory: a folder of this process alone, which ends with it."""

import atexit
import contextlib
import fcntl
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

_PREFIX = "flowsweep-spill-"


@cache
def spill_folder() -> Path:
    """Make this process's folder when it is first asked for: mode 0700, under a name that nobody can foresee.

    It is removed when the process ends; those that killed processes of this user left behind are removed now.
    A folder in use is locked (flock(2)), which the kernel undoes with the process, also in another container.
    """
    _remove_left()
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        if _lock(folder):
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
            return folder


def _lock(folder: Path) -> bool:
    """Lock it until this process ends; False if another one took it for left behind before that."""
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return False
    fcntl.flock(handle, fcntl.LOCK_EX)
    if _is_there(folder, handle):
        return True
    os.close(handle)
    return False


def _remove_left() -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        # Others' folders, links to somewhere else and what goes meanwhile are none of ours.
        with contextlib.suppress(OSError):
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                if os.fstat(handle).st_uid == os.geteuid():
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(folder)
            finally:
                os.close(handle)


def _is_there(folder: Path, handle: int) -> bool:
    try:
        return os.path.samestat(folder.lstat(), os.fstat(handle))
    except FileNotFoundError:
        return False
