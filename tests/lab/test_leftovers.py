"""Whatever process of a lab is killed, by kill -9 and whenever: five seconds later nothing is left of it."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from lab_support import needs_lab
from leftovers_world import KINDS

from long_tests import long_but_for

pytestmark = [*needs_lab, pytest.mark.together]

WORLD = ("unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
PRIVILEGES = ("root", "rootless")
COMMANDS_MIN = 10
"""Calls of `ip` and `tc` that a lab of two hosts makes at least."""


def killings(*words: str) -> list[dict[str, Any]]:
    """What a world of its own tells of each killing."""
    script = Path(__file__).with_name("leftovers_world.py")
    done = subprocess.run(
        [*WORLD, sys.executable, str(script), *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("privilege", PRIVILEGES)
def test_nothing_is_left_of_a_campaign_of_which_a_process_is_killed(privilege: str, kind: str) -> None:
    (told,) = killings("campaign", privilege, kind)
    assert told["left"] == {}, told


@pytest.mark.parametrize("whom", long_but_for("command", of=["controller", "command"]))
def test_nothing_is_left_where_a_lab_is_killed_while_it_is_built_or_taken_down(whom: str) -> None:
    told = killings("commands", "root", whom)
    assert len(told) >= COMMANDS_MIN
    assert {each["killed"]: each["left"] for each in told if each["left"]} == {}, told
