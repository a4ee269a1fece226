"""A sweep of files."""

from collections.abc import Iterator
from typing import Self

from pydantic import Field

from flowsweep import defaults
from flowsweep.plan.file_choices import Cache, Content, Part, SyncPolicy, Verify
from flowsweep.plan.model import Sweep
from flowsweep.schedule.combinations import bulk_points
from flowsweep.schedule.parameters import Streams
from flowsweep.schedule.windows import Window
from flowsweep.wording import counted, format_size

_READS: tuple[Part, ...] = ("whole", "read")
_WRITES: tuple[Part, ...] = ("whole", "write")
_CONNECT_MAX_NS = 7 * 24 * 3600 * defaults.SECOND_NS
"""The longest that an engine waits (`TIME_MAX`)."""


class FileParameters(Streams):
    """One point of a sweep of files."""

    test = "file"
    protocol = "TCP"

    rate_bps: None = None
    pacing_rate_bps: int | None
    mss_bytes: int | None
    no_delay: bool
    fwmark: int | None
    part: Part
    cache: Cache
    sync: SyncPolicy
    sendfile: bool = Field(default=False, exclude_if=lambda asked: not asked)
    files: int | None
    """How many are made; of those that are there, at most so many: None for all."""
    file_size_bytes: int | None
    """None: of files that are there."""
    content: Content
    verify: Verify
    existing: str | None

    @property
    def mode(self) -> Part:
        """What keeps its trials apart from others, as TCP's mode does."""
        return self.part

    @property
    def job_bytes(self) -> int | None:
        """What there is to do between one pair of hosts; None: as much as the files have that are there."""
        return None if self.file_size_bytes is None else self.file_size_bytes * (self.files or 1)

    @property
    def read_bytes(self) -> int | None:
        """What the source makes and reads; None as of `job_bytes`."""
        return self.job_bytes if self.part in _READS else 0

    @property
    def written_bytes(self) -> int | None:
        """What the sink writes; None as of `job_bytes`."""
        return self.job_bytes if self.part in _WRITES else 0

    @property
    def space_bytes(self) -> tuple[int | None, int | None]:
        """What is made at the source and written at the sink; None as of `job_bytes`."""
        return 0 if self.existing is not None else self.read_bytes, self.written_bytes

    @property
    def pad_ns(self) -> int:
        """Nothing is sent when all has been sent."""
        return 0

    @property
    def connect_ns(self) -> int:
        """Files are made before both ends meet."""
        made = self.space_bytes[0] or 0
        making_ns = made * defaults.SECOND_NS // defaults.FILE_MAKING_BYTES_PER_S
        return min(super().connect_ns + making_ns, _CONNECT_MAX_NS)

    @property
    def expected_bins(self) -> int:
        """None: it ends when all files have arrived."""
        return 0

    @property
    def bound_bps(self) -> int | None:
        """The kernel's pace."""
        return self.pacing_rate_bps

    def bytes_bound(self, pairs: int, links_bps: int | None, pad_ns: int) -> tuple[int | None, bool]:
        """What there is to do, or what links and pace bound."""
        size, is_about = super().bytes_bound(pairs, links_bps, pad_ns)
        job = self._of(pairs)
        return (job, False) if job and (size is None or job <= size) else (size or None, is_about)

    def plain(self) -> Self:
        """One flow, with the host's windows and congestion control, and one small file."""
        least = None if self.existing is not None else defaults.DIRECT_BLOCK_BYTES
        smallest = {
            "files": 1,
            "file_size_bytes": least,
            "cache": "direct" if self.cache == "direct" else "dropped",
        }
        return super().plain().model_copy(update={"congestion": None, **smallest})

    def in_words(self, flows: int) -> str:
        """Files, flows and their windows, and what is left out."""
        many = "files that are there" if self.files is None else counted(self.files, "file")
        size = "" if self.file_size_bytes is None else f" of {format_size(self.file_size_bytes)}"
        part = "" if self.part == "whole" else f", {self.part} only"
        sent = ", sendfile" if self.sendfile else ""
        return f"{many}{size}, {super().in_words(flows)}{sent}{part}"

    def _of(self, pairs: int) -> int | None:
        return None if self.job_bytes is None else self.job_bytes * pairs


def file_points(sweep: Sweep, flows: int, pairs: int, _: int) -> Iterator[tuple[Window, FileParameters]]:
    """List what a sweep asks for with some flows between each of some pairs of hosts."""
    for_all = {"content": sweep.content, "verify": sweep.verify, "existing": sweep.existing}
    return bulk_points(FileParameters, sweep, flows, pairs, [for_all])
