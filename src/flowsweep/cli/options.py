"""Options and arguments that several commands have."""

import re
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from flowsweep.cli.completion import complete_host, complete_plan
from flowsweep.defaults import EQUIVALENCE_MARGIN, LARGEST_MARGIN
from flowsweep.errors import PlanError
from flowsweep.plan import Plan, joined, load_plan
from flowsweep.plan.readers import shown
from flowsweep.wording import format_margin

Host = Annotated[
    str,
    typer.Argument(
        metavar="HOST",
        autocompletion=complete_host,
        help="The other end: `local`, `ssh:DESTINATION`, `netns:NAME`, or `exec:COMMAND` with a command that "
        "starts programs there, as in 'exec:kubectl exec -i pod --'. Nothing has to be installed or started "
        "there before.",
    ),
]
Address = Annotated[
    str | None,
    typer.Option(help="Address of HOST for the traffic; not needed with `local` and `ssh:`."),
]
Duration = Annotated[str, typer.Option(help="How long to send.")]
DURATION = "5s"
"""Of a trial without a plan, if it is not given."""
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="sweep.KEY=VALUE",
        help="Any other key of a plan's sweep, or of its campaign (campaign.KEY); hosts and links need "
        "a plan.",
    ),
]
PlanOverrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="TABLE.KEY=VALUE", help="Override the plan, as in sweep.duration=2s."),
]
Window = Annotated[
    str | None, typer.Option(help="Socket buffer per flow, as in 256KiB; autotuning if absent.")
]
Length = Annotated[
    str | None, typer.Option(help="Bytes of one write or read; 256KiB, or what suits a rate, if absent.")
]
Reverse = Annotated[bool, typer.Option("--reverse", help="HOST sends and this machine receives.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object, and nothing else.")]
Save = Annotated[
    Path | None,
    typer.Option(
        "--save", metavar="DIR", help="Keep what is measured as an archive: a folder, empty or new."
    ),
]
Against = Annotated[
    Path | None,
    typer.Option(
        "--against",
        metavar="PLAN",
        help="Another plan for the same hosts and links: each point runs with both plans' settings, A and B "
        "next to each other in random order, so that drift affects both alike. --set applies to both.",
        autocompletion=complete_plan,
    ),
]

DEFAULT_MARGIN = format_margin(EQUIVALENCE_MARGIN).replace(" ", "")

MarginText = Annotated[
    str, typer.Option("--margin", help="A change of goodput up to this has no practical effect.")
]


class Format(StrEnum):
    """How a command writes what it found."""

    text = "text"
    json = "json"


TextOrJson = Annotated[Format, typer.Option("--format", help="For people, or for programs.")]


class TableFormat(StrEnum):
    """How a command writes rows."""

    table = "table"
    csv = "csv"
    json = "json"


TableCsvOrJson = Annotated[TableFormat, typer.Option("--format", help="For people, or for programs.")]


def options_written(context: typer.Context) -> dict[str, str]:
    """Return the options that a person wrote on the command line, each by its parameter's name."""
    found = {}
    for one in context.command.params:
        source = context.get_parameter_source(one.name) if one.name else None
        if one.name and source is not None and source.name == "COMMANDLINE":
            found[one.name] = max(one.opts, key=len)
    return found


def load_both(plan: Path, against: Path | None, overrides: Mapping[str, str]) -> Plan:
    """Load a plan, joined with the one that it is to be measured against.

    Raises:
        PlanError: One of them is wrong, or they cannot be measured side by side.
    """
    loaded = load_plan(plan, overrides)
    return loaded if against is None else joined(loaded, load_plan(against, overrides))


def read_margin(text: str) -> float:
    """Read a margin such as "3%"; returns a share of 1.

    Raises:
        PlanError: It has another form, or is not above 0 % and at most 50 %.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?|\.\d+)\s*%\s*", text, re.ASCII)
    share = float(match[1]) / 100 if match else 0.0
    if not 0 < share <= LARGEST_MARGIN:
        expected = f"expected a percentage above 0 and up to {100 * LARGEST_MARGIN:g}, as in 3%"
        raise PlanError("--margin", (f"found {shown(text)}, {expected}",))
    return share
