"""What ships for a service manager calls the command as it is."""

import configparser
import re
import shlex
import subprocess
import tomllib
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


def test_the_unit_waits_for_the_file_system_of_its_plans() -> None:
    unit = configparser.ConfigParser(interpolation=None)
    unit.read(DEPLOY / "flowsweep.service", encoding="utf-8")
    plans, _, archives = shlex.split(unit["Service"]["ExecStart"])[2:]
    assert unit["Unit"]["RequiresMountsFor"] == plans
    # systemd.exec: this adds the same of its folder.
    assert archives == f"/var/lib/{unit['Service']['StateDirectory']}"


def test_the_image_begins_the_same_service() -> None:
    lines = (DEPLOY / "Containerfile").read_text(encoding="utf-8").splitlines()
    (words,) = (line.removeprefix("CMD ") for line in lines if line.startswith("CMD "))
    check([word.strip('",[]') for word in words.split()])


def test_the_image_has_what_asks_snmp_monitors(tmp_path: Path) -> None:
    wheels = [
        "flowsweep-1.0-py3-none-any.whl",
        *(f"flowsweep_engine-1.0-py3-none-linux_{machine}.whl" for machine in ("x86_64", "aarch64")),
        *(f"flowsweep_engine_{machine}-1.0-py3-none-any.whl" for machine in ("x86_64", "aarch64")),
    ]
    for wheel in wheels:
        (tmp_path / wheel).touch()
    text = (DEPLOY / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    (installs,) = (line.removeprefix("RUN ") for line in text.splitlines() if line.startswith("RUN pip"))
    installs = installs.split("&&")[0].replace("/tmp/wheels", str(tmp_path))
    script = f"pip() {{ printf '%s\\n' \"$@\"; }}; uname() {{ echo x86_64; }}; {installs}"
    done = subprocess.run(["/bin/sh", "-c", script], capture_output=True, text=True, check=True)
    asked = [Path(word).name for word in done.stdout.split() if word.startswith("/")]
    assert asked == [f"{wheels[0]}[snmp]", wheels[1], *sorted(wheels[3:])]
    project = tomllib.loads((DEPLOY.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "snmp" in project["optional-dependencies"]


def test_a_wrong_plan_is_not_tried_for_ever() -> None:
    assert "RestartPreventExitStatus=2" in (DEPLOY / "flowsweep.service").read_text(encoding="utf-8")
    (restart,) = re.findall(r"--restart (\S+)", (DEPLOY / "Containerfile").read_text(encoding="utf-8"))
    assert re.fullmatch(r"on-failure:\d+", restart)


def check(words: list[str]) -> None:
    """The words of a command that takes plans and a folder for archives."""
    load(words)
    commands = get_command(app)
    name, *rest = words
    command = commands.get_command(None, name)  # type: ignore[attr-defined]
    context = command.make_context(name, rest, resilient_parsing=True)
    assert [str(plan) for plan in context.params["plans"]] == ["/etc/flowsweep/plans"]
    assert str(context.params["archive"]) == "/var/lib/flowsweep"
