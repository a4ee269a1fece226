"""Files that a person named to be written: a link to one stays a link, unless it may be a stranger's."""

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path

from flowsweep.archive.campaign import CAMPAIGN_FILE


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


def _is_in_archive(path: Path) -> bool:
    above = Path(os.path.realpath(path.parent))
    return any((folder / CAMPAIGN_FILE).exists() for folder in (above, *above.parents))
