"""Archives that a command reads: what is damaged in them is said on standard error."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from flowsweep.archive import Archive, read_archive
from flowsweep.cli.app import print_warning
from flowsweep.cli.reading import told_if_long

if TYPE_CHECKING:
    from flowsweep.archive import ArchiveWriter


def read_with_warnings(folder: Path) -> Archive:
    """Read an archive, and say what of it is lost.

    Raises:
        ArchiveError: It is no archive, is damaged, or lacks a file that its journal names.
    """
    with told_if_long("reading the archive"):
        archive = read_archive(folder)
    print_warnings(archive.losses)
    return archive


def go_on_with(folder: Path) -> "ArchiveWriter":
    """Open an archive for writing, and say what of it is lost. Nothing in it changes yet.

    Raises:
        ArchiveError: It is no archive, cannot be read, or another process is writing it.
    """
    from flowsweep.archive.writer import open_archive_for_writing

    writer = open_archive_for_writing(folder)
    print_warnings(writer.losses)
    return writer


def make_ready(writer: "ArchiveWriter") -> None:
    """Clear up what a killed process left, and say what was put aside.

    Raises:
        ArchiveError: The disk does not take it.
    """
    print_warnings(writer.make_ready())


def print_warnings(sentences: Iterable[str]) -> None:
    """Say what a person should know of an archive."""
    for sentence in sentences:
        print_warning(sentence)
