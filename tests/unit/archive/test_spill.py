"""What DuckDB keeps outside of memory is seen by nobody else, and goes with the process."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.whole

STAY = """
import sys
from flowsweep.archive.backends import backend
rows = backend()._connection.raw_sql("SELECT current_setting('temp_directory')").fetchone()
print(rows[0], flush=True)
sys.stdin.read()
"""
SPILL = """
from pathlib import Path
from flowsweep.archive.backends import backend
from flowsweep.archive.spill import spill_folder
run = backend()._connection.raw_sql
run("SET memory_limit = '60MB'")
run("SET threads = 1")
run("CREATE TEMP TABLE many AS SELECT hash(range) AS x, range AS y FROM range(6000000)")
print([file.parent == spill_folder() for file in spill_folder().rglob("*")])
"""
MANY = """
from concurrent.futures import ThreadPoolExecutor
from flowsweep.archive.spill import spill_folder
with ThreadPoolExecutor(8) as threads:
    folders = list(threads.map(lambda _: spill_folder.__wrapped__(), range(400)))
print(all(folder.exists() for folder in folders), len(set(folders)))
"""


def process(temporary: Path, script: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script],
        env={**os.environ, "TMPDIR": str(temporary)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def folder_of(started: subprocess.Popen[str]) -> Path:
    assert started.stdout is not None
    return Path(started.stdout.readline().strip())


def test_each_process_has_a_folder_for_itself_which_goes_with_it(tmp_path: Path) -> None:
    both = [process(tmp_path, STAY) for _ in range(2)]
    folders = [folder_of(each) for each in both]
    assert len(set(folders)) == 2
    for folder in folders:
        assert folder.parent == tmp_path
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for each in both:
        each.communicate(timeout=60)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_many_that_begin_at_once_do_not_take_folders_from_each_other(tmp_path: Path) -> None:
    started = process(tmp_path, MANY)
    said, _ = started.communicate(timeout=60)
    assert said.split() == ["True", "400"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_what_a_killed_process_leaves_goes_with_the_next_and_what_is_in_use_stays(tmp_path: Path) -> None:
    killed, living = process(tmp_path, STAY), process(tmp_path, STAY)
    left, used = folder_of(killed), folder_of(living)
    (left / "duckdb_temp_storage-0.tmp").write_bytes(b"samples")
    killed.send_signal(signal.SIGKILL)
    killed.communicate(timeout=60)
    assert left.exists()
    next_one = process(tmp_path, STAY)
    own = folder_of(next_one)
    assert set(tmp_path.iterdir()) == {used, own}
    for each in (living, next_one):
        each.communicate(timeout=60)


def test_a_link_under_such_a_name_is_not_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").write_text("mine")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    (temporary / "flowsweep-spill-abcdefgh").symlink_to(elsewhere)
    started = process(temporary, STAY)
    folder_of(started)
    started.communicate(timeout=60)
    assert (elsewhere / "kept").read_text() == "mine"


def test_what_does_not_fit_into_memory_goes_there(tmp_path: Path) -> None:
    started = process(tmp_path, SPILL)
    said, _ = started.communicate(timeout=120)
    assert "True" in said
    assert "False" not in said
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_made_for_whoever_reads_no_archive(tmp_path: Path) -> None:
    started = process(tmp_path, "import flowsweep.archive.backends")
    started.communicate(timeout=60)
    assert started.returncode == 0
    assert list(tmp_path.iterdir()) == []
