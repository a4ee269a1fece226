"""What fails keeps nothing from running, and is not forgotten."""

import os
import signal
import subprocess
import sys
from pathlib import Path

EACH = Path(__file__).parents[3] / ".ci" / "each.py"


def each(*commands: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, EACH, *commands], capture_output=True, text=True, check=False, timeout=60
    )


def test_what_follows_a_failure_runs_and_all_of_it_fails() -> None:
    done = each("sh -c 'echo first; exit 3'", "echo second", "no-such-program", "sh -c 'kill -9 $$'")
    assert done.returncode == 1
    assert [line.split(" after ")[0] for line in done.stdout.splitlines()] == [
        "==> sh -c 'echo first; exit 3'", "first", "==> echo second", "second", "==> no-such-program",
        "==> sh -c 'kill -9 $$'",
        "FAILED with 3", "passed", "FAILED with 127", "FAILED with 137",
    ]  # fmt: skip
    assert "no-such-program: No such file" in done.stderr


def test_nothing_that_failed_is_success() -> None:
    assert each("true", "true").returncode == 0
    assert each().returncode == 2


def test_what_was_left_out_neither_passed_nor_failed() -> None:
    done = each("sh -c 'exit 77'", "true")
    assert done.returncode == 0
    verdicts = [line.split(" after ")[0] for line in done.stdout.splitlines() if " after " in line]
    assert verdicts == ["LEFT OUT", "passed"]


def test_side_by_side_they_wait_for_each_other_and_say_all(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    done = each(f"sh -c 'echo one; echo two > {pipe}' & sh -c 'cat {pipe}; exit 4'", "echo 'three & four'")
    assert done.returncode == 1
    lines = [line.split(" after ")[0] for line in done.stdout.splitlines()]
    assert [line for line in lines if not line.startswith("==>")] == [
        "one", "two", "three & four", "passed", "FAILED with 4", "passed",
    ]  # fmt: skip


def test_a_signal_ends_what_runs_and_begins_nothing_else() -> None:
    process = subprocess.Popen(
        [sys.executable, EACH, "sh -c 'echo begun; exec sleep 60'", "echo never"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert [process.stdout.readline(), process.stdout.readline()][1] == "begun\n"
    process.terminate()
    output, _ = process.communicate(timeout=30)
    assert process.returncode == 128 + signal.SIGTERM
    assert output.startswith("FAILED with 143 after ")
    assert "never" not in output


def test_ctrl_c_leaves_time_to_clean_up() -> None:
    """A terminal sends it to everybody in the foreground: here to a session of its own."""
    careful = (
        "import time\n"
        "try: print('begun', flush=True); time.sleep(60)\nexcept KeyboardInterrupt: print('cleaned')"
    )
    process = subprocess.Popen(
        [sys.executable, EACH, f'{sys.executable} -c "{careful}"', "echo never"],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    for line in process.stdout:
        if line == "begun\n":
            break
    subprocess.run(["kill", "-INT", "--", f"-{process.pid}"], check=True)
    output, _ = process.communicate(timeout=30)
    assert process.returncode == 128 + signal.SIGINT
    assert output.startswith("cleaned\npassed after ")
    assert "echo never" not in output
