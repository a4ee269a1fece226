"""`campaign.json`: what a campaign is; written once, before its first trial."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from pydantic import AwareDatetime, Field, ValidationError
from pydantic_core import from_json

from flowsweep.archive import disk
from flowsweep.archive.folder import UNFINISHED, Folder
from flowsweep.archive.format_2 import FORMAT_2
from flowsweep.archive.journal import JOURNAL_FILE
from flowsweep.archive.problems import first_problem
from flowsweep.defaults import MICROSECOND_NS
from flowsweep.errors import ArchiveError
from flowsweep.frozen import Frozen

FORMAT = 3
"""Version of the archive's files. A Flowsweep that does not know it leaves the archive alone."""

CAMPAIGN_FILE = "campaign.json"
_BYTES_MAX = 64 << 20
"""A plan of thousands of hosts has some MB."""


_FIRST, _LAST = datetime(1970, 1, 2, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
"""Between which any archive is made; from others' a schedule would be counted for ever."""


class Campaign(Frozen):
    """A campaign, as it was when its archive was made."""

    format: int
    flowsweep_version: str
    created_at: Annotated[AwareDatetime, Field(ge=_FIRST, le=_LAST)]
    seed: int
    """Of the order of trials, drawn where the plan has none."""
    plan: dict[str, Any]
    """The checked plan. The archive does not look into it."""

    @property
    def plan_json(self) -> str:
        """The plan as compact JSON."""
        return json.dumps(self.plan, ensure_ascii=False, separators=(",", ":"))


def begun_unix_ns(campaign: Campaign) -> int:
    """When the campaign began, in Unix nanoseconds: its archive was made then."""
    return round(campaign.created_at.timestamp() * 1e6) * MICROSECOND_NS


def is_imported(campaign: Campaign) -> bool:
    """Whether nothing was to be measured: so archives of imported results say it."""
    return campaign.plan.get("sweeps") == []


def archives_in(folder: Path) -> list[Path]:
    """List the archives of a folder that is none itself, as a service has it, by name; none of any other."""
    if (folder / CAMPAIGN_FILE).exists() or not folder.is_dir():
        return []
    return sorted(file.parent for file in folder.glob(f"*/{CAMPAIGN_FILE}"))


def write_campaign(folder: Folder, campaign: Campaign) -> None:
    """Write the file; an archive exists from then on."""
    folder.write(CAMPAIGN_FILE, campaign.model_dump_json(indent=2).encode() + b"\n")


def open_folder(path: Path) -> Folder:
    """Open an archive's folder.

    Raises:
        ArchiveError: It is no archive.
        OSError: It may not be read.
    """
    try:
        folder = Folder(path)
        if folder.has_file(CAMPAIGN_FILE):
            return folder
    except (FileNotFoundError, NotADirectoryError):
        pass
    raise ArchiveError(
        f"{path}: not an archive: {_what_is_there(path)}, expected a folder with {CAMPAIGN_FILE}"
    )


def read_campaign(folder: Folder) -> Campaign:
    """Read the file.

    Raises:
        ArchiveError: It is not whole, or of another format; or the journal is missing.
    """
    path = folder.path / CAMPAIGN_FILE
    if not folder.has_file(JOURNAL_FILE):
        raise ArchiveError(f"{folder.path}: not a whole archive: its {JOURNAL_FILE} is missing")
    try:
        found = from_json(folder.read(CAMPAIGN_FILE, at_most=_BYTES_MAX))
    except ValueError as error:
        raise ArchiveError(f"{path}: not JSON: {error}") from error
    version = found.get("format") if isinstance(found, dict) else None
    if version not in (FORMAT_2, FORMAT):
        raise ArchiveError(
            f"{path}: an archive of format {str(version)[:40]}; "
            f"this Flowsweep knows formats {FORMAT_2} and {FORMAT}"
        )
    try:
        return Campaign.model_validate(found)
    except ValidationError as error:
        raise ArchiveError(
            f"{path}: {first_problem(error)}; was changed since Flowsweep wrote it: restore it from a copy"
        ) from error


def refuse_what_is_there(
    folder: Folder, advice: str = "; --resume goes on with an archive that exists"
) -> None:
    """Refuse a folder that has anything in it but what a creation that was killed leaves.

    Args:
        folder: To be made an archive.
        advice: What else somebody may want who names it.

    Raises:
        ArchiveError: Says what is there.
    """
    if folder.has_file(CAMPAIGN_FILE):
        raise ArchiveError(
            f"{folder.path}: holds an archive already. Add --resume to go on with it, or choose another "
            "folder."
        )
    if found := _beside_leftovers(folder):
        raise ArchiveError(
            f"{folder.path}: holds {', '.join(found[:5])}{', …' if len(found) > 5 else ''}, but no archive. "
            f"Choose a folder that is empty or not there yet{advice}."
        )


def is_unbegun(path: Path) -> bool:
    """Whether no archive is there yet: nothing at all, or what a creation that was killed leaves.

    Raises:
        ArchiveError: It may not be read.
    """
    if not path.is_dir():
        return not path.exists()
    with disk.reported(path, "cannot be gone on with"):
        return not _beside_leftovers(Folder(path))


def _beside_leftovers(folder: Folder) -> list[str]:
    """The names in a folder, in order, but for what a creation that was killed leaves."""
    unfinished = {CAMPAIGN_FILE + UNFINISHED}
    if folder.has_file(JOURNAL_FILE) and not folder.file_bytes(JOURNAL_FILE):
        unfinished |= {JOURNAL_FILE}
    return sorted(set(folder.all_names()) - unfinished)


def _what_is_there(folder: Path) -> str:
    if not folder.exists():
        return "nothing is there"
    if not folder.is_dir():
        return "it is a file"
    names = sorted(entry.name for entry in folder.iterdir())
    if not names:
        return "the folder is empty"
    return f"the folder holds {', '.join(names[:5])}" + (
        f" and {len(names) - 5} more" if len(names) > 5 else ""
    )
