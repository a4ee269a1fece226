"""Files that are there completely or not at all."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def whole_file(target: Path) -> Iterator[Path]:
    """Give a path beside `target` to write to: behind the block it takes its place, unless the block fails.

    An older file is replaced; its mode stays, and its owner and group as far as this process may set them.
    Nothing is synced: a file may be lost with the machine's power.

    Raises:
        OSError: It cannot take its place.
    """
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.unfinished")
    try:
        yield unfinished
        _take_access(target, unfinished)
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def _take_access(older: Path, newer: Path) -> None:
    """Give a file the owner, group and mode of the one that it replaces, if that is a regular file."""
    try:
        was = older.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISREG(was.st_mode):
        return
    descriptor = os.open(newer, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        for owner in (was.st_uid, -1):
            # Who is not root may keep the group at most, and some file systems have neither.
            with suppress(OSError):
                os.fchown(descriptor, owner, was.st_gid)
                break
        mode = was.st_mode & 0o777
        if os.fstat(descriptor).st_gid != was.st_gid:
            mode &= 0o707 | (mode & 0o007) << 3  # another group may no more than everybody
        os.fchmod(descriptor, mode)
    finally:
        os.close(descriptor)
