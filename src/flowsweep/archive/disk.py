"""The operating system's part of crash safety: what has returned from here survives a power cut."""

import fcntl
import os
import shutil
from pathlib import Path

from flowsweep.errors import ArchiveError


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
