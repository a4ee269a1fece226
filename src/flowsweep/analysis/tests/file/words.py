"""What a trial of files is said to have done, and to have waited for, at a terminal and in a report."""

from flowsweep.analysis.summarising.trial_row import TrialRow, quantity_of
from flowsweep.analysis.verdicts import MOVED, NETWORK, SINK_FILE_SYSTEM, SOURCE_FILE_SYSTEM
from flowsweep.wording import format_share

_ENDS = {SOURCE_FILE_SYSTEM: "source", SINK_FILE_SYSTEM: "sink"}
_WAITED = {SOURCE_FILE_SYSTEM: "Sending", SINK_FILE_SYSTEM: "Receiving"}


def unseen_files(row: TrialRow) -> str | None:
    """Name the files that a trial waited for, where nobody saw the disk below them; else None.

    Btrfs, ZFS, overlays, servers of files and memory have no block device that the kernel names: there may be
    a disk below them nevertheless.
    """
    end = _ENDS.get(row.get("verdict") or "")
    if end is None or quantity_of(row, f"{end}_device_bytes_per_byte") is not None:
        return None
    return f"the {end}'s files"


def network_alone(row: TrialRow) -> bool:
    """Whether nothing but the network can limit: the part that has no files at either end."""
    return row.get("verdict") == NETWORK and row.get("mode") == "network"


def from_disk_to_disk(row: TrialRow) -> bool:
    """Whether devices at both ends moved the files; else the page cache or memory had a part of them."""
    moved = (quantity_of(row, f"{end}_device_bytes_per_byte") or 0.0 for end in _ENDS.values())
    return min(moved) >= MOVED


def file_meaning(row: TrialRow) -> str | None:
    """Say what a verdict of files means where the trial tells less than its sentence does; else None."""
    if network_alone(row):
        return "The network was measured by itself, from memory to memory."
    if unseen_files(row):
        waited = _WAITED[row["verdict"] or ""]
        return f"{waited} waited for files; nothing tells what the disk below them did."
    return None


def moved_part(row: TrialRow) -> str | None:
    """Say how much of the job was done, and why it was over then; None where all was, or nobody knows."""
    moved = row.get("job_moved_share")
    if moved is None or moved >= 1:
        return None
    why = "time was up" if row["status"] == "ok" else "it broke off"
    return f"{format_share(moved)} of all files when {why}"
