"""A skipped test fails in continuous integration, and only there."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.whole

TESTS = Path(__file__).parents[2]
SKIPPED_TEST = "import pytest\n@pytest.mark.skip(reason='no such machine')\ndef test_it(): ...\n"
SKIPPED_MODULE = "import pytest\npytest.skip('no such machine', allow_module_level=True)\n"
EXPECTED_FAILURE = "import pytest\n@pytest.mark.xfail(reason='known')\ndef test_it(): assert False\n"


@pytest.mark.parametrize(
    ("text", "ci", "passes"),
    [
        (SKIPPED_TEST, "", True),
        (SKIPPED_TEST, "1", False),
        (SKIPPED_MODULE, "1", False),
        (EXPECTED_FAILURE, "1", True),
    ],
    ids=["at home", "test", "module", "expected failure"],
)
def test_skips_are_failures_in_continuous_integration(
    text: str, ci: str, *, passes: bool, tmp_path: Path
) -> None:
    (tmp_path / "test_it.py").write_text(text, encoding="utf-8")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "conftest",
            "-c",
            os.devnull,
            "--rootdir",
            tmp_path,
            tmp_path,
        ],
        env={**os.environ, "CI": ci, "PYTHONPATH": str(TESTS)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode == 0) is passes, done.stdout
    assert ("no such machine" in done.stdout) is not passes


def test_make_truth_accepts_no_skipped_test() -> None:
    """What is not written again under docs/truth/ would look as if it had been."""
    makefile = (TESTS.parent / "Makefile").read_text(encoding="utf-8")
    _, _, recipe = makefile.partition("\ntruth:")
    lines = [line for line in recipe.partition("\n\n")[0].splitlines() if "pytest" in line]
    assert lines
    assert all(line.strip().startswith("CI=1 ") for line in lines)


@pytest.mark.parametrize(("ci", "said"), [("", "be skipped"), ("1", "fail")])
def test_what_tests_lack_is_told_with_what_comes_of_it(ci: str, said: str) -> None:
    lacking = subprocess.run(
        ["/bin/sh", TESTS.parent / ".ci" / "test-tools"],
        env={"PATH": "/nonexistent", "CI": ci},
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"Some tests will {said}. To run them, install:" in lacking.stdout
    assert "curl" in lacking.stdout
