"""Who reads an archive shares a lock on its `campaign.json`: files that were merged since stay until then."""

import os
import time
import weakref
from contextlib import suppress

from flowsweep.archive import disk
from flowsweep.archive.campaign import CAMPAIGN_FILE
from flowsweep.archive.folder import Folder
from flowsweep.errors import ArchiveError

_WAIT_S = 2.0
_WAIT_FOR_WRITER_S = 60.0


class ReadersLock:
    """One reader's share of the lock, until `release` or until nobody knows it any more.

    Raises:
        ArchiveError: A writer has it for longer than it takes to remove files.
    """

    def __init__(self, folder: Folder) -> None:
        descriptor = folder.open(CAMPAIGN_FILE)
        self.release = weakref.finalize(self, os.close, descriptor)
        deadline = time.monotonic() + _WAIT_FOR_WRITER_S
        # A file system without locks has no writer either.
        with suppress(OSError):
            while not disk.try_lock(descriptor, shared=True):
                if time.monotonic() >= deadline:
                    raise ArchiveError(
                        f"{folder.path}: old files are being removed from it for {_WAIT_FOR_WRITER_S:g} s "
                        "already: try again later"
                    )
                time.sleep(disk.PAUSE_S)


def wait_for_readers(folder: Folder) -> int | None:
    """Keep readers out, for as long as the descriptor that is returned is open.

    Returns:
        None if somebody still reads after 2 s, or nobody can tell: there is no lock to be had.
    """
    deadline = time.monotonic() + _WAIT_S
    try:
        descriptor = folder.open(CAMPAIGN_FILE, writable=True)
    except PermissionError:
        # On a local file system whoever may read a file may lock it.
        descriptor = folder.open(CAMPAIGN_FILE)
    try:
        while not disk.try_lock(descriptor):
            if time.monotonic() >= deadline:
                os.close(descriptor)
                return None
            time.sleep(disk.PAUSE_S)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor
