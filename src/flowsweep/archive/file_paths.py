"""Paths of files, as DuckDB and Arrow read them."""

import re
from pathlib import Path

from flowsweep.errors import ArchiveError
from flowsweep.wording import is_utf8

_PATTERN = re.compile(r"([*?\[])")
"""What makes DuckDB take a path for a pattern."""


def without_patterns(path: str) -> str:
    """Write a file's path so that DuckDB takes it for nothing but a path."""
    return _PATTERN.sub(r"[\1]", path)


def refuse_unreadable(folder: Path) -> None:
    """Refuse a folder by whose name neither of them opens a file.

    Raises:
        ArchiveError: It is not UTF-8.
    """
    if not is_utf8(str(folder)):
        raise ArchiveError(
            f"{folder}: this path is not UTF-8, and by no other one can data files be read: "
            "rename the folder, or choose another"
        )
