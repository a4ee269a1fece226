"""Runs all targets side by side: `run.py SECONDS [EXECUTIONS]`. 0 seconds: until EXECUTIONS are made.

What was found lies in `artifacts/`, and how to have it again is printed. What led to new code is kept in
`corpus/`, which the next run begins with, beside the seeds that are committed.
"""

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
TARGETS = ("journal", "campaign", "frames")
LIMITS = ("-timeout=20", "-rss_limit_mb=1536", "-max_len=65536")
EXECUTED = re.compile(r"^stat::number_of_executed_units: *(\d+)", re.MULTILINE)
SHOWN_LINES = 60
MEMORY = Path("/dev/shm")
"""Where inputs are written to, if it is there: there are a million, and libFuzzer's end removes nothing."""


def main(seconds: str, executions: str = "-1") -> int:
    """Fuzz; the exit code."""
    if importlib.util.find_spec("atheris") is None:
        print("Nothing is fuzzed: atheris, which does it, is not to be had for this machine", file=sys.stderr)
        return 1
    for folder in ("artifacts", "logs"):
        (HERE / folder).mkdir(exist_ok=True)
    place = MEMORY if MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="flowsweep-fuzz-", dir=place) as inputs:
        running = {target: start(target, seconds, executions, inputs) for target in TARGETS}
        try:
            return max([told(target, process) for target, process in running.items()])
        finally:
            for process in running.values():
                process.kill()
                process.wait()


def start(target: str, seconds: str, executions: str, inputs: str) -> subprocess.Popen[bytes]:
    """Fuzz one target in a process of its own, whose inputs lie in a folder."""
    corpus = HERE / "corpus" / target
    corpus.mkdir(parents=True, exist_ok=True)
    words = [
        sys.executable,
        HERE / "play.py",
        target,
        *LIMITS,
        f"-max_total_time={seconds}",
        f"-runs={executions}",
    ]
    words += ["-print_final_stats=1", "-verbosity=0", f"-artifact_prefix={HERE}/artifacts/{target}-"]
    with log_of(target).open("wb") as log:
        return subprocess.Popen(
            [*words, corpus, HERE / "seeds" / target],
            stdout=log,
            stderr=log,
            env=os.environ | {"TMPDIR": inputs},
        )


def told(target: str, process: subprocess.Popen[bytes]) -> int:
    """Wait for the end of a target, and say what came of it: 1 is a finding."""
    code = process.wait()
    log = log_of(target).read_text(encoding="utf-8", errors="replace")
    found = EXECUTED.search(log)
    count = found[1] if found else "?"
    if code == 0:
        print(f"{target}: {count} executions, no finding", flush=True)
        return 0
    print(f"{target}: a finding after {count} executions", file=sys.stderr)
    print(*log.splitlines()[-SHOWN_LINES:], sep="\n", file=sys.stderr)
    print(f"Again: {sys.executable} {HERE / 'play.py'} {target} FILE", file=sys.stderr, flush=True)
    return 1


def log_of(target: str) -> Path:
    """Where a target and its fuzzer say what they do."""
    return HERE / "logs" / target


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
