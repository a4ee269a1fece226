"""`flowsweep run`: carry out a plan, and leave an archive behind."""

import shlex
import time
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from flowsweep.archive import ArchiveWriter, create_archive
from flowsweep.archive.campaign import is_imported
from flowsweep.campaigns.folders import seed_of
from flowsweep.cli.app import app
from flowsweep.cli.archives import go_on_with, make_ready
from flowsweep.cli.campaign import carry_out, ended_in_order, print_campaign_end, print_settings_of
from flowsweep.cli.check_times import refuse_misfit
from flowsweep.cli.completion import complete_plan
from flowsweep.cli.exit_codes import CODES_OF_RUN
from flowsweep.cli.options import Against, PlanOverrides, load_both
from flowsweep.cli.terminal import say
from flowsweep.errors import ArchiveError, FlowsweepError
from flowsweep.lab import enter_user_namespace_if_needed
from flowsweep.plan import Plan, parse_overrides, plan_difference, setting_pairs
from flowsweep.version import __version__


@app.command(epilog=CODES_OF_RUN)
def run(
    plan: Annotated[Path, typer.Argument(help="The plan, a TOML file.", autocompletion=complete_plan)],
    archive: Annotated[
        Path, typer.Option("--archive", metavar="DIR", help="Folder for the results: empty or new.")
    ],
    overrides: PlanOverrides = None,
    *,
    against: Against = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the archive: run what is missing or not ok.")
    ] = False,
) -> None:
    """Run the trials of a plan, and keep every sample of them.

    One runs after the other, unless the plan has `concurrent`. With --against, the trials of two plans
    alternate, and their comparison is printed at the end.
    """
    loaded = load_both(plan, against, parse_overrides(overrides or []))
    if not resume:
        # Of one that goes on, what was missed is recorded.
        refuse_misfit(loaded, time.time_ns())
    if loaded.links:
        enter_user_namespace_if_needed(named=(plan, against, archive))
    go_on = ["flowsweep", "run", str(plan)]
    go_on += [] if against is None else ["--against", str(against)]
    go_on += ["--archive", str(archive), "--resume"]
    go_on += [word for override in overrides or [] for word in ("--set", override)]
    advice = f"to go on: {shlex.join(go_on)}"
    with (
        _writer(loaded, archive, resume=resume) as writer,
        ended_in_order(writer, after_a_break=advice) as stopper,
    ):
        carry_out(loaded, writer, stopper)
        code = print_campaign_end(archive)
        if against is not None:
            print_settings_of(archive)
    say(f"archive: {archive}\nnext: flowsweep report {shlex.quote(str(archive))} -o report.html")
    raise typer.Exit(code)


def _writer(plan: Plan, folder: Path, *, resume: bool) -> ArchiveWriter:
    if not resume:
        return create_archive(folder, plan_json=plan.model_dump_json(), seed=seed_of(plan))
    if not folder.exists():
        raise ArchiveError(
            f"{folder}: is not there, so there is nothing to resume; leave --resume out to begin"
        )
    writer = go_on_with(folder)
    try:
        _refuse_another_plan(plan, writer)
        make_ready(writer)
    except FlowsweepError:
        writer.close()
        raise
    return writer


def _refuse_another_plan(plan: Plan, writer: ArchiveWriter) -> None:
    try:
        begun_with = Plan.model_validate_json(writer.plan_json)
    except ValidationError as error:
        if is_imported(writer.campaign):
            raise ArchiveError(
                f"{writer.folder}: was imported and has no plan, so there is nothing to resume: choose a new "
                "folder; `flowsweep compare` compares both archives"
            ) from error
        version = writer.campaign.flowsweep_version
        raise ArchiveError(
            f"{writer.folder}: was begun by flowsweep {version}, and this is {__version__}, which does not "
            f"understand its plan: go on with Flowsweep {version}, or choose a new folder"
        ) from error
    if setting_pairs(begun_with) and not setting_pairs(plan):
        raise ArchiveError(f"{writer.folder} was begun with --against: give the same two plans")
    if differences := plan_difference(begun_with, plan):
        what = f"{plan.source}: is not the plan that {writer.folder} was begun with"
        what += "; go on with that one, or choose a new folder:"
        raise ArchiveError("\n  ".join([what, *differences]))
