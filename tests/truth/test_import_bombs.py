"""Files that were made to take memory and time: what `flowsweep import` takes for each.

What came out is in docs/truth/imports.md.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from import_bombs import BOMBS, MEBIBYTE

MOST_MEMORY_BYTES = 500_000_000
SECONDS_PER_MEBIBYTE = 2.0
START_S = 3.0
"""What Python and its libraries take before the first file is opened."""
_WATCHER = """
import json, resource, subprocess, sys, time
begun = time.monotonic()
done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
busy_s, wall_s = used.ru_utime + used.ru_stime, time.monotonic() - begun
told = {"code": done.returncode, "said": done.stdout, "bytes": used.ru_maxrss * 1024}
print(json.dumps(told | {"busy_s": busy_s, "wall_s": wall_s}))
"""
"""A small process in between: what a child takes counts from what its parent had."""


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_read_or_refused_with_one_message(name: str, tmp_path: Path) -> None:
    content = BOMBS[name]()
    path = tmp_path / "bomb"
    path.write_bytes(content)
    command = [sys.executable, "-m", "flowsweep", "import", str(path), "--archive", str(tmp_path / "archive")]
    done = subprocess.run(
        [sys.executable, "-c", _WATCHER, *command], capture_output=True, text=True, check=True
    )
    told = json.loads(done.stdout)
    text, code = told["said"], told["code"]
    size = max(1.0, len(content) / MEBIBYTE)
    print(  # noqa: T201 - what docs/truth/imports.md has
        f"\n| {name} | {len(content) / MEBIBYTE:.2f} | {told['busy_s']:.1f} | {told['wall_s']:.1f} "
        f"| {told['bytes'] / 1e6:.0f} | {code} | {text.splitlines()[-1].removeprefix(str(path))[:100]} |"
    )
    assert "Traceback" not in text
    # How far it is, is told after two seconds.
    problems = [line for line in text.splitlines() if " of 1 files read" not in line]
    assert code == 0 or len(problems) == 1
    assert told["bytes"] <= MOST_MEMORY_BYTES
    assert told["busy_s"] <= START_S + SECONDS_PER_MEBIBYTE * size
