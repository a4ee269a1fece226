"""`flowsweep demo`: a small campaign on this machine, and its report."""

import itertools
import secrets
from importlib import resources
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from flowsweep.archive import create_archive, read_archive
from flowsweep.cli.app import app
from flowsweep.cli.campaign import SEED_BITS, carry_out, tell_the_end
from flowsweep.lab import enter_user_namespace_if_needed, lab_possible
from flowsweep.plan import parse_plan
from flowsweep.report import write_report
from flowsweep.schedule import estimate, schedule
from flowsweep.wording import counted, format_duration

_PLAN_FILE = "demo.toml"
_EMULATED = '\n[lab.links.demo]\nbetween = ["left", "right"]\nrate = "10Gbit/s"\n'
_LOOPBACK = "\n[hosts.left]\n[hosts.right]\n"


@app.command()
def demo(
    archive: Annotated[
        Path,
        typer.Option("--archive", metavar="DIR", help="Folder for the results; numbered if it is there."),
    ] = Path("flowsweep-demo"),
) -> None:
    """Measure an emulated link on this machine for about a minute, and write a report."""
    reason = lab_possible()
    if reason is None:
        enter_user_namespace_if_needed()
        where = "an emulated link of 10 Gbit/s between two network namespaces"
    else:
        where = f"this machine's loopback, because no link can be emulated here: {reason}"
    plan = parse_plan(plan_text(emulated=reason is None), _PLAN_FILE)
    seed = secrets.randbits(SEED_BITS)
    expected = estimate(schedule(plan, seed), plan.links)
    typer.echo(
        f"{counted(expected.trials, 'trial')} on {where}; about {format_duration(expected.duration_ns)}"
    )
    folder = free_folder(archive)
    with create_archive(folder, plan_json=plan.model_dump_json(), seed=seed) as writer:
        carry_out(plan, writer, after_a_break=f"to see them: flowsweep summary {quote(str(folder))}")
    code = tell_the_end(folder)
    report = folder / "report.html"
    write_report(read_archive(folder), report)
    typer.echo(f"archive: {folder}\nreport: {report.resolve()}")
    raise typer.Exit(code)


def plan_text(*, emulated: bool) -> str:
    """The demo's plan: on an emulated link, or on loopback."""
    text = resources.files("flowsweep.cli").joinpath(_PLAN_FILE).read_text(encoding="utf-8")
    return text + (_EMULATED if emulated else _LOOPBACK)


def free_folder(folder: Path) -> Path:
    """The folder, or the first of `folder-2`, `folder-3`, … that is not there: earlier runs are kept."""
    numbered = (folder.with_name(f"{folder.name}-{number}") for number in itertools.count(2))
    return next(path for path in itertools.chain([folder], numbered) if not path.exists())
