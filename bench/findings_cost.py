"""What conclusions from 600 trials cost, beside the summary that they start from.

Usage: python bench/findings_cost.py     # on a machine left alone

Makes the synthetic archive of bench/report_cost.py (1 to 16 flows, 10 s at 10 Hz) and runs
`flowsweep summary` and `flowsweep findings` of it one after the other, in drawn order, round by round. Writes
the figures with facts of the machine to bench/results/findings-cost.json, and a part of
docs/explanation/benchmarks.md.
"""

import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from pydantic import BaseModel, ConfigDict

from against.command import options_with_rounds, told
from against.machine import Machine
from against.spread import seconds_spread
from report_campaign import write_campaign

COMMANDS = ("summary", "findings")
MOST = 3.0
"""Times as long as the summary."""
SEED = 20261124


class Run(BaseModel):
    """One command, from the start of the program to its end."""

    model_config = ConfigDict(frozen=True)

    took_s: float
    cpu_s: float
    """User and system, of all its threads."""


class FindingsResult(BaseModel):
    """All that was measured."""

    model_config = ConfigDict(frozen=True)

    machine: Machine
    trials: int
    runs: dict[str, tuple[Run, ...]]
    """By command, in every round."""
    ratio: float
    """Of the medians of `took_s`, findings by summary."""
    cpu_ratio: float
    met: bool


def main() -> int:
    """Measure, print and write the figures; 1 if the limit was missed."""
    arguments = options_with_rounds(__doc__, rounds=7).parse_args()
    machine = Machine.now()
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / "archive"
        trials = write_campaign(archive)
        result = _measured(machine, trials, archive, arguments.rounds)
    return told("findings_cost", result, part(result), dry=arguments.dry)


def _measured(machine: Machine, trials: int, archive: Path, rounds: int) -> FindingsResult:
    runs: dict[str, list[Run]] = {command: [] for command in COMMANDS}
    for command in COMMANDS:
        _run(command, archive)  # so that all bytecode is cached
    generator = random.Random(SEED)
    for _ in range(rounds):
        for command in generator.sample(COMMANDS, len(COMMANDS)):
            runs[command].append(_run(command, archive))
    ratio, cpu_ratio = (
        median(findings) / median(summary)
        for summary, findings in (
            [[getattr(run, name) for run in runs[command]] for command in COMMANDS]
            for name in Run.model_fields
        )
    )
    return FindingsResult(
        machine=machine,
        trials=trials,
        runs={command: tuple(found) for command, found in runs.items()},
        ratio=ratio,
        cpu_ratio=cpu_ratio,
        met=ratio <= MOST,
    )


def _run(command: str, archive: Path) -> Run:
    line = [sys.executable, "-m", "flowsweep", command, str(archive)]
    began = time.monotonic()
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    took_s = time.monotonic() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"flowsweep {command} ended with {process.returncode}")
    return Run(took_s=took_s, cpu_s=usage.ru_utime + usage.ru_stime)


def part(result: FindingsResult) -> str:
    """The part of docs/explanation/benchmarks.md."""
    rows = [
        f"| `flowsweep {command}` | {seconds_spread([run.took_s for run in runs])} "
        f"| {seconds_spread([run.cpu_s for run in runs])} |"
        for command, runs in result.runs.items()
    ]
    measured = (
        f"{result.machine.circumstances()}; {len(result.runs['findings'])} rounds, "
        f"{result.trials} trials. Findings take {result.ratio:.1f} times as long as the summary, with "
        f"{result.cpu_ratio:.1f} times the CPU time. Target: ≤ {MOST:g} times as long; "
        f"{'met' if result.met else 'missed'}."
    )
    head = "| command | time, median (quartiles) | CPU time |\n| --- | --- | --- |"
    return "\n".join([measured, "", head, *rows])


if __name__ == "__main__":
    sys.exit(main())
