"""The operating system's part of crash safety: what has returned from here survives a power cut."""

import errno
import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from flowsweep.errors import ArchiveError

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


def open_locked(path: Path) -> int:
    """Open or make a file as its only writer; returns the descriptor, which holds the lock.

    Raises:
        ArchiveError: Another process holds it.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise ArchiveError(
            f"{path.parent}: another flowsweep is writing this archive. Wait for its end, or choose another."
        ) from None
    return descriptor


def append(descriptor: int, data: bytes, *, at: int) -> None:
    """Write all of `data` at byte `at`, then wait for the disk."""
    written = 0
    while written < len(data):
        written += os.pwrite(descriptor, data[written:], at + written)
    os.fsync(descriptor)


def write_file(path: Path, data: bytes) -> None:
    """Put a file there as a whole or not at all."""
    beside = path.with_name(path.name + ".tmp")
    beside.write_bytes(data)
    sync(beside)
    rename(beside, path)


def rename(source: Path, target: Path) -> None:
    """Give a file or folder its final name, for good."""
    source.rename(target)
    sync(target.parent)


def sync(path: Path) -> None:
    """Wait until the disk has a file, or a folder's list of names."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folder(path: Path) -> None:
    """Make an empty folder; what a killed process left under that name goes."""
    remove_folder(path)
    path.mkdir()


def remove_folder(path: Path) -> None:
    """Remove a folder with all that is in it, if it is there."""
    if path.is_dir():
        shutil.rmtree(path)
