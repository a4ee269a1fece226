#!/usr/bin/env python3
"""Runs every command, also after one that failed; then says what each took, and fails if any did.

    .ci/each.py 'cargo test' 'pytest tests/unit'

Ctrl-C and SIGTERM end the command that runs, and no other begins.
"""

import shlex
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from types import FrameType

NOT_FOUND = 127
USAGE = 2
BY_SIGNAL = 128
"""Added to a signal's number in the exit code of what it ended, as shells do."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a command ended."""

    command: str
    code: int
    took_s: float

    def __str__(self) -> str:
        verdict = "passed" if self.code == 0 else f"FAILED with {self.code}"
        return f"{verdict} after {duration(self.took_s)}: {self.command}"


class Runner:
    """Runs one command at a time, until a signal says that it is enough."""

    def __init__(self) -> None:
        self.stopped_by: signal.Signals | None = None
        self._process: subprocess.Popen[bytes] | None = None
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._stop)

    def run(self, command: str) -> Outcome:
        """Run a command to its end, in this process's terminal."""
        begin = time.monotonic()
        try:
            self._process = subprocess.Popen(shlex.split(command))
        except OSError as error:
            print(f"{command}: {error.strerror}", file=sys.stderr)
            code = NOT_FOUND
        else:
            code = self._process.wait()
        return Outcome(command, code if code >= 0 else BY_SIGNAL - code, time.monotonic() - begin)

    def _stop(self, number: int, _frame: FrameType | None) -> None:
        self.stopped_by = signal.Signals(number)
        # A terminal sends Ctrl-C to the command, too: once more would interrupt how it cleans up.
        if number == signal.SIGTERM and self._process is not None:
            self._process.terminate()


def main(commands: list[str]) -> int:
    """Run the commands; the exit code of all."""
    if not commands:
        print(__doc__, file=sys.stderr)
        return USAGE
    runner = Runner()
    outcomes: list[Outcome] = []
    for command in commands:
        print(f"==> {command}", flush=True)
        outcomes.append(runner.run(command))
        if runner.stopped_by is not None:
            break
    print(*outcomes, sep="\n", flush=True)
    if runner.stopped_by is not None:
        return BY_SIGNAL + runner.stopped_by
    return int(any(outcome.code for outcome in outcomes))


def duration(seconds: float) -> str:
    """A duration as people read it."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{seconds:.1f} s"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
