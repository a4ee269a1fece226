#!/usr/bin/env python3
"""Makes the tests in fresh clones, one after the other: does a submission depend on chance?

It prints of each run how long it took, what failed and what passed only when it was run again, and fails if
any failed. The clones have what is committed. Their logs stay in a folder that it names.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
SPIN = "while True: pass"
AGAIN = re.compile(r"^AGAIN, alone, (\S+):", re.MULTILINE)
FAILURES = re.compile(r"^(?:FAILED|ERROR) (\S+)|^test (\S+) \.\.\. FAILED", re.MULTILINE)


def main() -> int:
    """Make the runs; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", metavar="RUNS", type=int, help="how many")
    parser.add_argument(
        "busy",
        metavar="BUSY",
        type=int,
        nargs="?",
        default=0,
        help="processors kept busy meanwhile, by processes that do nothing else; 0 if absent",
    )
    return made(**vars(parser.parse_args()))


def made(runs: int, busy: int) -> int:
    """Make the runs; the exit code."""
    logs = Path(tempfile.mkdtemp(prefix="flowsweep-fresh-"))
    commit = subprocess.check_output(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], text=True).strip()
    print(f"{runs} runs of {commit}, {busy} processors kept busy; logs in {logs}", flush=True)
    failed = 0
    for number in range(1, runs + 1):
        with ExitStack() as stack:
            for _ in range(busy):
                stack.enter_context(kept_busy())
            failed += not passed(number, logs / f"{number}.log")
    print(f"{runs - failed} of {runs} passed")
    return int(failed > 0)


def passed(number: int, log: Path) -> bool:
    """Whether a fresh clone passes; prints a line about it."""
    clone = log.with_suffix("")
    subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
    begin = time.monotonic()
    with log.open("wb") as file:
        done = subprocess.run(["make", "test"], cwd=clone, stdout=file, stderr=file, check=False)
    minutes = (time.monotonic() - begin) / 60
    text = log.read_text(encoding="utf-8", errors="replace")
    names = dict.fromkeys(first or second for first, second in FAILURES.findall(text))
    verdict = "passed" if done.returncode == 0 else f"FAILED: {', '.join(names) or 'see its log'}"
    if done.returncode == 0 and (again := AGAIN.findall(text)):
        verdict = f"passed, but only when run again, alone: {', '.join(again)}"
    print(f"run {number}: {minutes:.1f} min, {verdict}", flush=True)
    shutil.rmtree(clone)
    return done.returncode == 0


@contextmanager
def kept_busy() -> Iterator[None]:
    """Have a process compute without end while the block runs."""
    process = subprocess.Popen([sys.executable, "-c", SPIN])
    try:
        yield
    finally:
        process.kill()
        process.wait()


if __name__ == "__main__":
    sys.exit(main())
