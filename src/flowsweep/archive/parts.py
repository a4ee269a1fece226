"""Parts of an archive: one that grows for years begins a new one now and then; what is behind stays as it is.

The first part is the archive's own folder; part N lies in `parts/N` and is made as an archive is: a campaign
file (the same), a journal and data of its own. So whoever writes keeps and reads the newest part only. A
part ends with a record that says where it goes on, and the next one begins with a record of what went before.
The end is written first: killed between the two, a process leaves an archive whose last part is over, and the
next one to write makes the new part.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from flowsweep.archive import disk
from flowsweep.archive.campaign import Campaign, write_campaign
from flowsweep.archive.entries import PARTS_FOLDER, BeginsEntry, HostsEntry, part_folder
from flowsweep.archive.folder import UNFINISHED, Folder
from flowsweep.archive.imported import ImportedTrial
from flowsweep.archive.journal import JOURNAL_BYTES_MAX, JOURNAL_FILE, frame, parse
from flowsweep.archive.part_folders import opened_part, part_numbers
from flowsweep.archive.state import State, state_of
from flowsweep.archive.totals import Totals, keep_totals


def begin_part(folder: Folder, campaign: Campaign, number: int, before: State, totals: Totals) -> Folder:
    """Make a part that is not the first, as a whole or not at all.

    Args:
        folder: The archive's.
        campaign: Its campaign.
        number: Of the new part.
        before: What the part before came to, which is over.
        totals: Of all parts before.

    Raises:
        ArchiveError, OSError: The disk does not take it.
    """
    unfinished = part_folder(number) + UNFINISHED
    folder.make_folder(PARTS_FOLDER)
    folder.sync()
    folder.make_empty_folder(unfinished)
    made = folder.inside(unfinished)
    begins = BeginsEntry(
        part=number, at=datetime.now(UTC), settled=before.settled, trials=before.finished_count
    )
    records = (begins, HostsEntry(facts=before.host_facts))
    write_campaign(made, campaign)
    made.write(JOURNAL_FILE, b"".join(frame(one.model_dump_json().encode()) for one in records))
    keep_totals(made, totals, journal_end=0)
    made.sync()
    made.close()
    folder.rename(unfinished, part_folder(number))
    return folder.inside(part_folder(number))


def remove_unfinished_parts(folder: Folder) -> None:
    """Remove what a process left that was killed while it made a part."""
    for name in folder.names(PARTS_FOLDER):
        if name.endswith(UNFINISHED):
            folder.remove(f"{PARTS_FOLDER}/{name}")


class ImportedBefore:
    """Trials of other tools in the parts that are over, read when they are first asked for."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._read = 0
        self._found: dict[str, ImportedTrial] = {}

    def part(self, number: int) -> Mapping[str, ImportedTrial]:
        """Those of all parts before one, by trial_id.

        Raises:
            ArchiveError: A journal cannot be read.
        """
        over = [one for one in part_numbers(self._folder) if self._read < one < number]
        with disk.reported(self._folder.path, "cannot be read"):
            for one in over:
                own = opened_part(self._folder, one)
                path = own.path / JOURNAL_FILE
                content = parse(own.read(JOURNAL_FILE, at_most=JOURNAL_BYTES_MAX), str(path))
                self._found.update(state_of(content.payloads, path, brief=True).imported)
                self._read = one
        return self._found


class WholeState(State):
    """What all parts together come to; names of files are given from the archive's folder."""

    def __init__(self, parts: Sequence[tuple[int, State]]) -> None:
        super().__init__()
        self._retired_at: dict[str, datetime] = {}
        self._merged = [(number, state.merged) for number, state in parts if state.merged is not None]
        for number, state in parts:
            self._add(number, state)

    @property
    def files(self) -> dict[str, list[str]]:
        """Parquet files of each of TABLES."""
        found = super().files
        for number, merged in self._merged:
            for table, files in merged.files.items():
                found[table] += [_of_part(number, file) for file in files]
        return found

    @property
    def digests(self) -> dict[str, str]:
        """SHA-256 of files, as far as they were kept."""
        return dict(super().digests) | dict(self._digests_of_merged())

    @property
    def retired_at(self) -> Mapping[str, datetime]:
        """When samples were retired, by trial_id; of all trials whose samples were."""
        return self._retired_at

    def _digests_of_merged(self) -> Iterator[tuple[str, str]]:
        for number, merged in self._merged:
            yield from ((_of_part(number, file), digest) for file, digest in merged.sha256.items())

    def _add(self, number: int, state: State) -> None:
        self.host_facts.update(state.host_facts)
        for trial_id, attempts in state.attempts.items():
            self.attempts[trial_id] = max(attempts, self.attempts.get(trial_id, 0))
        for trial_id in state.done.keys() & self.done.keys():
            self.superseded.append((trial_id, self.done[trial_id].attempt))
        self.records.update(state.records)
        self.done.update(state.done)
        self.imported.update(state.imported)
        self.superseded += state.superseded
        self.orphans |= state.orphans
        for entry in state.entries.values():
            own = replace(entry, folder=_of_part(number, entry.folder))
            self.entries[own.folder] = own
            if entry.folder in state.loose:
                self.loose[own.folder] = own
        self.missed += state.missed
        self._retired_at.update(state.retired_at)


def _of_part(number: int, name: str) -> str:
    return name if number == 1 else f"{part_folder(number)}/{name}"
