"""Files that a person named to be written: a link to one stays a link, unless it may be a stranger's."""

import errno
import os
import re
import stat
from contextlib import suppress
from pathlib import Path

from flowsweep.archive.campaign import CAMPAIGN_FILE
from flowsweep.archive.digests import IN_NAME
from flowsweep.archive.entries import (
    MERGED_FOLDER,
    MONITORS_FOLDER,
    PARTS_FOLDER,
    TRIALS_FOLDER,
    kept_summary_file,
)
from flowsweep.archive.folder import ASIDE_FOLDER
from flowsweep.errors import ArchiveError

_FOLDERS = (TRIALS_FOLDER, MERGED_FOLDER, PARTS_FOLDER, ASIDE_FOLDER, MONITORS_FOLDER)
"""Of an archive, with what it alone writes."""
_KEPT_SUMMARY = re.compile(kept_summary_file(IN_NAME))


def where_it_leads(named: Path) -> Path:
    """Give the file that is to be replaced where a person named this one: what a link leads to.

    A link in the folder of an archive is not followed, since it may have come with it: the file takes its
    place.

    Raises:
        OSError: It is a device, a pipe or the like, which a file must not take the place of; or a link that
            leads nowhere.
    """
    if not named.is_symlink():
        target = named
    elif _is_in_archive(named):
        return named
    else:
        target = Path(os.path.realpath(named))
    with suppress(FileNotFoundError):
        mode = target.lstat().st_mode
        if stat.S_ISLNK(mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(named))
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise OSError(errno.EINVAL, "it is no regular file", str(named))
    return target


def refuse_data_of_archive(path: Path) -> None:
    """Refuse to write where an archive keeps its own files.

    Raises:
        ArchiveError: It is the place of one.
    """
    target = Path(os.path.realpath(path))
    for folder in target.parents:
        if not (folder / CAMPAIGN_FILE).exists():
            continue
        inside = target.relative_to(folder).parts
        if (len(inside) > 1 and inside[0] in _FOLDERS) or _KEPT_SUMMARY.fullmatch("/".join(inside)):
            raise ArchiveError(f"{path}: is a place of the archive's own files; choose another place")


def _is_in_archive(path: Path) -> bool:
    above = Path(os.path.realpath(path.parent))
    return any((folder / CAMPAIGN_FILE).exists() for folder in (above, *above.parents))
