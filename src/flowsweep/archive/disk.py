"""The operating system's part of crash safety: what has returned from here survives a power cut."""

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from flowsweep.errors import ArchiveError

PAUSE_S = 0.02
"""Until it is looked again whether another process is done: with a lock, or with a record."""
_NO_ROOM = "Make room there, then go on with --resume: what was recorded is kept."
_NO_RIGHT = "See to it that you may read and write there, or work on a copy of the archive."
_REMEDIES = {
    errno.ENOSPC: _NO_ROOM,
    errno.EDQUOT: _NO_ROOM,
    errno.EACCES: _NO_RIGHT,
    errno.EPERM: _NO_RIGHT,
    errno.EROFS: _NO_RIGHT,
}


@contextmanager
def reported(path: Path, failed: str) -> Iterator[None]:
    """Say what the operating system refused in a way that a person can act on.

    Args:
        path: What the block is about; named where the system does not say itself which file it was.
        failed: As in "cannot be read".

    Raises:
        ArchiveError: In place of an OSError.
    """
    try:
        yield
    except OSError as error:
        remedy = _REMEDIES.get(error.errno or 0)
        message = f"{error.filename or path}: {failed}: {error.strerror or error}"
        raise ArchiveError(message if remedy is None else f"{message}. {remedy}") from error


def try_lock(descriptor: int, *, shared: bool = False) -> bool:
    """Lock a file for as long as its descriptor is open; says whether nobody else's lock is in the way."""
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def lock(descriptor: int) -> None:
    """Lock a file for as long as its descriptor is open; waits for whoever has it."""
    fcntl.flock(descriptor, fcntl.LOCK_EX)


def append(descriptor: int, data: bytes, *, at: int) -> None:
    """Write all of `data` at byte `at`, then wait for the disk."""
    written = 0
    while written < len(data):
        written += os.pwrite(descriptor, data[written:], at + written)
    os.fsync(descriptor)


def cut(descriptor: int, *, at: int) -> None:
    """Let a file end at byte `at`, for good."""
    os.ftruncate(descriptor, at)
    os.fsync(descriptor)
