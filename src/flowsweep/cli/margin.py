"""The option `--margin`: how much goodput may differ without practical effect."""

import re
from typing import Annotated

import typer

from flowsweep.defaults import EQUIVALENCE_MARGIN
from flowsweep.errors import PlanError
from flowsweep.plan.readers import shown
from flowsweep.wording import format_margin

DEFAULT_MARGIN = format_margin(EQUIVALENCE_MARGIN).replace(" ", "")

MarginText = Annotated[
    str, typer.Option("--margin", help="A change of goodput up to this is of no practical effect.")
]
"""Type of a command's parameter."""

_LARGEST_PERCENT = 50.0


def read_margin(text: str) -> float:
    """Read a margin such as "3%"; returns a share of 1.

    Raises:
        PlanError: It has another form, or is not above 0 % and at most 50 %.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?|\.\d+)\s*%\s*", text, re.ASCII)
    percent = float(match[1]) if match else 0.0
    if not 0 < percent <= _LARGEST_PERCENT:
        expected = f"expected a percentage above 0 and up to {_LARGEST_PERCENT:g}, as in 3%"
        raise PlanError("--margin", (f"found {shown(text)}, {expected}",))
    return percent / 100
