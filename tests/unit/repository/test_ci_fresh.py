"""Runs in fresh clones: what is committed is made, each time, and what failed is named."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

FRESH = Path(__file__).parents[3] / ".ci" / "fresh.py"
MAKEFILE = """
test:
\t@test ! -e made && touch made
\t@echo FAILED tests/unit/test_it.py::test_chance - assert 1 == 2; exit {code}
"""


def fresh(folder: Path, code: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run it in a repository whose tests end with a code."""
    (folder / ".ci").mkdir()
    shutil.copy(FRESH, folder / ".ci")
    (folder / "Makefile").write_text(MAKEFILE.format(code=code), encoding="utf-8")
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "all"]):
        subprocess.run([*git, *words], check=True)
    command = [sys.executable, folder / ".ci" / "fresh.py", *arguments]
    environment = {**os.environ, "TMPDIR": str(folder)}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)


def test_each_run_has_a_clone_of_its_own_and_says_what_failed(tmp_path: Path) -> None:
    done = fresh(tmp_path, 1, "2", "1")
    assert done.returncode == 1
    first, *runs, last = done.stdout.splitlines()
    assert " 1 processors kept busy; logs in " in first
    assert [run.partition("min, ")[2] for run in runs] == ["FAILED: tests/unit/test_it.py::test_chance"] * 2
    assert last == "0 of 2 passed"


def test_runs_that_all_pass_are_a_success(tmp_path: Path) -> None:
    done = fresh(tmp_path, 0, "1")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "1 of 1 passed")


def test_a_call_for_help_and_a_wrong_one_start_no_run(tmp_path: Path) -> None:
    """`--help` was taken as a number of runs: a first line, then a traceback."""
    done = fresh(tmp_path, 0, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: fresh.py [-h] RUNS [BUSY]\n")
    wrong = subprocess.run(
        [sys.executable, FRESH, "many"], capture_output=True, text=True, check=False, timeout=60
    )
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "RUNS: invalid int value: 'many'" in wrong.stderr
