"""Whom `flowsweep alarms --deliver` tells: whom a plan of the caller's own names, no stranger's archive."""

from pathlib import Path

from flowsweep.archive.campaign import CAMPAIGN_FILE
from flowsweep.archive.folder import Folder
from flowsweep.errors import ArchiveError, PlanError
from flowsweep.plan import Plan, load_plan
from flowsweep.plan.alarms.checks import refusal_of
from flowsweep.plan.alarms.model import Alarms


def targets_of_plan(path: Path) -> Alarms:
    """What a plan's file says of alarms.

    Raises:
        PlanError: It is wrong, or names nobody to tell.
    """
    settings = load_plan(path).alarms
    if settings is None or not settings.targets:
        raise PlanError(str(path), ("names nobody to tell: no webhook, command or mail in [alarms]",))
    return settings


def targets_of_archive(folder: Folder, plan: Plan) -> Alarms:
    """What the plan in an archive says of alarms, if the archive is the caller's own.

    A command there is started, and variables of the environment are sent: whoever can write the archive's
    plan could have both done in the caller's name.

    Raises:
        ArchiveError: It names nobody, or what no plan's file may say; or somebody else may have written it.
    """
    settings, archive = plan.alarms, folder.path
    if settings is None or not settings.targets:
        raise ArchiveError(
            f"{archive}: its plan names nobody to tell: no webhook, command or mail in [alarms]"
        )
    instead = "name the plan's file with --targets PLAN"
    if not (folder.is_own() and folder.is_own(CAMPAIGN_FILE)):
        raise ArchiveError(
            f"{archive}: belongs to somebody else, or others may write it, and the plan in it says which "
            f"command is started and where alarms are sent; {instead}, or make the archive your own"
        )
    if (refusal := refusal_of(settings)) is not None:
        raise ArchiveError(f"{archive}: its plan has [alarms] that no plan can have: {refusal}; {instead}")
    return settings
