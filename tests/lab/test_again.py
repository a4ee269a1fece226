"""What failed while others had the processors runs again, alone; what failed otherwise has failed."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from lab_support import needs_lab

pytestmark = needs_lab
HERE = Path(__file__).parent
WITNESS = HERE.parent / "support/witness.py"
FAILS = """
import os, time

def test_it():
    time.sleep(0.1)
    assert {passes}
"""


SHARES = """
import os, subprocess, sys
import pytest

TAKES = '''
import os, time
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
until = time.monotonic() + 0.5
while time.monotonic() < until:
    pass
'''

@pytest.fixture(scope="module")
def measured():
    subprocess.run([sys.executable, "-c", TAKES], check=True)

@pytest.mark.parametrize("number", range({tests}))
def test_it(measured, number):
    assert {passes}
"""
"""Tests of one file, of which the first one alone has others that take a processor."""
TRIES = """
import os
from witness import ATTEMPTS, EXCUSED

def test_it():
    error = AssertionError()
    error.add_note(f"attempt {{ATTEMPTS}} of {{ATTEMPTS}}: away{{EXCUSED}}")
    if not {passes}:
        raise error
"""
ALONE = "'FLOWSWEEP_TESTS_ALONE' in os.environ"


def outcome(
    folder: Path, *, bears_s: float, passes: str, files: int = 1, test: str = FAILS
) -> subprocess.CompletedProcess[str]:
    """Run tests that pass on a condition, where a process of ordinary priority waits for longer than that."""
    shutil.copy(HERE / "conftest.py", folder)
    witness = WITNESS.read_text(encoding="utf-8")
    # Of two looks at the clock the second one is always later.
    assert "WAITED_S = 0.05" in witness
    assert "PRESSED = 0.5" in witness
    assert "ORDINARY: 0.015" in witness
    witness = witness.replace("WAITED_S = 0.05", f"WAITED_S = {bears_s}")
    witness = witness.replace("PRESSED = 0.5", f"PRESSED = {bears_s}")
    (folder / "witness.py").write_text(witness.replace("ORDINARY: 0.015", "ORDINARY: 0.0"), encoding="utf-8")
    for number in range(files):
        (folder / f"test_{number}.py").write_text(test.format(passes=passes, tests=5), encoding="utf-8")
    words = [sys.executable, "-m", "pytest", "--rootdir", folder, "--numprocesses=2", folder]
    words.append("--dist=loadfile")
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


def test_what_passes_alone_has_passed_and_is_named(tmp_path: Path) -> None:
    done = outcome(tmp_path, bears_s=0, passes=ALONE)
    assert done.returncode == 0, done.stdout
    assert "AGAIN, alone, test_0.py::test_it: an ordinary process waited for" in done.stdout
    assert (done.stdout.count("1 failed"), done.stdout.count("1 passed")) == (1, 1)


def test_what_fails_again_has_failed(tmp_path: Path) -> None:
    done = outcome(tmp_path, bears_s=0, passes="False")
    assert done.returncode == 1
    assert done.stdout.count("AGAIN") == 1


def test_what_looks_at_one_measurement_is_one_matter_of_chance(tmp_path: Path) -> None:
    done = outcome(tmp_path, bears_s=0.4, passes=ALONE, test=SHARES)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("AGAIN") == 5
    assert (done.stdout.count("5 failed"), done.stdout.count("5 passed")) == (1, 1)


def test_what_was_measured_as_often_as_it_may_be_while_the_machine_was_away_runs_again(
    tmp_path: Path,
) -> None:
    done = outcome(tmp_path, bears_s=1000, passes=ALONE, test=TRIES)
    assert done.returncode == 0, done.stdout
    assert "AGAIN, alone, test_0.py::test_it: an ordinary process waited for too long in each" in done.stdout


@pytest.mark.parametrize(("bears_s", "files"), [(1000, 1), (0, 4)])
def test_what_fails_while_the_machine_is_there_has_failed_and_so_have_many(
    tmp_path: Path, bears_s: float, files: int
) -> None:
    done = outcome(tmp_path, bears_s=bears_s, passes=ALONE, files=files)
    assert done.returncode == 1
    assert "AGAIN" not in done.stdout
