"""What failed while the machine was busy, and was measured again, is told at the end, whoever passed then."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from long_tests import long_after

pytestmark = pytest.mark.whole

TESTS = Path(__file__).parents[2]
TEXT = """
from contextlib import contextmanager
import pytest, witness

@contextmanager
def seen():
    yield witness.Seen(waits=[(0.0, {waited_s})])

witness.witnesses = seen

def check(attempt):
    assert attempt == 2, "too slow"

@pytest.fixture
def measured():
    return witness.judged(lambda attempt: attempt, check, bears_s=0.1)

def test_it(measured):
    assert measured == 2

def test_nothing(): ...
"""


def run(folder: Path, *options: str, waited_s: float) -> subprocess.CompletedProcess[str]:
    (folder / "test_it.py").write_text(TEXT.format(waited_s=waited_s), encoding="utf-8")
    words = [sys.executable, "-m", "pytest", "-q", "-p", "conftest", "-c", os.devnull, f"--rootdir={folder}"]
    path = os.pathsep.join(map(str, (TESTS, TESTS / "support")))
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(
        [*words, *options, folder],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize("options", long_after(1, of=[(), ("--numprocesses=1",)]), ids=["alone", "a worker"])
def test_each_attempt_that_was_excused_is_told(tmp_path: Path, options: tuple[str, ...]) -> None:
    done = run(tmp_path, *options, waited_s=0.2)
    assert done.returncode == 0, done.stdout
    told = [line for line in done.stdout.splitlines() if line.startswith("test_it.py::test_it: ")]
    assert len(told) == 2, done.stdout
    assert told[0].startswith("test_it.py::test_it: too slow (attempt 1 of 4: processors were away 0 times")
    assert "too slow (attempt 2 of 4: " in told[1]
    assert "waited for 200.0 ms at most" in told[1]


def test_what_was_not_excused_has_failed_and_nothing_is_told(tmp_path: Path) -> None:
    done = run(tmp_path, waited_s=0.0)
    assert done.returncode == 1
    assert "failed and measured again" not in done.stdout
