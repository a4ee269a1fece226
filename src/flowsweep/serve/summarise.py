"""Rows of summaries for trials that were settled since: each trial is summed up once."""

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from flowsweep.archive.campaign import Campaign
from flowsweep.archive.entries import DataEntry, FinishedEntry, ImportedEntry, RetiredEntry, entry_of
from flowsweep.archive.excerpt import Excerpted, write_excerpt
from flowsweep.archive.folder import Folder
from flowsweep.archive.follow import JournalFollower
from flowsweep.archive.follow_parts import ArchiveFollower, byte_of, part_of
from flowsweep.archive.monitor_files import read_monitors
from flowsweep.archive.part_folders import opened_part
from flowsweep.archive.reader import Archive, read_archive
from flowsweep.archive.readers import ReadersLock
from flowsweep.archive.state import State
from flowsweep.defaults import MICROSECOND_NS
from flowsweep.prepared.whole_summary import summary_table
from flowsweep.serve.campaign import CampaignModel, Pending
from flowsweep.serve.quantities import QUANTITIES
from flowsweep.serve.rows import trial_number

AT_FIRST = 64
AT_A_TIME = 1_000
"""Trials of folders of their own that are summed up together: few at first, so that a page soon has something
to show, then many, since a statement takes half a second however few they are."""
EXCERPT_MAX = 200
"""Trials of merged files that are taken out; of more, the whole archive is summed up."""
_POLLS_AROUND = 3
_NEEDED = frozenset({"trial_id", "status", "verdict"}).union(
    *(quantity.columns for quantity in QUANTITIES),
    *(side for quantity in QUANTITIES for side in quantity.band),
)
"""Columns of a summary that anything is kept of."""
SummaryRows = Mapping[int, Mapping[str, Any]]
"""By the number of the trial."""


def next_batch(model: CampaignModel) -> list[Pending]:
    """Choose trials to sum up next, of one part of the archive: the newest first."""
    pending = sorted(model.pending.values(), key=lambda one: -one.offset)
    if not pending:
        return []
    pending = [one for one in pending if part_of(one.offset) == part_of(pending[0].offset)]
    loose = [one for one in pending if model.is_loose(one)]
    if loose:
        return loose[: AT_A_TIME if model.has_sums else AT_FIRST]
    return pending if len(pending) > EXCERPT_MAX else pending[:EXCERPT_MAX]


def summed_up(
    folder: Folder, follower: ArchiveFollower, model: CampaignModel, batch: Sequence[Pending]
) -> SummaryRows:
    """Sum up trials; the caller has just read the journal to its end while holding the readers' lock.

    Raises:
        ArchiveError: Data cannot be read, or have changed since they were written.
    """
    part = part_of(batch[0].offset)
    look_for_retired(folder, model, {part})
    if model.is_loose(batch[0]):
        with _loose(folder, follower, model, batch) as archive:
            return _rows(archive)
    if len(batch) > EXCERPT_MAX or part in model.retired:
        with read_archive(folder.path, part=part) as archive:
            return _rows(archive)
    with (
        tempfile.TemporaryDirectory(prefix="flowsweep-serve-") as place,
        excerpt(folder, follower, model, batch, Path(place) / "excerpt") as archive,
    ):
        return _rows(archive)


def look_for_retired(folder: Folder, model: CampaignModel, parts: Iterable[int]) -> None:
    """See whether samples of parts were retired since these were read: nobody follows a part that is over."""
    for part in parts:
        if part in model.over and part not in model.retired:
            for followed in JournalFollower(opened_part(folder, part), byte_of(model.over[part])).records():
                if isinstance(followed.entry, RetiredEntry):
                    model.retired[part] = followed.entry


def excerpt(
    folder: Folder,
    follower: ArchiveFollower,
    model: CampaignModel,
    trials: Sequence[Pending],
    target: Path,
    *,
    campaign: Campaign | None = None,
) -> Archive:
    """Make an archive of some trials, and read it."""
    entries = _entries(follower, trials)
    look_for_retired(folder, model, {part_of(one.offset) for one in trials})
    parts = []
    for number in sorted({part_of(one.offset) for one, _ in entries}):
        own = [(model.is_loose(one), entry) for one, entry in entries if part_of(one.offset) == number]
        parts.append(
            Excerpted(
                opened_part(folder, number),
                [entry for is_loose, entry in own if is_loose],
                [entry for is_loose, entry in own if not is_loose],
                model.merged[number].files if number in model.merged else None,
                model.retired.get(number),
            )
        )
    monitors = _monitors(folder, model, [entry for _, entry in entries])
    write_excerpt(parts, target, campaign or model.campaign, model.hosts, monitors)
    return read_archive(target)


def _monitors(folder: Folder, model: CampaignModel, entries: Sequence[DataEntry]) -> pa.Table | None:
    """What monitors told while trials ran, and a few polls before and after: counters tell by differences."""
    records = [entry.record for entry in entries if isinstance(entry, FinishedEntry)]
    if model.plan is None or not model.plan.monitors or not records:
        return None
    around_us = _POLLS_AROUND * max(one.every_ns for one in model.plan.monitors) // MICROSECOND_NS
    began_us = [
        (round(one.started_at.timestamp() * 1e6), one.elapsed_ns // MICROSECOND_NS) for one in records
    ]
    first_us = min(at_us for at_us, _ in began_us) - around_us
    return read_monitors(folder, None, (first_us, max(map(sum, began_us)) + around_us))


def _loose(
    folder: Folder, follower: ArchiveFollower, model: CampaignModel, batch: Sequence[Pending]
) -> Archive:
    """The archive, as if there were no trials in it but these: their data lie in folders of their own."""
    state = State(host_facts=model.hosts)
    for _, entry in _entries(follower, batch):
        state.apply(entry)
    part = opened_part(folder, part_of(batch[0].offset))
    return Archive(part, model.campaign, state, (), ReadersLock(folder))


def _entries(follower: ArchiveFollower, trials: Sequence[Pending]) -> list[tuple[Pending, DataEntry]]:
    """Records of trials, each once: imported ones have some in common."""
    by_offset = {one.offset: one for one in trials}
    found: list[tuple[Pending, DataEntry]] = []
    for one in sorted(by_offset.values(), key=lambda one: one.offset):
        entry = entry_of(follower.payload(one.offset, one.payload_bytes))
        if isinstance(entry, (FinishedEntry, ImportedEntry)):
            found.append((one, entry))
    return found


def _rows(archive: Archive) -> SummaryRows:
    table = summary_table(archive)
    columns = [name for name in table.column_names if name in _NEEDED]
    return {trial_number(row["trial_id"]): row for row in table.select(columns).to_pylist()}
