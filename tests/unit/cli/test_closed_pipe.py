"""Where nobody reads any more what is said, a command ends as after SIGPIPE: 1 would say that B is slower."""

import os
import subprocess
import sys
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from analysis_support import later, make_campaign, write_archive

pytestmark = pytest.mark.whole

ENDED_BY_SIGPIPE = 141
SAYING = {
    "Rich's tables": ("compare", "ARCHIVE", "SECOND", "--fail-if", "slower"),
    "JSON": ("verify", "ARCHIVE", "--format", "json"),
    "help": ("compare", "--help"),
    "the list of commands": ("--help",),
}


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_archive(tmp_path_factory.mktemp("pipe") / "archive", make_campaign(repeats=2))


@pytest.fixture(scope="module")
def second(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = later(make_campaign(repeats=2), timedelta(seconds=3))
    return write_archive(tmp_path_factory.mktemp("pipe") / "second", made)


def ended(words: Sequence[str | Path], *, closed: Sequence[str]) -> tuple[int, bytes]:
    """How a command ends, and what it says elsewhere, where ways out are pipes that nobody reads."""
    reading, writing = os.pipe()
    os.close(reading)
    ways: dict[str, int] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    ways |= dict.fromkeys(closed, writing)
    try:
        done = subprocess.run([sys.executable, "-m", "flowsweep", *words], **ways, check=False, timeout=60)
    finally:
        os.close(writing)
    return done.returncode, done.stderr or b""


@pytest.mark.parametrize("what", SAYING)
def test_output_that_nobody_reads(archive: Path, second: Path, what: str) -> None:
    folders: dict[str, str | Path] = {"ARCHIVE": archive, "SECOND": second}
    words = [folders.get(word, word) for word in SAYING[what]]
    assert ended(words, closed=["stdout"]) == (ENDED_BY_SIGPIPE, b"")


@pytest.mark.parametrize(
    "words", [("compare", "nowhere", "nowhere"), ("compare",)], ids=["an error", "a wrong command line"]
)
def test_errors_that_nobody_reads(words: Sequence[str]) -> None:
    assert ended(words, closed=["stdout", "stderr"]) == (ENDED_BY_SIGPIPE, b"")
