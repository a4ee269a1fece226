"""What the commands without a plan are asked alike."""

from pathlib import Path
from typing import Annotated

import typer

from flowsweep.cli.completion import complete_host

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
