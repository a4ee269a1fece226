"""What is known of one campaign: fed with the records of its journal and with rows of summaries."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import ValidationError

from flowsweep.archive.campaign import Campaign, begun_unix_ns
from flowsweep.archive.entries import (
    BeginsEntry,
    CompactedEntry,
    ContinuedEntry,
    DataEntry,
    DroppedEntry,
    FinishedEntry,
    HostsEntry,
    ImportedEntry,
    MissedEntry,
    RetiredEntry,
    StartedEntry,
)
from flowsweep.archive.follow import Followed
from flowsweep.archive.follow_parts import part_of
from flowsweep.plan import Plan
from flowsweep.schedule import planned_name, planned_sweeps
from flowsweep.schedule.trial_columns import asked_columns
from flowsweep.serve.names import address_of
from flowsweep.serve.points import POINTS_MAX, Point, point_of
from flowsweep.serve.rows import PathRows, Rows, make_row, trial_number

if TYPE_CHECKING:
    from flowsweep.archive.live import Point as LivePoint
    from flowsweep.archive.notes import Note
    from flowsweep.run.outcome import Missed

_LONGEST_BESIDE = timedelta(hours=1)
"""What began so long before another trial does not run beside it."""
VERDICTS_MAX = 120
"""More words for verdicts than there can be."""


class PathKey(NamedTuple):
    """A direction of a sweep."""

    sweep: str
    src: str
    dst: str


class Running(NamedTuple):
    """A trial that began and is not settled yet."""

    trial_id: str
    at: datetime


class Pending(NamedTuple):
    """A trial that no summary tells of yet."""

    key: PathKey
    trial: int
    attempt: int
    offset: int
    payload_bytes: int


class Merged(NamedTuple):
    """Where merged data of a part lie."""

    files: CompactedEntry
    behind: int
    """Those of records before this place."""


@dataclass
class PathState:
    """The trials of a direction of a sweep."""

    rows: PathRows
    points: dict[Point, int]
    test: str | None = None
    version: int = 0
    """That of the campaign when the path changed last: no earlier state of the path had it."""


class CampaignModel:
    """A campaign as far as its journal has been read.

    Args:
        name: Where the archive lies, in case its plan has no name.
        campaign: From the archive.
    """

    def __init__(self, name: str, campaign: Campaign) -> None:
        self._folder_name = name
        self._is_of(campaign)
        self.name = self.given_name
        """What it is called where it is told apart from others."""
        self.is_left = False
        """Whether there is an archive in which a service goes on, since the plan changed."""
        self.is_gone = False
        """Whether its folder was removed after that, or another has it: not shown, and nothing is wrong."""
        self.version = 0
        """Rises with each change, and never falls: what was made of a version is of no other."""
        self._forget()

    @property
    def is_succeeded(self) -> bool:
        """Whether it was left for another archive: nothing is due here now. What a run writes was not."""
        return self.is_left and not self.has_writer

    @property
    def counts(self) -> bool:
        """Whether metrics and health tell of it."""
        return not (self.is_succeeded or self.is_gone)

    def begin(self) -> None:
        """Forget all that was read."""
        self.version += 1
        self._forget()

    def begin_another(self, campaign: Campaign) -> None:
        """Forget all that was known: another archive is in the place."""
        self._is_of(campaign)
        self.name = self.given_name
        self.begin()

    def _is_of(self, campaign: Campaign) -> None:
        self.given_name = planned_name(campaign.plan) or self._folder_name
        """What it is called by itself."""
        self.address = address_of(campaign)
        """How addresses name it."""
        self.campaign = campaign
        self.begun_ns = begun_unix_ns(campaign)
        self.plan = _plan(campaign)
        self.notes: tuple[Note, ...] = ()
        self.live: Mapping[str, tuple[LivePoint, ...]] = {}
        """What trials that run say so far, by trial_id; of no version: it changes all the time."""
        self.has_writer = False

    def _forget(self) -> None:
        self.paths: dict[PathKey, PathState] = {}
        self.statuses: Counter[str] = Counter()
        self.missed: list[Missed] = []
        self.running: dict[str, Running] = {}
        self.hosts: dict[str, dict[str, Any]] = {}
        self.pending: dict[tuple[int, int], Pending] = {}
        self.verdicts: list[str] = []
        self.has_sums = False
        """Whether anything was summed up so far."""
        self.merged: dict[int, Merged] = {}
        """By part."""
        self.over: dict[int, int] = {}
        """By part that is over, the place behind the last record of it that was read."""
        self.retired: dict[int, RetiredEntry] = {}
        """By part whose samples were retired, as far as that was read."""
        for key in _planned(self.campaign, self.plan):
            self._path(key)

    def apply(self, followed: Followed) -> str | None:
        """Take the next record into account; returns what happened, in a word, if a page shows it."""
        match followed.entry:
            case StartedEntry() as entry:
                self.forget_running(before=entry.at - _LONGEST_BESIDE)
                self.running[entry.trial_id] = Running(entry.trial_id, entry.at)
                said = "began"
            case FinishedEntry() | ImportedEntry() as entry:
                self._take(entry, followed)
                said = "settled"
            case MissedEntry() as entry:
                self.missed.append(entry.missed)
                said = "missed"
            case DroppedEntry() as entry:
                self._drop(entry.folder)
                said = "settled"
            case HostsEntry() as entry:
                self.hosts.update(entry.facts)
                return None
            case CompactedEntry() as entry:
                self.merged[part_of(followed.offset)] = Merged(entry, followed.offset)
                return None
            case RetiredEntry() as entry:
                self.retired[part_of(followed.offset)] = entry
                return None
            case ContinuedEntry():
                self.over[part_of(followed.offset)] = followed.offset + followed.payload_bytes
                return None
            case BeginsEntry():
                return None
        self.version += 1
        return said

    def sum_up(self, done: Iterable[Pending], rows: Mapping[int, Mapping[str, Any]]) -> None:
        """Fill in rows of a summary, by the number of their trial; one without a row has no whole data."""
        self.has_sums = True
        by_path: dict[PathKey, list[Pending]] = {}
        for one in done:
            if self.pending.get((one.trial, one.attempt)) == one:
                del self.pending[one.trial, one.attempt]
                by_path.setdefault(one.key, []).append(one)
        for key, trials in by_path.items():
            state = self.paths[key]
            places = state.rows.places(one.trial for one in trials)
            for trial, place in places.items():
                if (row := rows.get(trial)) is None:
                    state.rows.spoil(place)
                else:
                    state.rows.sum_up(place, row, self._verdict(row.get("verdict")))
            self._has_changed(state)
        self.version += 1

    def forget_running(self, before: datetime) -> None:
        """Let trials not run that began before a moment: whatever ran them was killed."""
        self.running = {key: one for key, one in self.running.items() if one.at >= before}

    def is_loose(self, one: Pending) -> bool:
        """Whether a trial's data lie in a folder of their own."""
        if part_of(one.offset) in self.retired:
            return False
        merged = self.merged.get(part_of(one.offset))
        return merged is None or one.offset > merged.behind

    def wait_for(self, key: PathKey, rows: Rows) -> None:
        """Have trials of a path summed up later."""
        for row in rows:
            trial, attempt = int(row["trial"]), int(row["attempt"])
            self.pending[trial, attempt] = Pending(
                key, trial, attempt, int(row["offset"]), int(row["payload"])
            )

    def settle(self, key: PathKey, test: str, point: Point) -> tuple[PathState, int]:
        """The state of a path, and the number of a point on it."""
        state = self._path(key)
        state.test = test
        self._has_changed(state)
        if point not in state.points and len(state.points) >= POINTS_MAX:
            return state, POINTS_MAX - 1
        return state, state.points.setdefault(point, len(state.points))

    def _take(self, entry: DataEntry, followed: Followed) -> None:
        if isinstance(entry, FinishedEntry):
            record = entry.record
            trial = record.trial
            self.running.pop(record.trial_id, None)
            self._add(
                PathKey(trial.sweep, trial.src, trial.dst), trial.test,
                point_of(asked_columns(trial), trial.search), record.trial_id, record.attempt, record.status,
                record.started_at, followed, trial.repeat,
            )  # fmt: skip
            return
        for one in entry.records:
            asked = one.model_dump() | {"window_bytes": one.window_bytes, "congestion_asked": one.congestion}
            self._add(
                PathKey(one.sweep, one.src, one.dst), one.test, point_of(asked),
                one.trial_id, 1, "ok", one.started_at or self.campaign.created_at, followed,
            )  # fmt: skip

    def _add(
        self, key: PathKey, test: str, point: Point, trial_id: str, attempt: int, status: str,
        began: datetime, followed: Followed, repeat: int = 1,
    ) -> None:  # fmt: skip
        state, number = self.settle(key, test, point)
        try:
            at = began.timestamp()
        except (OverflowError, ValueError):
            return  # A moment that no clock has shown: an archive may come from a stranger.
        row = make_row(
            began=at, trial_id=trial_id, offset=followed.offset, payload_bytes=followed.payload_bytes,
            attempt=attempt, point=number, status=status, repeat=repeat,
        )  # fmt: skip
        state.rows.add(row)
        self.statuses[status] += 1
        trial = trial_number(trial_id)
        self.pending.pop((trial, attempt - 1), None)
        self.pending[trial, attempt] = Pending(key, trial, attempt, followed.offset, followed.payload_bytes)

    def _drop(self, folder: str) -> None:
        trial_id, _, attempt = folder.rpartition("/")[2].partition("-")
        for state in self.paths.values():
            state.rows.drop(trial_number(trial_id), int(attempt))
            self._has_changed(state)
        self.pending.pop((trial_number(trial_id), int(attempt)), None)

    def _has_changed(self, state: PathState) -> None:
        self.version += 1
        state.version = self.version

    def _path(self, key: PathKey) -> PathState:
        return self.paths.setdefault(key, PathState(PathRows(), {}, version=self.version))

    def _verdict(self, verdict: str | None) -> int:
        if verdict is None:
            return -1
        if verdict not in self.verdicts:
            if len(self.verdicts) >= VERDICTS_MAX:
                return -1
            self.verdicts.append(verdict)
        return self.verdicts.index(verdict)


def _planned(campaign: Campaign, plan: Plan | None) -> Iterator[PathKey]:
    """Paths that will be measured; of a plan of another version those that it names."""
    both_ways = set() if plan is None else {one.name for one in plan.sweeps if one.directions != "one"}
    for sweep in planned_sweeps(campaign.plan):
        for path in sweep.paths:
            yield PathKey(sweep.name, path.src, path.dst)
            if sweep.name in both_ways:
                yield PathKey(sweep.name, path.dst, path.src)


def _plan(campaign: Campaign) -> Plan | None:
    """The plan, if this Flowsweep understands it."""
    try:
        return Plan.model_validate_json(campaign.plan_json)
    except ValidationError:
        return None
