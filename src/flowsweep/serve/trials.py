"""Pages that are made when somebody asks: reports of some trials, one trial among them."""

import re
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

from flowsweep.archive.readers import ReadersLock
from flowsweep.run.outcome import Missed
from flowsweep.serve.campaign import PathKey, Pending
from flowsweep.serve.summarise import excerpt
from flowsweep.serve.watch import Watched

REPORT_MAX = 300
"""Trials of a report that is made on demand."""
_WAIT_S = 60.0
_ONE_AT_A_TIME = threading.BoundedSemaphore(1)
_WAITING = threading.BoundedSemaphore(3)
"""So many may ask at a time: each has a thread meanwhile, of which metrics need some, too."""
_BACK = re.compile(r'<a href="#trials">← All trials</a>')


class TooManyTrialsError(Exception):
    """More trials than a report is made of at once."""


class ReportsBusyError(Exception):
    """Another report is being made, and takes long."""


def trial_on(watched: Watched, trial: int) -> tuple[PathKey, Pending] | None:
    """Where a trial is recorded; None if there is no such trial."""
    with watched.lock:
        for key, state in watched.model.paths.items():
            for place in state.rows.places([trial]).values():
                row = state.rows.rows[place]
                return key, Pending(key, trial, int(row["attempt"]), int(row["offset"]), int(row["payload"]))
    return None


def trials_between(watched: Watched, begin: float, end: float, path: PathKey | None = None) -> list[Pending]:
    """Trials that began in a span of time, of one path or of all.

    Raises:
        TooManyTrialsError: There are more than a report is made of.
    """
    found: list[Pending] = []
    with watched.lock:
        for key, state in watched.model.paths.items():
            if path is not None and key != path:
                continue
            rows = state.rows.between(begin, end)
            if len(found) + len(rows) > REPORT_MAX:
                raise TooManyTrialsError
            found += [
                Pending(key, int(row["trial"]), int(row["attempt"]), int(row["offset"]), int(row["payload"]))
                for row in rows
            ]
    return found


def missed_between(watched: Watched, begin: float, end: float, sweep: str | None) -> list[Missed]:
    """What was due in a span of time and did not run, of one sweep or of all."""
    with watched.lock:
        missed = list(watched.model.missed)
    return [
        one
        for one in missed
        if (sweep is None or one.sweep == sweep)
        and one.last_due.timestamp() >= begin
        and one.first_due.timestamp() < end
    ]


def report_of(watched: Watched, trials: Sequence[Pending], missed: Sequence[Missed] = ()) -> str:
    """Make the report of some trials: the same page that `flowsweep report` writes of a whole archive.

    Args:
        watched: Their archive.
        trials: Which.
        missed: What was due beside them and did not run.

    Raises:
        ReportsBusyError: Others are asked for, and this one would have to wait too long, or beside too many.
        ArchiveError: Data cannot be read.
    """
    if not _WAITING.acquire(blocking=False):
        raise ReportsBusyError
    try:
        return _in_turn(watched, trials, missed)
    finally:
        _WAITING.release()


def _in_turn(watched: Watched, trials: Sequence[Pending], missed: Sequence[Missed]) -> str:
    from flowsweep.report.excerpt_text import report_text

    if not _ONE_AT_A_TIME.acquire(timeout=_WAIT_S):
        raise ReportsBusyError
    try:
        hold = ReadersLock(watched.folder)
        with (
            tempfile.TemporaryDirectory(prefix="flowsweep-serve-") as place,
            excerpt(
                watched.folder, watched.follower, watched.model, trials, Path(place) / "excerpt"
            ) as archive,
        ):
            hold.release()
            return report_text(archive, missed)
    finally:
        _ONE_AT_A_TIME.release()


def with_way_back(page: str, back: str) -> str:
    """Let the page of a trial lead back to that of its path; `back` is escaped already.

    Which page of a report is open stands in its address: `#trial-…`.
    """
    return _BACK.sub(f'<a href="{back}">← Path</a>', page, count=1)
