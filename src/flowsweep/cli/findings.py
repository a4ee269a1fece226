"""`flowsweep findings`: what a campaign teaches, in sentences or as JSON."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from flowsweep.analysis.comparing.words import settings_line
from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.methods import COMMON, Methods
from flowsweep.analysis.findings.topics import findings
from flowsweep.analysis.monitors.facts import monitor_facts
from flowsweep.analysis.predicted import with_predictions
from flowsweep.analysis.sender_courses import sender_courses
from flowsweep.cli.app import app
from flowsweep.cli.archives import read_with_warnings
from flowsweep.cli.options import DEFAULT_MARGIN, Format, MarginText, TextOrJson, read_margin
from flowsweep.cli.reading import told_if_long
from flowsweep.cli.summary_rows import rows_of_archive
from flowsweep.cli.terminal import Screen, say_json, wrapped
from flowsweep.report.findings_list import MOST_AT_ONCE
from flowsweep.report.goodput_words import GOODPUT_COMPARED, goodput_compared
from flowsweep.report.headline import finished
from flowsweep.report.opening import Opening, opening
from flowsweep.report.tests_apart import named_tests
from flowsweep.schedule import planned_trials
from flowsweep.wording import (
    counted,
    format_mode,
    format_p,
    modes_differ,
)

_WIDTH_OF_NO_TERMINAL = 100
_LEAD = 19
"""Characters before the sentences of the opening."""


_EPILOG = (
    "Each with its trials and its method. At most 5 % of campaigns without any effect get a false claim. "
    f"{GOODPUT_COMPARED}. "
    "docs/explanation/findings.md describes the tests."
)


@app.command("findings", epilog=_EPILOG)
def show_findings(
    archive: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a campaign.")],
    form: TextOrJson = Format.text,
    margin: MarginText = DEFAULT_MARGIN,
    *,
    every: Annotated[
        bool, typer.Option("--all", help=f"Print every finding, not the {MOST_AT_ONCE} that matter most.")
    ] = False,
) -> None:
    """Draw conclusions from a campaign: what matters, what does not, what is undecided."""
    share = read_margin(margin)
    found = read_with_warnings(archive)
    with found.damage_named(), told_if_long("drawing conclusions"):
        rows = with_predictions(rows_of_archive(found), found)
        conclusions = findings(
            rows, tables=found.tables(), hosts=found.host_facts, monitors=monitor_facts(found), margin=share
        )
        courses = sender_courses(found.tables(), rows)
    if form is Format.json:
        say_json([asdict(finding) for finding in conclusions])
        return
    console = Screen.for_lines(_WIDTH_OF_NO_TERMINAL)
    if not conclusions:
        good = sum(row["status"] == "ok" for row in rows)
        console.print(f"Nothing to conclude: of {counted(len(rows), 'trial')} {good} ended well.")
    planned = planned_trials(found.campaign.plan)
    if planned is not None and planned > len(rows):
        console.print(f"{len(rows)} {finished(len(rows), planned)}.\n")
    settings = settings_line(found.campaign.plan, rows, share)
    print_opening(opening(rows, conclusions, settings, found.state.missed, courses), console)
    most = len(conclusions) if every else MOST_AT_ONCE
    tests = named_tests(conclusions, rows)
    print_findings(conclusions, console, most=most, goodput=goodput_compared(rows), tests=tests)


def print_opening(found: Opening | None, console: Screen) -> None:
    """Print the sentences for somebody who reads no further."""
    if found is None:
        return
    console.print(Text("In short", style="bold"))
    for name, text in found.lines:
        console.print(wrapped(text, " " * _LEAD, console.width, first=f"  {name}".ljust(_LEAD)))
    console.print()


def print_findings(
    conclusions: Sequence[Finding], console: Screen, *, most: int, goodput: str, tests: Sequence[str]
) -> None:
    """Print findings in the order given, the undecided ones under a heading of their own, methods last.

    Args:
        conclusions: All of a campaign, the most important first.
        console: Where they go.
        most: How many to print. Those that are decided come first; how many there are beyond is said.
        goodput: Which figure of a trial they use.
        tests: The test of each, where that must be said; else "".
    """
    several_sweeps = len({finding.sweep for finding in conclusions}) > 1
    several_modes = modes_differ([finding.mode for finding in conclusions])
    with_tests = zip(conclusions, tests, strict=True)
    in_order = sorted(with_tests, key=lambda one: one[0].decision == "undecided")
    shown = in_order[:most]
    methods = Methods(finding.method for finding, _ in shown)
    for heading, open_ones in (("Findings", False), ("Undecided", True)):
        group = [one for one in shown if (one[0].decision == "undecided") is open_ones]
        if not group:
            continue
        console.print(Text(heading, style="bold"))
        for finding, test in group:
            where = [finding.sweep] if several_sweeps else []
            where += [test] if test else []
            where += [format_mode(finding.mode)] if several_modes and finding.mode is not None else []
            console.print(wrapped(finding.claim, "  ", console.width))
            grounds = _grounds(finding, ", ".join(where), methods.number(finding.method))
            console.print(wrapped(grounds, "    ", console.width), style="dim")
        console.print()
    if len(in_order) > most:
        console.print(f"--all prints {_beyond([finding for finding, _ in in_order[most:]])}.\n")
    if shown:
        console.print(Text("Methods", style="bold"))
        console.print(wrapped(f"{goodput}. {COMMON}.", "  ", console.width), style="dim")
    for number, note in enumerate(methods.notes, start=1):
        console.print(wrapped(note, "      ", console.width, first=f"{number:4}  "), style="dim")


def _beyond(left_out: Sequence[Finding]) -> str:
    """Say how many are not shown: "31 more findings, 12 of them undecided"."""
    undecided = sum(finding.decision == "undecided" for finding in left_out)
    text = counted(len(left_out), "more finding")
    return text if not undecided else f"{text}, {undecided} of them undecided"


def _grounds(finding: Finding, where: str, method: int) -> str:
    parts = [where] if where else []
    parts.append(counted(finding.n, "trial"))
    if finding.p_adjusted is not None and finding.decision != "no practical effect":
        parts.append(f"{format_p(finding.p_adjusted)} after Holm")
    return " · ".join([*parts, f"method {method}"])
