"""What running trials say of themselves so far: `live`, a file beside the journal that is no record.

Whoever measures replaces it about twice a second. It may be missing, late or left over from a process that
was killed; nothing that was measured is taken from it: what is known of a trial in the end is in its samples.
"""

from collections import deque
from collections.abc import Iterable
from typing import Annotated, NamedTuple

from pydantic import Field, ValidationError

from flowsweep.archive import disk
from flowsweep.archive.entries import TrialId
from flowsweep.archive.folder import Folder
from flowsweep.frozen import Frozen

LIVE_FILE = "live"
POINTS_MAX = 300
"""Of one trial: the last five minutes of one that says something each second."""
TRIALS_MAX = 1_000
"""As many as may run at the same time."""
LIVE_BYTES_MAX = 16 << 20
NUMBER_MAX = 1e15
Number = Annotated[float, Field(ge=0, le=NUMBER_MAX, allow_inf_nan=False)]


class Point(NamedTuple):
    """What a trial's sinks got in about a second."""

    elapsed_s: Number
    """Up to when, from the first sink's time origin."""
    rate_bps: Number
    """Goodput since the point before, of all flows of the trial."""


class LiveTrial(Frozen):
    """A trial that runs."""

    trial_id: TrialId
    points: Annotated[tuple[Point, ...], Field(max_length=POINTS_MAX)]
    """In the order of time."""


class Live(Frozen):
    """The file."""

    trials: Annotated[tuple[LiveTrial, ...], Field(max_length=TRIALS_MAX)] = ()


def write_live(folder: Folder, trials: Iterable[tuple[str, deque[Point]]]) -> None:
    """Replace the file.

    Raises:
        ArchiveError: The disk does not take it, or something that is no file is in the way.
    """
    listed = tuple(LiveTrial(trial_id=name, points=tuple(points)) for name, points in trials)
    with disk.reported(folder.path / LIVE_FILE, "cannot be written"):
        folder.replace(LIVE_FILE, Live(trials=listed[:TRIALS_MAX]).model_dump_json().encode())


def remove_live(folder: Folder) -> None:
    """Let nothing be said any more: nothing runs.

    Raises:
        ArchiveError: It cannot be removed.
    """
    with disk.reported(folder.path / LIVE_FILE, "cannot be removed"):
        folder.remove(LIVE_FILE)


def read_live(folder: Folder) -> Live:
    """Read the file; nothing runs where there is none, or where what is there is none.

    Raises:
        ArchiveError: It cannot be read.
    """
    with disk.reported(folder.path / LIVE_FILE, "cannot be read"):
        try:
            return Live.model_validate_json(folder.read(LIVE_FILE, at_most=LIVE_BYTES_MAX))
        except (FileNotFoundError, ValidationError):
            return Live()


def live_stamp(folder: Folder) -> tuple[int, int] | None:
    """Inode and time of the last change, which another file has than the one that was read; None if none is.

    Raises:
        ArchiveError: It cannot be looked at.
    """
    with disk.reported(folder.path / LIVE_FILE, "cannot be read"):
        return folder.stamp(LIVE_FILE)
