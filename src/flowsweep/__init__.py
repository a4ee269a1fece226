"""Flowsweep measures how fast a network path and the hosts at its ends really are.

`flowsweep.open(DIR)` gives the tables of a campaign to Python: docs/guide/python.md.
"""

from os import PathLike
from typing import TYPE_CHECKING

from flowsweep.version import __version__

if TYPE_CHECKING:
    from flowsweep.api import OpenCampaign

__all__ = ["__version__", "open"]


def open(folder: str | PathLike[str]) -> "OpenCampaign":
    """Open the archive that a campaign left behind.

    The libraries of the analysis are loaded only then: the command line starts without them.

    Raises:
        flowsweep.errors.ArchiveError: It is no archive, or is damaged.
    """
    from flowsweep.api import open_campaign

    return open_campaign(folder)
