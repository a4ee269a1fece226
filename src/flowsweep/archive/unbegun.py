"""An archive in which nothing began: whoever made it can take it back."""

from typing import Literal

from flowsweep.archive import disk
from flowsweep.archive.campaign import CAMPAIGN_FILE
from flowsweep.archive.entries import ALARMS_FILE, MERGED_FOLDER, MONITORS_FOLDER, TRIALS_FOLDER
from flowsweep.archive.folder import Folder
from flowsweep.archive.journal import JOURNAL_FILE
from flowsweep.archive.monitor_files import has_files_only

_FOLDERS = (TRIALS_FOLDER, MERGED_FOLDER)
_MADE = {CAMPAIGN_FILE, JOURNAL_FILE, ALARMS_FILE, MONITORS_FOLDER, *_FOLDERS}

Made = Literal["archive", "folder"]
"""What a process made that took nothing over: an archive in a folder that was there, or the folder, too."""


def take_back(folder: Folder, journal: int, *, with_folder: bool) -> None:
    """Remove an archive that holds no attempt, unless anything else lies in it. Its lock is had meanwhile.

    What monitors told goes with it: nothing ran that it would be about. Alarms that were told stay.
    After every step it is a whole archive still, or what a creation that was killed leaves.

    Args:
        folder: The archive's.
        journal: Descriptor of its journal.
        with_folder: Remove the folder, too.

    Raises:
        OSError: Not all of it could be removed.
    """
    if not set(folder.all_names()) <= _MADE or any(folder.names(name) for name in _FOLDERS):
        return
    if not has_files_only(folder) or (folder.has_file(ALARMS_FILE) and folder.file_bytes(ALARMS_FILE)):
        return
    folder.remove(MONITORS_FOLDER)
    folder.remove(ALARMS_FILE)
    disk.cut(journal, at=0)
    for name in _FOLDERS:
        folder.remove_empty_folder(name)
    folder.remove(CAMPAIGN_FILE)
    folder.remove(JOURNAL_FILE)
    if with_folder:
        folder.path.rmdir()
