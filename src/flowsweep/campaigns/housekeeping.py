"""What a campaign without an end needs while nothing is due: few files, and a disk that does not fill up."""

import shutil
from collections.abc import Callable

from flowsweep.archive import ArchiveWriter
from flowsweep.defaults import SECOND_NS
from flowsweep.errors import ArchiveError
from flowsweep.wording import format_size

IDLE_MIN_NS = 60 * SECOND_NS
"""Merging begins only if nothing is due for so long."""
LOOSE_MIN = 500
"""Attempts whose files are worth merging."""
LOOSE_SHARE = 0.25
"""Of all attempts, likewise: merging writes all of them again, so it becomes rarer as they become more."""
MERGED_BYTES_PER_S = 10 << 20
"""Merging is expected to be faster than that, on any disk."""


class Housekeeping:
    """Of one archive.

    Args:
        writer: Of the archive.
        free_bytes_min: With less free on its disk, nothing runs.
        told: Is told why files could not be merged; called in a thread.
    """

    def __init__(self, writer: ArchiveWriter, free_bytes_min: int, told: Callable[[str], None]) -> None:
        self._writer = writer
        self._free_bytes_min = free_bytes_min
        self._told = told
        self._given_up = False

    def idle(self, left_ns: int) -> None:
        """Use a time in which nothing is due: merge files if it suffices."""
        if self._given_up:
            return
        loose, attempts = self._writer.loose_attempts, self._writer.attempts_with_data
        if left_ns < IDLE_MIN_NS or loose < max(LOOSE_MIN, LOOSE_SHARE * attempts):
            return
        size = self._writer.data_bytes()
        too_long = size / MERGED_BYTES_PER_S > left_ns / SECOND_NS
        if too_long or size > self._free_bytes() - self._free_bytes_min:
            return
        try:
            self._writer.compact()
        except ArchiveError as error:
            # Nothing is lost: the small files stay, and are merged when the campaign is next gone on with.
            self._given_up = True
            self._told(f"its files are not merged: {error}")

    def refuses(self) -> str | None:
        """Say why nothing may run, if so: a trial that does not fit loses what it measured."""
        free = self._free_bytes()
        if free >= self._free_bytes_min:
            return None
        kept = format_size(self._free_bytes_min)
        return f"the disk is nearly full ({format_size(free)} free, {kept} are kept)"

    def _free_bytes(self) -> int:
        return shutil.disk_usage(self._writer.folder).free
