"""What the archives of a campaign are called, as a service makes them: NAME, then NAME-2 and so on."""

import re

_NOT_IN_NAMES = re.compile(r"[^\w.-]+")


def folder_called(name: str) -> str:
    """What the archives of a campaign of this name are called, but for their number."""
    return _NOT_IN_NAMES.sub("-", name).strip("-.") or "campaign"


def number_of(folder: str, name: str) -> int | None:
    """Which archive of a campaign a folder is by its name; `NAME` is 1. None: it is called otherwise."""
    found = re.fullmatch(rf"{re.escape(folder_called(name))}(?:-([2-9]|[1-9][0-9]+))?", folder)
    return None if found is None else int(found[1] or 1)
