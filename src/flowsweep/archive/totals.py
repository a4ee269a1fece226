"""What a campaign came to so far, in short: what `flowsweep status` says without reading all of a journal.

The file `totals` of a part is made of the records of this part and of those before, up to a byte of the
part's journal; who reads takes what was recorded since from the journal itself. It is no record of its own:
one that is missing, old or wrong costs time, since everything is added up anew then.
"""

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from flowsweep.archive import disk
from flowsweep.archive.campaign import Campaign, open_folder, read_campaign
from flowsweep.archive.entries import ContinuedEntry, Entry, FinishedEntry, MissedEntry
from flowsweep.archive.folder import Folder
from flowsweep.archive.follow import JournalFollower
from flowsweep.archive.journal import JOURNAL_FILE, has_writer
from flowsweep.archive.leftovers import data_folders, not_understood
from flowsweep.archive.losses import lost_of_journal
from flowsweep.archive.part_folders import opened_part, part_numbers
from flowsweep.archive.state import State
from flowsweep.errors import ArchiveError
from flowsweep.run.outcome import Missed, TrialRecord
from flowsweep.wording import counted

TOTALS_FILE = "totals"
KEPT_EVERY = 500
"""Trials after which it is written anew."""
_BYTES_MAX = 256 << 20
_TRIES = 25


class PathTotals(BaseModel):
    """A direction of a sweep."""

    model_config = ConfigDict(extra="forbid")

    sweep: str
    src: str
    dst: str
    last_ok_at: AwareDatetime | None = None
    last_at: AwareDatetime | None = None
    last_status: str | None = None


class _Kept(BaseModel):
    model_config = ConfigDict(extra="forbid")

    journal_end: Annotated[int, Field(ge=0)]
    """Behind the last record that is counted."""
    statuses: dict[str, int]
    ran: dict[str, int]
    newest: dict[str, dict[str, str]]
    paths: list[PathTotals]
    missed: list[Missed]


class PathKey(NamedTuple):
    """Of a direction of a sweep."""

    sweep: str
    src: str
    dst: str


class Totals:
    """Adds up records.

    Of a trial that was tried again the last finished attempt counts, as long as it is of the newest time that
    its sweep was due: no other is tried again in a campaign with times.
    """

    def __init__(self) -> None:
        self.statuses: Counter[str] = Counter()
        self.ran: dict[str, int] = {}
        """By sweep, the highest number of a time that ran, if only in part."""
        self.newest: dict[str, dict[str, str]] = {}
        """By sweep, the status of each trial of that time."""
        self.paths: dict[PathKey, PathTotals] = {}
        self.missed: list[Missed] = []

    def apply(self, entry: Entry) -> None:
        """Take the next record into account."""
        match entry:
            case FinishedEntry():
                self._count(entry.record)
                self._note_path(entry.record)
            case MissedEntry():
                self.missed.append(entry.missed)
            case _:
                pass

    def _count(self, record: TrialRecord) -> None:
        sweep, repeat = record.trial.sweep, record.trial.repeat
        if repeat > self.ran.get(sweep, 0):
            self.ran[sweep], self.newest[sweep] = repeat, {}
        if repeat == self.ran[sweep]:
            former = self.newest[sweep].get(record.trial_id)
            if former is not None:
                self.statuses[former] -= 1
            self.newest[sweep][record.trial_id] = record.status
        self.statuses[record.status] += 1

    def _note_path(self, record: TrialRecord) -> None:
        key = PathKey(record.trial.sweep, record.trial.src, record.trial.dst)
        path = self.paths.setdefault(key, PathTotals(sweep=key.sweep, src=key.src, dst=key.dst))
        at = record.started_at
        at = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
        if path.last_at is None or at >= path.last_at:
            path.last_at, path.last_status = at, record.status
        if record.status == "ok" and (path.last_ok_at is None or at > path.last_ok_at):
            path.last_ok_at = at


def keep_totals(part: Folder, totals: Totals, journal_end: int) -> None:
    """Write the file of a part; no power cut is waited for.

    Raises:
        OSError: The disk does not take it.
    """
    kept = _Kept(
        journal_end=journal_end,
        statuses=dict(+totals.statuses),
        ran=totals.ran,
        newest=totals.newest,
        paths=list(totals.paths.values()),
        missed=totals.missed,
    )
    part.replace(TOTALS_FILE, kept.model_dump_json().encode())


def totals_of(parts: Iterable[Folder]) -> Totals:
    """Add up a campaign: from the newest part that has the file, else from the beginning.

    Raises:
        ArchiveError: A journal cannot be read.
    """
    return _added_up(parts).totals


@dataclass(slots=True)
class _AddedUp:
    totals: Totals
    followers: list[JournalFollower]
    """Of the parts whose journals were read for it, of which the last one may grow."""
    is_over: bool = False
    """The last record says that no other follows in that part."""

    def read_on(self) -> None:
        """Add what was recorded since in the last part."""
        for followed in self.followers[-1].records():
            self.totals.apply(followed.entry)
            self.is_over = isinstance(followed.entry, ContinuedEntry)


def _added_up(parts: Iterable[Folder]) -> _AddedUp:
    missing: list[Folder] = []
    found, begin = Totals(), 0
    for part in reversed(list(parts)):
        missing.append(part)
        if (kept := _kept(part)) is not None:
            found, begin = kept
            break
    added = _AddedUp(found, [])
    for part in reversed(missing):
        added.followers.append(JournalFollower(part, begin))
        added.read_on()
        begin = 0
    return added


class TotalsKeeper:
    """Adds up what a writer records, and writes it now and then, once that is asked for.

    Args:
        whole: The archive's folder.
    """

    def __init__(self, whole: Folder) -> None:
        self._whole = whole
        self._totals: Totals | None = None
        self._uncounted = 0

    def begin(self) -> None:
        """Add up what is there already.

        Raises:
            ArchiveError, OSError: A journal cannot be read.
        """
        self._totals = self.totals()

    def totals(self) -> Totals:
        """What all parts came to so far.

        Raises:
            ArchiveError, OSError: A journal cannot be read.
        """
        whole = self._whole
        return self._totals or totals_of(opened_part(whole, number) for number in part_numbers(whole))

    def count(self, entry: Entry, part: Folder, journal_end: int) -> None:
        """Take a record into account that is in the newest part's journal."""
        if self._totals is None:
            return
        self._totals.apply(entry)
        self._uncounted += isinstance(entry, FinishedEntry)
        if self._uncounted >= KEPT_EVERY:
            self._uncounted = 0
            with suppress(ArchiveError, OSError):
                keep_totals(part, self._totals, journal_end)


@dataclass(frozen=True, slots=True)
class CampaignSoFar:
    """A campaign, as `flowsweep status` needs it."""

    folder: Path
    campaign: Campaign
    totals: Totals
    has_writer: bool
    """Whether a process has the archive open for writing; False where there are no locks to tell by."""
    losses: tuple[str, ...] = ()
    """What is damaged and left out, in sentences, as far as journals were read."""


def read_so_far(path: Path) -> CampaignSoFar:
    """Read what a campaign came to so far; its data are not looked at.

    Raises:
        ArchiveError: It is no archive, or its journal cannot be read.
    """
    with disk.reported(path, "cannot be read"):
        opened = open_folder(path)
        campaign = read_campaign(opened)
        parts = [opened_part(opened, number) for number in part_numbers(opened)]
        added = _added_up(parts)
        writes = has_writer(opened)
        for waited in range(_TRIES):
            if not added.followers[-1].tail_bytes or added.is_over or (waited and not writes):
                break
            # A record may be being written, where there are no locks to tell by, too.
            time.sleep(disk.PAUSE_S)
            added.read_on()
            writes = has_writer(opened)
        return CampaignSoFar(
            opened.path, campaign, added.totals, writes, _losses(parts, added, writes=writes)
        )


def _losses(parts: Sequence[Folder], added: _AddedUp, *, writes: bool) -> tuple[str, ...]:
    """What the journals have lost; where a process writes, it has told what is behind their last record."""
    losses: tuple[str, ...] = ()
    last = added.followers[-1]
    for part, follower in zip(parts[-len(added.followers) :], added.followers, strict=True):
        journal = part.path / JOURNAL_FILE
        torn = follower is last and not (writes or added.is_over)
        losses += lost_of_journal(journal, follower.damaged, follower.tail_bytes if torn else 0)
        if unknown := follower.not_understood - len(follower.damaged):
            losses += (
                f"{journal}: {counted(unknown, 'record')} that this Flowsweep does not know; left out",
            )
        # Whoever writes puts a folder of data there before the journal has its record.
        begins = follower is last and writes
        if not (follower.offset or begins) and (there := not_understood(data_folders(part), State())):
            losses += (f"{journal}: has no record, and there is {there[0]}: it is left out",)
    return losses


def _kept(part: Folder) -> tuple[Totals, int] | None:
    try:
        kept = _Kept.model_validate_json(part.read(TOTALS_FILE, at_most=_BYTES_MAX))
    except (FileNotFoundError, ValidationError, ArchiveError):
        return None
    if kept.journal_end > part.file_bytes(JOURNAL_FILE):
        return None  # of another journal
    found = Totals()
    found.statuses.update(kept.statuses)
    found.ran, found.newest, found.missed = kept.ran, kept.newest, kept.missed
    found.paths = {PathKey(one.sweep, one.src, one.dst): one for one in kept.paths}
    return found, kept.journal_end
