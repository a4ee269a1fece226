"""A few trials of an archive as an archive of their own, which all that reads archives can read."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from flowsweep.archive import disk
from flowsweep.archive.campaign import Campaign, write_campaign
from flowsweep.archive.entries import (
    PARTS_FOLDER,
    TRIALS_FOLDER,
    CompactedEntry,
    DataEntry,
    Entry,
    FinishedEntry,
    HostsEntry,
    RetiredEntry,
    file_of,
    part_folder,
)
from flowsweep.archive.folder import Folder
from flowsweep.archive.journal import JOURNAL_FILE, frame
from flowsweep.archive.kept_summary import keep_summary, kept_rows
from flowsweep.archive.monitor_files import write_monitors
from flowsweep.archive.part_folders import opened_part


@dataclass(frozen=True, slots=True)
class Excerpted:
    """Trials of one part of an archive."""

    source: Folder
    """The part's."""
    loose: Sequence[DataEntry]
    """Trials whose data lie in folders of their own."""
    merged: Sequence[DataEntry]
    """Trials whose data are merged with others'."""
    files: CompactedEntry | None
    """Where those lie."""
    retired: RetiredEntry | None = None
    """What is left of all of them, in a part whose samples were retired."""


def write_excerpt(
    parts: Sequence[Excerpted],
    target: Path,
    campaign: Campaign,
    hosts: Mapping[str, Mapping[str, Any]],
    monitors: pa.Table | None = None,
) -> None:
    """Write an archive of some trials.

    Args:
        parts: What they are taken from; who calls holds the readers' lock of the archive.
        target: A new folder.
        campaign: Of the archive.
        hosts: What is known of its hosts.
        monitors: What monitors told meanwhile, if there are some.

    Raises:
        ArchiveError: Something cannot be read or written.
    """
    retired = [part for part in parts if part.retired is not None]
    sampled = [part for part in parts if part.retired is None]
    with disk.reported(target, "cannot be written"):
        target.mkdir()
        whole = Folder(target)
        for number, part in enumerate(retired, start=1):
            made = _made(whole, number, campaign)
            _write_journal(made, hosts, [*part.loose, *part.merged, _take_rows(part, made)])
        if sampled or not retired:
            made = _made(whole, len(retired) + 1, campaign)
            made.make_folder(TRIALS_FOLDER)
            for part in sampled:
                _take(part, made)
            unhashed = [entry.model_copy(update={"sha256": {}}) for part in sampled for entry in part.merged]
            loose = [entry for part in sampled for entry in part.loose]
            entries: list[DataEntry] = sorted((*loose, *unhashed), key=_began)
            _write_journal(made, hosts, entries)
    if monitors is not None and monitors.num_rows:
        write_monitors(whole, monitors)


def _made(whole: Folder, number: int, campaign: Campaign) -> Folder:
    """A part of the excerpt: samples of each part were retired at a time of its own."""
    if number > 1:
        whole.make_folder(PARTS_FOLDER)
        whole.make_folder(part_folder(number))
    made = opened_part(whole, number)
    write_campaign(made, campaign)
    return made


def _write_journal(made: Folder, hosts: Mapping[str, Mapping[str, Any]], entries: Iterable[Entry]) -> None:
    records = [HostsEntry(facts={name: dict(facts) for name, facts in hosts.items()}), *entries]
    made.write(JOURNAL_FILE, b"".join(frame(one.model_dump_json().encode()) for one in records))


def _take_rows(part: Excerpted, made: Folder) -> RetiredEntry:
    """Take the rows of the summary that is left of trials; returns the record that says so."""
    import pyarrow.compute as pc

    if part.retired is None:
        raise ValueError(f"{part.source.path}: has its samples")
    names = [trial_id for entry in (*part.loose, *part.merged) for trial_id, _ in entry.keys]
    rows = kept_rows(part.source, part.retired.file)
    kept = keep_summary(made, rows.filter(pc.is_in(rows["trial_id"], pa.array(names))))
    return part.retired.model_copy(update={"file": kept.file, "trials": kept.trials})


def _take(part: Excerpted, made: Folder) -> None:
    for entry in part.loose:
        made.make_folder(entry.folder)
        for table in entry.rows:
            made.write(file_of(entry, table), part.source.read(file_of(entry, table), at_most=_FILE_MAX))
    if part.files is not None:
        for entry in part.merged:
            made.make_folder(entry.folder)
        _take_out(part.source, made, part.merged, part.files)


_FILE_MAX = 1 << 30


def _began(entry: DataEntry) -> str:
    if isinstance(entry, FinishedEntry):
        return entry.record.started_at.isoformat()
    return min(str(record.started_at or "") for record in entry.records)


def _take_out(source: Folder, made: Folder, entries: Sequence[DataEntry], files: CompactedEntry) -> None:
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    wanted = sorted({trial_id for entry in entries for trial_id, _ in entry.keys})
    for table, names in files.files.items():
        holders = [entry for entry in entries if table in entry.rows]
        if not names or not holders:
            continue
        paths = [str(source.path / name) for name in names]
        parts = [pq.read_table(path, filters=[("trial_id", "in", wanted)]) for path in paths]
        for entry in holders:
            # A file ends after so many rows, whichever trial has them.
            own = [part.filter(_of(pc, part, entry)) for part in parts]
            rows = pa.concat_tables(own, promote_options="default")
            pq.write_table(rows, made.path / file_of(entry, table))


def _of(pc: Any, part: Any, entry: DataEntry) -> Any:  # noqa: ANN401 - PyArrow has no types
    """Which rows are an entry's."""
    ids = {trial_id for trial_id, _ in entry.keys}
    attempts = {attempt for _, attempt in entry.keys}
    own = pc.is_in(part["trial_id"], pa.array(sorted(ids)))
    return pc.and_(own, pc.is_in(part["attempt"], pa.array(sorted(attempts), part["attempt"].type)))
