"""What no record names: what a killed process left half done goes, all else is put aside."""

import os
import re
from collections.abc import Iterable
from contextlib import ExitStack

from flowsweep.archive import disk
from flowsweep.archive.entries import MERGED_FOLDER, TRIAL_ID, TRIALS_FOLDER
from flowsweep.archive.folder import UNFINISHED, Folder
from flowsweep.archive.readers import wait_for_readers
from flowsweep.archive.state import State

_UNFINISHED = re.compile(rf"({TRIAL_ID.pattern}-)?[0-9]+{re.escape(UNFINISHED)}")


def clear_up(folder: Folder, state: State) -> tuple[str, ...]:
    """Remove what is known to be unfinished, and put aside what nobody understands.

    Folders whose data were merged since stay: somebody may still read them, see `remove_stale`.

    Returns:
        What was put aside, in sentences.
    """
    kept_aside = []
    for name in _unnamed(data_folders(folder), state):
        if _is_unfinished(name):
            folder.remove(name)
        else:
            aside = folder.put_aside(name)
            kept_aside.append(f"{folder.path / name}: no record names it; it is kept as {aside}")
    return tuple(kept_aside)


def data_folders(folder: Folder) -> list[str]:
    """All that lies where data do, from the archive's folder."""
    return [f"{parent}/{name}" for parent in (TRIALS_FOLDER, MERGED_FOLDER) for name in folder.names(parent)]


def not_understood(there: Iterable[str], state: State) -> tuple[str, ...]:
    """Of what lies where data do: what no record names, and is not being written."""
    return tuple(name for name in _unnamed(there, state) if not _is_unfinished(name))


def _unnamed(there: Iterable[str], state: State) -> list[str]:
    kept = state.folders | state.stale
    return [name for name in there if name not in kept]


def _is_unfinished(name: str) -> bool:
    return _UNFINISHED.fullmatch(name.rpartition("/")[2]) is not None


def remove_stale(folder: Folder, state: State, *, whole: Folder) -> bool:
    """Remove folders whose data do not count any more, unless somebody reads the archive.

    Args:
        folder: Of the part that they lie in.
        state: Of that part.
        whole: The archive's; the same, if the part is its first.

    Returns:
        Whether they are gone.
    """
    if state.stale.isdisjoint(data_folders(folder)):
        return True
    with ExitStack() as held:
        for one in {whole.path: whole, folder.path: folder}.values():
            if (descriptor := wait_for_readers(one)) is None:
                return False
            held.callback(os.close, descriptor)
        with disk.reported(whole.path, "data that do not count any more cannot be removed"):
            for name in sorted(state.stale):
                folder.remove(name)
    state.stale.clear()
    return True
