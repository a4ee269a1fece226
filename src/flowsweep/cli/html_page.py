"""A page that a command writes: what it may be called, and what is said of it."""

from collections.abc import Callable
from pathlib import Path

from flowsweep.archive.named_output import refuse_data_of_archive, where_it_leads
from flowsweep.errors import ArchiveError, PlanError
from flowsweep.plan.readers import shown
from flowsweep.wording import format_size

SUFFIXES = (".html", ".htm")
"""What a page may be called: no plan and no file of an archive is, so none can be written over."""


def check_page_name(output: Path, option: str = "--output") -> None:
    """Refuse a name that a page cannot have; `option` is where it was written.

    Raises:
        PlanError: It does not end in .html or .htm.
    """
    if output.suffix.lower() not in SUFFIXES:
        expected = "expected a name that ends in .html or .htm"
        raise PlanError(option, (f"found {shown(str(output))}, {expected}",))


def check_page_place(output: Path, option: str) -> None:
    """Refuse a place where no page can be written, before what is to be in it takes minutes.

    Raises:
        PlanError: The folder is not there or is an archive's own, there is a folder of that name, or a link
            leads to no file.
    """
    try:
        refuse_data_of_archive(output)
        target = where_it_leads(output)
    except ArchiveError as error:
        raise PlanError(option, (str(error),)) from error
    except OSError as error:
        raise PlanError(option, (f"found {shown(str(output))}: {error.strerror}",)) from error
    if not target.parent.is_dir():
        raise PlanError(option, (f"found {shown(str(output))}, and {target.parent} is no folder",))
    if target.is_dir():
        raise PlanError(option, (f"found {shown(str(output))}, which is a folder, expected a file",))


def write_page(write: Callable[[Path], object], output: Path, what: str) -> str:
    """Write a page; returns its name and size, to be said.

    Args:
        write: Writes it to the path that it is given.
        output: Where that is.
        what: What it is, as in "the report".

    Raises:
        ArchiveError: It cannot be written there.
    """
    try:
        write(where_it_leads(output))
    except OSError as error:
        raise ArchiveError(f"{output}: {what} cannot be written: {error.strerror}") from error
    return f"{output}: {format_size(float(f'{output.stat().st_size:.3g}'))}"
