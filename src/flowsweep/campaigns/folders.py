"""The archive in which a plan goes on: the last one of its name, or a new one if the plan is another."""

import re
import secrets
from pathlib import Path

from pydantic import ValidationError

from flowsweep.archive import ArchiveWriter, create_archive, open_archive_for_writing
from flowsweep.archive.campaign import is_unbegun
from flowsweep.campaigns.succession import folder_called, number_of
from flowsweep.errors import FlowsweepError
from flowsweep.plan import Plan, plan_difference

_SEED_BITS = 31
"""Of a seed that is drawn: a number that is still easy to write down."""


def folder_name(plan: Plan) -> str:
    """What the archives of a plan are called, but for their number."""
    return folder_called(plan.campaign.name)


def is_of_one_name(first: str, second: str) -> bool:
    """Whether one is what archives of the other are called once their plan has changed: NAME and NAME-2."""
    short, long = sorted((first, second), key=len)
    return re.fullmatch(rf"{re.escape(short)}-[1-9][0-9]*", long) is not None


def folders_before(archive: Path, plan: Plan) -> list[Path]:
    """The archives in which a plan of this name was measured before it changed, the newest first."""
    numbers = _numbers(archive.parent, plan)
    there = sorted(((number, folder) for folder, number in numbers.items()), reverse=True)
    own = numbers.get(archive, 1)
    return [folder for number, folder in there if number < own and folder.is_dir()]


def last_folder(base: Path, plan: Plan) -> tuple[Path, int]:
    """The newest archive of a plan's name, and its number; `NAME` is 1, and there may be none yet."""
    numbers = {base / folder_name(plan): 1} | _numbers(base, plan)
    return max(numbers.items(), key=lambda one: one[1])


def open_or_begin(base: Path, plan: Plan) -> ArchiveWriter:
    """Open the archive in which a plan goes on, made anew if there is none or it has another plan.

    One that a power cut left without its first file is none yet: it is made where it was to be.

    Raises:
        ArchiveError: It cannot be read or written, or another process is writing it.
    """
    folder, number = last_folder(base, plan)
    if is_unbegun(folder):
        return _begun(folder, plan)
    writer = open_archive_for_writing(folder)
    try:
        same = _is_of(plan, writer)
        if same:
            writer.make_ready()
            return writer
    except FlowsweepError:
        writer.close()
        raise
    writer.close()
    return _begun(base / f"{folder_name(plan)}-{number + 1}", plan)


def seed_of(plan: Plan) -> int:
    """The seed of a campaign that begins: the plan's, or one that is drawn."""
    return secrets.randbits(_SEED_BITS) if plan.campaign.seed is None else plan.campaign.seed


def _numbers(base: Path, plan: Plan) -> dict[Path, int]:
    """What is there of a plan's name, with its number."""
    there = list(base.iterdir()) if base.is_dir() else []
    found = ((path, number_of(path.name, plan.campaign.name)) for path in there)
    return {path: number for path, number in found if number is not None}


def _begun(folder: Path, plan: Plan) -> ArchiveWriter:
    return create_archive(folder, plan_json=plan.model_dump_json(), seed=seed_of(plan))


def _is_of(plan: Plan, writer: ArchiveWriter) -> bool:
    """Whether an archive was begun with a plan; not if that was one that only another version understands."""
    try:
        return not plan_difference(Plan.model_validate_json(writer.plan_json), plan)
    except ValidationError:
        return False
