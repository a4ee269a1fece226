"""Whether an error says that something cannot be done now, and nothing of the data it would be done with."""

import errno
from collections.abc import Iterator

_NO_ROOM_NOW = frozenset(
    {
        errno.EAGAIN,
        errno.EBUSY,
        errno.EDQUOT,
        errno.EINTR,
        errno.EMFILE,
        errno.ENFILE,
        errno.ENOMEM,
        errno.ENOSPC,
        errno.ESTALE,
        errno.ETIMEDOUT,
    }
)


def is_transient(error: BaseException) -> bool:
    """Whether it, or what it came from, is a lack of memory, files or room on a disk.

    Files that are not there or cannot be read are no such thing: those of other trials may be.
    """
    import duckdb

    return any(
        isinstance(one, (MemoryError, duckdb.OutOfMemoryException))
        or (isinstance(one, OSError) and one.errno in _NO_ROOM_NOW)
        for one in _chain(error)
    )


def _chain(error: BaseException) -> Iterator[BaseException]:
    found: BaseException | None = error
    while found is not None:
        yield found
        found = found.__cause__
