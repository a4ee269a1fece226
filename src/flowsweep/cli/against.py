"""`--against`: two plans, the settings of which are measured in one campaign."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from flowsweep.cli.completion import complete_plan
from flowsweep.plan import Plan, joined, load_plan

Against = Annotated[
    Path | None,
    typer.Option(
        "--against",
        metavar="PLAN",
        help="Another plan for the same hosts and links: each point runs as both have it, A and B side by "
        "side in random order, so that what drifts meets both alike. --set goes over both.",
        autocompletion=complete_plan,
    ),
]


def load_both(plan: Path, against: Path | None, overrides: Mapping[str, str]) -> Plan:
    """Load a plan, joined with the one that it is to be measured against.

    Raises:
        PlanError: One of them is wrong, or they cannot be measured side by side.
    """
    loaded = load_plan(plan, overrides)
    return loaded if against is None else joined(loaded, load_plan(against, overrides))
