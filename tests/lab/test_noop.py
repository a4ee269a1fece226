"""A test of another package, tests/noop and engine/agent/tests/noop, from plan to report."""

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.lab, pytest.mark.together]

ROOT = Path(__file__).parents[2]
FLOWSWEEP = (sys.executable, "-c", "import noop, flowsweep.cli; flowsweep.cli.main()")
BUILD_TIMEOUT_S = 600


@pytest.fixture(scope="module")
def engine() -> Path:
    """The engine that has it, as `cargo test` builds it: where that ran before, nothing is built."""
    manifest = ROOT / "engine" / "Cargo.toml"
    command = ["cargo", "test", "--no-run", "--message-format=json", "--manifest-path", str(manifest)]
    built = subprocess.run(
        [*command, "--workspace"], capture_output=True, text=True, timeout=BUILD_TIMEOUT_S, check=True
    )
    messages = [json.loads(line) for line in built.stdout.splitlines()]
    (path,) = [
        message["executable"] for message in messages if message.get("target", {}).get("name") == "noop"
    ]
    return Path(path)


def noop(*words: str | Path, expect: int = 0) -> str:
    """Run a command of Flowsweep with the package of the test."""
    result = subprocess.run(
        [*FLOWSWEEP, *map(str, words)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT / "tests")},
    )
    assert result.returncode == expect, result.stdout + result.stderr
    return result.stdout + result.stderr


def plan_of(folder: Path, engine: Path | None) -> Path:
    host = 'address = "127.0.0.1"\n' + ("" if engine is None else f'engine = "{engine}"\n')
    plan = folder / "plan.toml"
    plan.write_text(
        f'[campaign]\nname = "noop"\n[hosts.here]\n{host}[hosts.there]\n{host}'
        '[[sweep]]\ntest = "noop"\npaths = [{ from = "here", to = "there" }]\n'
        'duration = ["100ms", "200ms"]\n',
        encoding="utf-8",
    )
    return plan


def test_a_test_of_another_package_goes_from_plan_to_report(tmp_path: Path, engine: Path) -> None:
    plan, archive = plan_of(tmp_path, engine), tmp_path / "archive"
    assert "2 points" in noop("check", plan)
    assert "nothing" in noop("run", plan, "--archive", archive)
    rows = list(csv.DictReader(io.StringIO(noop("summary", archive, "--format", "csv"))))
    assert [(row["test"], row["status"], row["goodput_bps"]) for row in rows] == [("noop", "ok", "")] * 2
    assert sorted(float(row["duration_s"]) for row in rows) == [0.1, 0.2]
    assert {row["remarks"] for row in rows} == {"nothing was measured"}
    noop("findings", archive)
    noop("report", archive, "-o", tmp_path / "report.html")


def test_an_engine_without_it_says_so(tmp_path: Path) -> None:
    told = noop("run", plan_of(tmp_path, None), "--archive", tmp_path / "archive", expect=1)
    assert 'this engine has no test "noop"' in told


def test_a_plan_without_its_package_is_refused(tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "flowsweep", "check", str(plan_of(tmp_path, None))],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (result.returncode, '"noop"' in result.stderr) == (2, True), result.stderr
