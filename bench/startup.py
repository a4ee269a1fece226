"""How soon commands answer, beside the time in which Python imports what every such command line needs.

Usage: python bench/startup.py     # as root, for the lab

Runs `python -c "import typer, rich, pydantic"` and the commands one after the other, in drawn order, round by
round. The archive has 60 trials, which a lab has run before. Writes the figures with facts of the machine to
bench/results/startup.json, and a part of docs/explanation/benchmarks.md.
"""

import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from pydantic import BaseModel, ConfigDict, Field

from against.command import options_with_rounds, told
from against.machine import Machine
from against.spread import seconds_spread

ROOT = Path(__file__).parents[1]
SEED = 20260823
LONGEST_S = 120
PROGRAM = str(Path(sys.executable).with_name("flowsweep"))
BASE = "import of typer, rich and pydantic"
PLAN = """
[campaign]
name = "startup"
repeats = 5
order = "listed"

[lab.links.wire]
between = ["left", "right"]
rate = "100Mbit/s"

[[sweep]]
name = "windows"
paths = [{ from = "left", to = "right" }]
flows = [1, 2, 4]
window = ["64KiB", "128KiB", "256KiB", "512KiB"]
duration = "0.5s"
interval = "0.1s"
"""


class Command(BaseModel):
    """What is run, and what it may take."""

    model_config = ConfigDict(frozen=True)

    name: str
    words: tuple[str, ...] = Field(exclude=True)
    beyond_s: float = 0.0
    """What it is to take anyway, as traffic does."""
    most: float
    """Times the time of BASE, beyond that."""


class Timed(BaseModel):
    """One command, in every round."""

    model_config = ConfigDict(frozen=True)

    command: Command
    took_s: tuple[float, ...]
    ratio: float
    """Of medians, less what it is to take anyway."""
    met: bool


class StartupResult(BaseModel):
    """All that was measured."""

    model_config = ConfigDict(frozen=True)

    machine: Machine
    rounds: int
    base_s: tuple[float, ...]
    commands: tuple[Timed, ...]
    met: bool


def main() -> int:
    """Measure, print and write the figures; 1 if a limit was missed."""
    parser = options_with_rounds(__doc__, rounds=11)
    parser.add_argument("--archive", type=Path, metavar="DIR", help="of 60 trials; made if absent")
    arguments = parser.parse_args()
    machine = Machine.now()
    with tempfile.TemporaryDirectory() as folder:
        archive = arguments.archive or _campaign(Path(folder))
        result = _measured(machine, _commands(archive), arguments.rounds)
    return told("startup", result, part(result), dry=arguments.dry)


def _campaign(folder: Path) -> Path:
    plan, archive = folder / "plan.toml", folder / "archive"
    plan.write_text(PLAN, encoding="utf-8")
    run = [PROGRAM, "run", str(plan), "--archive", str(archive)]
    subprocess.run(run, check=True, timeout=600, stdout=subprocess.DEVNULL)
    return archive


def _commands(archive: Path) -> tuple[Command, ...]:
    plan = "plans/lab-200mbit.toml"
    return (
        Command(name="flowsweep --help", words=("--help",), most=1.5),
        Command(name=f"flowsweep check {plan}", words=("check", plan), most=4),
        Command(
            name="flowsweep tcp local --duration 1s, beyond 1 s",
            words=("tcp", "local", "--duration", "1s"),
            beyond_s=1,
            most=6,
        ),
        Command(name="flowsweep summary, 60 trials", words=("summary", str(archive.absolute())), most=8),
    )


def _measured(machine: Machine, commands: Sequence[Command], rounds: int) -> StartupResult:
    lines = {BASE: [sys.executable, "-c", "import typer, rich, pydantic"]}
    lines |= {command.name: [PROGRAM, *command.words] for command in commands}
    for line in lines.values():
        _took_s(line)  # so that all bytecode is cached
    took_s: dict[str, list[float]] = {name: [] for name in lines}
    generator = random.Random(SEED)
    for number in range(1, rounds + 1):
        for name in generator.sample(list(lines), len(lines)):
            took_s[name].append(_took_s(lines[name]))
        print(f"round {number}: " + ", ".join(f"{took[-1]:.2f} s" for took in took_s.values()), flush=True)
    base_s = median(took_s[BASE])
    timed = tuple(_timed(command, took_s[command.name], base_s) for command in commands)
    return StartupResult(
        machine=machine,
        rounds=rounds,
        base_s=tuple(took_s[BASE]),
        commands=timed,
        met=all(one.met for one in timed),
    )


def _took_s(line: Sequence[str]) -> float:
    """Wait without a timeout: with one, Python only looks every 50 ms whether the command has ended."""
    began = time.monotonic()
    with subprocess.Popen(line, stdout=subprocess.DEVNULL, cwd=ROOT) as process:
        deadline = threading.Timer(LONGEST_S, process.kill)
        deadline.start()
        try:
            code = process.wait()
        finally:
            deadline.cancel()
        took_s = time.monotonic() - began
    if code != 0:
        raise subprocess.CalledProcessError(code, line)
    return took_s


def _timed(command: Command, took_s: Sequence[float], base_s: float) -> Timed:
    ratio = (median(took_s) - command.beyond_s) / base_s
    return Timed(command=command, took_s=tuple(took_s), ratio=ratio, met=ratio <= command.most)


def part(result: StartupResult) -> str:
    """The part of docs/explanation/benchmarks.md."""
    rows = [f"| {BASE} | {seconds_spread(result.base_s)} | 1 |  |"]
    rows += [
        f"| `{one.command.name}` | {seconds_spread(one.took_s)} | {one.ratio:.1f} | {one.command.most:g} |"
        for one in result.commands
    ]
    measured = (
        f"{result.machine.circumstances()}; {result.rounds} rounds. "
        f"{sum(one.met for one in result.commands)} of {len(result.commands)} targets are met."
    )
    head = "| what | median (quartiles) | times the first | target |\n| --- | --- | --- | --- |"
    return "\n".join([measured, "", head, *rows])


if __name__ == "__main__":
    sys.exit(main())
