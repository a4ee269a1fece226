"""What ships for a service manager calls the command as it is."""

import configparser
import shlex
from pathlib import Path

from typer.main import get_command

from flowsweep.cli import load
from flowsweep.cli.app import app

DEPLOY = Path(__file__).parents[2] / "deploy"


def test_the_unit_begins_a_service_that_says_when_it_is_ready() -> None:
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str  # type: ignore[assignment]
    unit.read(DEPLOY / "flowsweep.service", encoding="utf-8")
    service = unit["Service"]
    assert (service["Type"], service["Restart"]) == ("notify", "on-failure")
    assert service["ExecReload"] == "/bin/kill -HUP $MAINPID"
    check(shlex.split(service["ExecStart"])[1:])


def test_the_image_begins_the_same_service() -> None:
    lines = (DEPLOY / "Containerfile").read_text(encoding="utf-8").splitlines()
    (words,) = (line.removeprefix("CMD ") for line in lines if line.startswith("CMD "))
    check([word.strip('",[]') for word in words.split()])


def check(words: list[str]) -> None:
    """The words of a command that takes plans and a folder for archives."""
    load(words)
    commands = get_command(app)
    name, *rest = words
    command = commands.get_command(None, name)  # type: ignore[attr-defined]
    context = command.make_context(name, rest, resilient_parsing=True)
    assert [str(plan) for plan in context.params["plans"]] == ["/etc/flowsweep/plans"]
    assert str(context.params["archive"]) == "/var/lib/flowsweep"
