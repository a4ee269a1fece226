"""Options that the commands without a plan have in common."""

from pathlib import Path
from typing import Annotated

import typer

Address = Annotated[
    str | None,
    typer.Option(help="Where HOST is reached for the traffic; `local` and `ssh:` know by themselves."),
]
Duration = Annotated[str, typer.Option(help="How long to send.")]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="sweep.KEY=VALUE", help="Anything else that a plan can ask for."),
]
Reverse = Annotated[bool, typer.Option("--reverse", help="HOST sends and this machine receives.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object, and nothing else.")]
Save = Annotated[
    Path | None,
    typer.Option(
        "--save", metavar="DIR", help="Keep what is measured as an archive: a folder, empty or new."
    ),
]
