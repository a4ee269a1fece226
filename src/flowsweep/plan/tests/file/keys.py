"""Keys that a sweep of test = "file" has beside those of all bulk transfers and some of TCP's."""

from typing import Annotated

from flowsweep import defaults
from flowsweep.plan import fields
from flowsweep.plan.fields import Table, key
from flowsweep.plan.file_choices import Cache, Content, Part, SyncPolicy, Verify
from flowsweep.plan.readers import one_of, whole
from flowsweep.units import write_size

OF_TCP = frozenset({"congestion", "pacing_rate", "mss", "no_delay", "fwmark"})
"""Keys of TCP that its connections have, too."""

TIMED = frozenset({"rate", "omit", "interval"})
"""Keys of bulk transfers without effect here: files are sent as fast as they can be, and all time counts."""


class FileKeys(Table):
    """What can be asked of files only."""

    file_size: fields.Axis[fields.FileSize] | None = key(
        f"Size of each file that is made; {write_size(defaults.FILE_BYTES)} if absent.",
        None,
        examples=["1GiB", ["64MiB", "1GiB"]],
    )
    files: fields.Axis[Annotated[int, whole(1, defaults.FILES_MAX)]] | None = key(
        "How many files are made, 1 if absent; of `read` the first ones, all if absent.",
        None,
        examples=[8, [1, 1000]],
    )
    part: fields.Axis[Annotated[Part, one_of("whole", "read", "network", "write")]] = key(
        "Which stages run. whole: the source reads and sends, the sink writes. read: the source reads, and "
        "sends nothing but lengths. network: the source sends from memory, the sink drops what comes. write: "
        "the sink writes bytes of its own.",
        ["whole"],
        written="whole",
        examples=[["whole", "read", "network", "write"]],
    )
    cache: fields.Axis[Annotated[Cache, one_of("dropped", "warm", "direct")]] | None = key(
        "What stands between files and disks. dropped, if absent: the page cache, which has nothing of the "
        "source's files when a trial begins. warm: the page cache, with them in it. direct: nothing "
        "(O_DIRECT).",
        None,
        examples=["direct", ["dropped", "warm"]],
    )
    sync: fields.Axis[Annotated[SyncPolicy, one_of("file", "write", "none")]] | None = key(
        "When the sink has the disk take what was written. file, if absent: when a file is whole (fsync). "
        "write: with each write (O_DSYNC). none: when its kernel likes to.",
        None,
        examples=["none", ["file", "write"]],
    )
    sendfile: fields.Axis[bool] = key(
        "Whether the source has its kernel send files from the page cache (sendfile), and copies nothing "
        "itself. It reads them all the same where they are compared: see `verify`.",
        [False],
        written=False,
        examples=[True, [False, True]],
    )
    content: Annotated[Content, one_of("random", "zeros")] = key(
        "Of files that are made. random: bytes that do not compress. zeros: zeros, all of which are written.",
        "random",
    )
    verify: Annotated[Verify, one_of("received", "stored", "none")] = key(
        "What is compared. received: digests of what was read and what was received. stored: these, and what "
        "is read back at the sink when all is there; that time does not count. none: nothing.",
        "received",
    )
    read: fields.Folder | None = key(
        "A file on the source, or a folder, whose files are sent by name, in place of files that are made. "
        "Nothing there is changed.",
        None,
        examples=["/data/recordings"],
    )
