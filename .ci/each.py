#!/usr/bin/env python3
"""Runs every command, also after one that failed; then says what each took, and fails if any did.

    .ci/each.py 'pytest tests/unit & cargo test' 'pytest tests/lab'

Those with an ampersand between them run side by side: what the first says comes at once, what the others say
once all have ended. Ctrl-C and SIGTERM end what runs, and nothing else begins.
"""

import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import groupby
from types import FrameType
from typing import BinaryIO

NOT_FOUND = 127
USAGE = 2
LEFT_OUT = 77
"""What a command ends with that has done nothing, since something is not there that it does not ask for."""
BY_SIGNAL = 128
"""Added to a signal's number in the exit code of what it ended, as shells do."""
SIGNAL_WAIT_S = 0.5
"""Longest that the main thread blocks: only there Python handles signals, and one that comes just before the
thread blocks waits until it is awake again."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a command ended."""

    command: str
    code: int
    took_s: float
    cpu_s: float = 0.0
    """Of its processes, but for those that nobody waited for."""

    def __str__(self) -> str:
        verdict = {0: "passed", LEFT_OUT: "LEFT OUT"}.get(self.code, f"FAILED with {self.code}")
        return f"{verdict} after {duration(self.took_s)}, {duration(self.cpu_s)} of CPU: {self.command}"


class Runner:
    """Runs commands side by side, until a signal says that it is enough."""

    def __init__(self) -> None:
        self.stopped_by: signal.Signals | None = None
        self._processes: list[subprocess.Popen[bytes]] = []
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._stop)

    def run(self, commands: list[list[str]]) -> list[Outcome]:
        """Run commands to their ends, in this process's terminal."""
        with ExitStack() as stack:
            others = [stack.enter_context(tempfile.TemporaryFile()) for _ in commands[1:]]
            print(f"==> {shlex.join(commands[0])}", flush=True)
            with ThreadPoolExecutor(len(commands)) as pool:
                outputs: list[BinaryIO | None] = [None, *others]
                pairs = zip(commands, outputs, strict=True)
                running = [pool.submit(self._run, command, output) for command, output in pairs]
                while wait(running, SIGNAL_WAIT_S).not_done:
                    pass
                outcomes = [future.result() for future in running]
            for command, file in zip(commands[1:], others, strict=True):
                file.seek(0)
                print(f"==> {shlex.join(command)}", file.read().decode(errors="replace"), sep="\n", end="")
        return outcomes

    def _run(self, command: list[str], output: BinaryIO | None) -> Outcome:
        begin = time.monotonic()
        try:
            process = subprocess.Popen(command, stdout=output, stderr=output)
        except OSError as error:
            print(f"{command[0]}: {error.strerror}", file=sys.stderr)
            return Outcome(shlex.join(command), NOT_FOUND, time.monotonic() - begin)
        self._processes.append(process)
        if self.stopped_by == signal.SIGTERM:  # it came while this one began
            process.terminate()
        _, status, usage = os.wait4(process.pid, 0)
        code = process.returncode = os.waitstatus_to_exitcode(status)
        return Outcome(
            shlex.join(command),
            code if code >= 0 else BY_SIGNAL - code,
            time.monotonic() - begin,
            usage.ru_utime + usage.ru_stime,
        )

    def _stop(self, number: int, _frame: FrameType | None) -> None:
        self.stopped_by = signal.Signals(number)
        # A terminal sends Ctrl-C to the commands, too: once more would interrupt how they clean up.
        if number == signal.SIGTERM:
            for process in self._processes:
                # `terminate` would look whether it has ended, and take its status from whoever waits for it.
                if process.returncode is None:
                    with suppress(ProcessLookupError):
                        os.kill(process.pid, number)


def main(commands: list[str]) -> int:
    """Run the commands; the exit code of all."""
    if not commands:
        print(__doc__, file=sys.stderr)
        return USAGE
    runner = Runner()
    outcomes: list[Outcome] = []
    for command in commands:
        outcomes += runner.run(side_by_side(command))
        if runner.stopped_by is not None:
            break
    print(*outcomes, sep="\n", flush=True)
    if runner.stopped_by is not None:
        return BY_SIGNAL + runner.stopped_by
    return int(any(outcome.code not in {0, LEFT_OUT} for outcome in outcomes))


def side_by_side(command: str) -> list[list[str]]:
    """The words of each of the commands that an ampersand stands between."""
    words = groupby(shlex.split(command), lambda word: word == "&")
    return [list(group) for is_between, group in words if not is_between]


def duration(seconds: float) -> str:
    """A duration as people read it."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{seconds:.1f} s"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
