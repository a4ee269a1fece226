"""SHA-256 of files: how it stands in a name, and what is said of a file that no longer has its own."""

from pathlib import Path

from flowsweep.errors import ArchiveError

IN_NAME = "[0-9a-f]{32}"
"""Pattern of what stands in the name of a file that no record of the journal has to name."""


def in_name(digest: str) -> str:
    """The first 128 bits of a SHA-256: `digest`, hexadecimal."""
    return digest[:32]


def has_changed(path: Path, place: str) -> ArchiveError:
    """Make the error of a file that is not as it was written; `place` is where its SHA-256 is kept."""
    return ArchiveError(
        f"{path}: is damaged: it has changed since it was written, its SHA-256 is not the one in "
        f"{place}. Nothing was altered; restore the file from a copy."
    )
