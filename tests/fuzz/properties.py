"""Tries all properties with other examples, round after round: `properties.py SECONDS [SEED]`.

The last round is finished, so that there is one at least. A seed makes the same examples again.
"""

import secrets
import subprocess
import sys
import time
from pathlib import Path

TESTS = Path(__file__).parents[1]
SEEDS = 1 << 32


def main(seconds: str, first: str | None = None) -> int:
    """Run the rounds; the exit code is that of the first that failed."""
    seed = secrets.randbelow(SEEDS) if first is None else int(first)
    end = time.monotonic() + float(seconds)
    for number in range(seed, seed + SEEDS):
        command = [sys.executable, "-m", "pytest", "--hypothesis-profile=fuzz", f"--hypothesis-seed={number}"]
        quickly = ["-q", "-m", "hypothesis", "--numprocesses=auto", "--dist=loadfile"]
        print(f"properties: examples of seed {number}", flush=True)
        code = subprocess.run([*command, *quickly, *files()], check=False).returncode
        if code:
            print(f"Again, with the test's name: {' '.join(command)} TEST", file=sys.stderr, flush=True)
            return code
        if time.monotonic() > end:
            break
    return 0


def files() -> list[Path]:
    """Test files that have properties."""
    own = TESTS / "property"
    elsewhere = (path for path in sorted(TESTS.rglob("test_*.py")) if own not in path.parents)
    return [own, *(path for path in elsewhere if "from hypothesis" in path.read_text("utf-8"))]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
