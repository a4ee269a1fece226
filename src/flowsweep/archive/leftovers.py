"""What no record names: what a killed process left half done goes, all else is put aside."""

import re

from flowsweep.archive.entries import MERGED_FOLDER, TRIALS_FOLDER
from flowsweep.archive.folder import UNFINISHED, Folder
from flowsweep.archive.state import State

_UNFINISHED = re.compile(rf"([0-9a-f]{{12}}-)?[0-9]+{re.escape(UNFINISHED)}")


def clear_up(folder: Folder, state: State, *, whole_journal: bool) -> tuple[str, ...]:
    """Remove what is known to be unfinished, and put aside what nobody understands.

    Folders whose data were merged since stay: somebody may still read them, see `remove_stale`.

    Args:
        folder: The archive's.
        state: Of its journal.
        whole_journal: Nothing of it is lost. Otherwise what the last attempt that was started has left is put
            aside too: that it finished may be among what is lost.

    Returns:
        What was put aside, in sentences.
    """
    told = []
    for name in _unnamed(folder, state):
        if _is_unfinished(name) or (whole_journal and name == state.running):
            folder.remove(name)
        else:
            aside = folder.put_aside(name)
            told.append(f"{folder.path / name}: no record names it; it is kept as {aside}")
    return tuple(told)


def not_understood(folder: Folder, state: State) -> tuple[str, ...]:
    """What no record names and no attempt that is running can have left, from the archive's folder."""
    return tuple(
        name for name in _unnamed(folder, state) if not _is_unfinished(name) and name != state.running
    )


def _unnamed(folder: Folder, state: State) -> list[str]:
    kept = state.folders | state.stale
    inside = [
        f"{parent}/{name}" for parent in (TRIALS_FOLDER, MERGED_FOLDER) for name in folder.names(parent)
    ]
    return [name for name in inside if name not in kept]


def _is_unfinished(name: str) -> bool:
    return _UNFINISHED.fullmatch(name.rpartition("/")[2]) is not None


def remove_stale(folder: Folder, state: State) -> None:
    """Remove folders whose data were merged since: nobody may be reading the archive."""
    for name in sorted(state.stale):
        folder.remove(name)
    state.stale.clear()
