"""What was read and summed up, kept in a file of the user's cache: a new start goes on where the last was.

The archive is the truth: the file counts only if the journal still begins as it did, and whatever is wrong
with the file has everything read anew.
"""

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from pydantic import ValidationError

from flowsweep.archive.campaign import CAMPAIGN_FILE
from flowsweep.archive.entries import CompactedEntry, RetiredEntry
from flowsweep.archive.folder import Folder
from flowsweep.archive.follow_parts import byte_of, part_of
from flowsweep.archive.journal import JOURNAL_FILE
from flowsweep.archive.part_folders import opened_part
from flowsweep.errors import FlowsweepError
from flowsweep.run.outcome import Missed
from flowsweep.serve.campaign import CampaignModel, Merged, PathKey, PathState
from flowsweep.serve.rows import ROW, PathRows
from flowsweep.version import __version__

FORMAT = 6
_LOOKED_AT_BYTES = 64 << 10
"""Of the journal's beginning, and of what stands before the place that was read up to."""
_ERRORS = (
    BadZipFile,
    EOFError,
    FlowsweepError,
    IndexError,
    KeyError,
    OSError,
    TypeError,
    ValidationError,
    ValueError,
)


def cache_folder() -> Path:
    """Where programs of this user keep what they can make again."""
    chosen = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(chosen) if chosen.startswith("/") else Path.home() / ".cache") / "flowsweep" / "serve"


class Kept:
    """The file of one archive.

    Args:
        place: The folder of such files; made when something is kept.
        folder: The archive's.
    """

    def __init__(self, place: Path, folder: Folder) -> None:
        self._folder = folder
        name = hashlib.sha256(str(folder.path.resolve()).encode()).hexdigest()[:24]
        self._file = place / f"{name}.npz"

    def load(self, model: CampaignModel) -> int:
        """Fill a model that has read nothing; returns how much of the journal it has read then, in bytes."""
        try:
            with self._file.open("rb") as file, np.load(file, allow_pickle=False) as found:
                about = json.loads(found["about"].tobytes())
                rows = found["rows"]
            offset = int(about["offset"])
            if (about["format"], about["version"]) != (FORMAT, __version__) or rows.dtype != ROW:
                return 0
            if about["archive"] != self._archive(offset):
                return 0
            _fill(model, about, rows)
        except _ERRORS:
            model.begin()
            return 0
        return offset

    def save(self, model_about: dict[str, Any], rows: np.ndarray[Any, Any], offset: int) -> None:
        """Keep what `contents` took; the file is there as a whole or not at all, and that is no matter."""
        unfinished = self._file.with_suffix(f".{os.getpid()}.tmp.npz")
        try:
            about = model_about | {
                "format": FORMAT, "version": __version__, "offset": offset, "archive": self._archive(offset)
            }  # fmt: skip
            self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            text = np.frombuffer(json.dumps(about).encode(), np.uint8)
            with unfinished.open("wb") as file:
                np.savez(file, about=text, rows=rows)
            unfinished.replace(self._file)
        except (FlowsweepError, OSError):
            with suppress(OSError):
                unfinished.unlink(missing_ok=True)

    def _archive(self, offset: int) -> str:
        """What tells this archive, as far as it was read, from another one in its place."""
        digest = hashlib.sha256(self._folder.read(CAMPAIGN_FILE, at_most=64 << 20))
        descriptor = opened_part(self._folder, part_of(offset)).open(JOURNAL_FILE)
        try:
            behind = byte_of(offset)
            first = min(_LOOKED_AT_BYTES, behind)
            digest.update(os.pread(descriptor, first, 0))
            digest.update(os.pread(descriptor, first, behind - first))
        finally:
            os.close(descriptor)
        return digest.hexdigest()


def contents(model: CampaignModel) -> tuple[dict[str, Any], np.ndarray[Any, Any]]:
    """Copy what is to be kept of a model; the caller sees to it that nothing changes meanwhile."""
    states = list(model.paths.items())
    about = {
        "paths": [[*key, state.test, len(state.rows.rows), list(state.points)] for key, state in states],
        "statuses": dict(model.statuses),
        "missed": [one.model_dump(mode="json") for one in model.missed],
        "hosts": model.hosts,
        "verdicts": model.verdicts,
        "merged": [
            [part, one.files.model_dump(mode="json"), one.behind] for part, one in model.merged.items()
        ],
    }
    about["over"] = list(model.over.items())
    about["retired"] = [[part, one.model_dump(mode="json")] for part, one in list(model.retired.items())]
    parts = [state.rows.rows for _, state in states]
    return about, np.concatenate(parts) if parts else np.zeros(0, ROW)


def _fill(model: CampaignModel, about: dict[str, Any], rows: np.ndarray[Any, Any]) -> None:
    first = 0
    model.version += 1
    for sweep, src, dst, test, count, points in about["paths"]:
        own = rows[first : first + count].copy()
        if len(own) != count:
            raise ValueError("rows are missing")
        first += count
        known = {_as_point(point): number for number, point in enumerate(points)}
        key = PathKey(sweep, src, dst)
        model.paths[key] = PathState(
            PathRows(own) if count else PathRows(), known, test, version=model.version
        )
        model.wait_for(key, own[~own["summed"]])
    model.statuses.update(about["statuses"])
    model.missed = [Missed.model_validate(one) for one in about["missed"]]
    model.hosts = about["hosts"]
    model.verdicts = about["verdicts"]
    model.merged = {
        int(part): Merged(CompactedEntry.model_validate(files), int(behind))
        for part, files, behind in about["merged"]
    }
    model.over = {int(part): int(place) for part, place in about["over"]}
    model.retired = {int(part): RetiredEntry.model_validate(one) for part, one in about["retired"]}
    model.has_sums = True


def _as_point(stored: list[Any]) -> tuple[Any, ...]:
    return tuple(tuple(level) if isinstance(level, list) else level for level in stored)
