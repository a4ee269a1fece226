"""What `make truth` runs is there to be run: it is run seldom, and takes parts of other tests."""

import subprocess
import sys

import pytest

from plan_support import ROOT

COLLECT_S = 120
COLLECT = ("-m", "pytest", "--collect-only", "--quiet", "-p", "no:cacheprovider", "tests/truth")


@pytest.mark.long
def test_every_test_of_known_truth_is_found() -> None:
    words = [sys.executable, *COLLECT]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=COLLECT_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
