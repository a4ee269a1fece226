"""`flowsweep demo`: a small campaign on this machine, and its report."""

import itertools
import socket
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from flowsweep.archive import create_archive, read_archive
from flowsweep.campaigns.folders import seed_of
from flowsweep.cli.app import app
from flowsweep.cli.campaign import carry_out, ended_in_order, print_campaign_end
from flowsweep.cli.reading import told_if_long
from flowsweep.cli.terminal import say
from flowsweep.errors import ArchiveError
from flowsweep.lab import enter_user_namespace_if_needed, lab_possible
from flowsweep.plan import parse_plan
from flowsweep.schedule import estimate, schedule
from flowsweep.wording import counted, format_duration

_PLAN_FILE = "demo.toml"
_EMULATED = '\n[lab.links.demo]\nbetween = ["left", "right"]\nrate = "20Mbit/s"\ndelay = "20ms"\n'
_LOOPBACK = "\n[hosts.left]\n[hosts.right]\n"
_CONGESTIONS = ("cubic", "reno")
"""What most hosts use, and what every Linux lets everybody use (`tcp_allowed_congestion_control`)."""
QUICK = {
    "campaign.repeats": "1",
    "sweep.directions": "one",
    "sweep.flows": "[1, 4]",
    "sweep.window_sum": '["16KiB", "32KiB", "64KiB", "192KiB"]',
}
"""What is less of it with `--quick`: 8 trials in place of 60, in about 15 s."""


@app.command()
def demo(
    archive: Annotated[
        Path,
        typer.Option("--archive", metavar="DIR", help="Folder for the results; numbered if it exists."),
    ] = Path("flowsweep-demo"),
    *,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer points, one direction, once: about 15 seconds.")
    ] = False,
) -> None:
    """Measure an emulated path on this machine for about two minutes, and write a report."""
    folder = free_folder(archive)
    reason = lab_possible()
    if reason is None:
        enter_user_namespace_if_needed(named=[archive])
        where = "an emulated path of 20 Mbit/s and a round trip of 40 ms between two network namespaces"
    else:
        where = f"this machine's loopback, because no path can be emulated here: {reason}"
    text = plan_text(emulated=reason is None, congestion=usable_congestion())
    plan = parse_plan(text, _PLAN_FILE, QUICK if quick else None)
    seed = seed_of(plan)
    expected = estimate(schedule(plan, seed), plan.links)
    say(f"{counted(expected.trials, 'trial')} on {where}; about {format_duration(expected.duration_ns)}")
    report = folder / "report.html"
    advice = f"to see them: flowsweep summary {quote(str(folder))}"
    with (
        create_archive(folder, plan_json=plan.model_dump_json(), seed=seed) as writer,
        ended_in_order(writer, after_a_break=advice) as stopper,
    ):
        carry_out(plan, writer, stopper)
        code = print_campaign_end(folder)
        _write_report(folder, report)
    say(f"archive: {folder}\nreport: {report.resolve()}")
    raise typer.Exit(code)


def _write_report(folder: Path, report: Path) -> None:
    """Only now, when the campaign is over, the figures are loaded."""
    from flowsweep.report.write import write_report

    with told_if_long("writing the report"):
        write_report(read_archive(folder), report)


def plan_text(*, emulated: bool, congestion: str) -> str:
    """The demo's plan: on an emulated link, or on loopback."""
    text = resources.files("flowsweep.cli").joinpath(_PLAN_FILE).read_text(encoding="utf-8")
    return f'{text}congestion = "{congestion}"\n' + (_EMULATED if emulated else _LOOPBACK)


def usable_congestion(wanted: Sequence[str] = _CONGESTIONS) -> str:
    """The first congestion control that the kernel grants this process, or else the last one."""
    with socket.socket() as probe:
        for congestion in wanted[:-1]:
            try:
                probe.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
            except OSError:
                continue
            return congestion
    return wanted[-1]


def free_folder(folder: Path) -> Path:
    """The folder, or the first of `folder-2`, `folder-3`, … that is not there: earlier runs are kept.

    Raises:
        ArchiveError: It has no name to number, as `.` and `/`.
    """
    if folder.name in ("", ".."):
        raise ArchiveError(
            f"--archive: found {folder}, expected the name of a new folder, as in "
            f"{folder / 'flowsweep-demo'}: results of earlier runs are kept, and new ones are put beside them"
        )
    numbered = (folder.with_name(f"{folder.name}-{number}") for number in itertools.count(2))
    return next(path for path in itertools.chain([folder], numbered) if not path.exists())
