"""`flowsweep run` tells of a silent path, by a real command, once, however often it is gone on with."""

import json
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from alarm_archives import TEXT, nightly_archive, plan_of

pytestmark = pytest.mark.whole

TELLS = "import sys; open(sys.argv[1], 'a').write(sys.stdin.read() + chr(10))"


def test_what_was_missed_is_told_once(tmp_path: Path) -> None:
    into, archive, plan = tmp_path / "told", tmp_path / "archive", tmp_path / "watched.toml"
    campaign = 'for = "72h"'
    # Others are told than the plan said with which the archive was made.
    nightly_archive(archive, plan_of("[alarms]", campaign), [1.0], timedelta(days=4))
    command = f"[alarms]\ncommand = {json.dumps([sys.executable, '-c', TELLS, str(into)])}"
    plan.write_text(TEXT.format(alarms=command, campaign=campaign), encoding="utf-8")
    words = [Path(sys.executable).with_name("flowsweep"), "run", plan, "--archive", archive, "--resume"]
    for _ in range(2):
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 1, done.stderr
        assert "alarms:" not in done.stderr
    [told] = into.read_text().splitlines()
    body = json.loads(told)
    assert (body["moment"], body["alarm"]["kind"], body["alarm"]["on"]) == ("begin", "silent", True)
