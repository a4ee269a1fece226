"""Files that are there completely or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_file(target: Path) -> Iterator[Path]:
    """Give a path beside `target` to write to: behind the block it takes its place, unless the block fails.

    An older file is replaced. Nothing is synced: a file may be lost with the machine's power.

    Raises:
        OSError: It cannot take its place.
    """
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.unfinished")
    try:
        yield unfinished
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
