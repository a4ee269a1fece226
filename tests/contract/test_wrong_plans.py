"""Wrong plans give the message agreed on, and exit code 2. `regenerate_plans.py` writes the messages."""

import subprocess
import sys
from pathlib import Path

import pytest

from flowsweep.errors import PlanError
from flowsweep.plan import load_plan
from plan_support import EXAMPLE_PLANS, WRONG_PLANS, command_line

PLANS = sorted(WRONG_PLANS.glob("*.toml"))


def test_there_are_enough_wrong_plans():
    assert len(PLANS) >= 20


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.stem)
def test_a_wrong_plan_is_refused_with_its_message(plan, monkeypatch, capsys):
    monkeypatch.chdir(WRONG_PLANS)
    assert command_line(monkeypatch, "check", plan.name) == 2
    printed = capsys.readouterr()
    assert printed.err == plan.with_suffix(".txt").read_text()
    assert printed.out == ""


def test_the_installed_command_ends_with_2():
    command = [Path(sys.executable).with_name("flowsweep"), "check", PLANS[0].name]
    done = subprocess.run(command, cwd=WRONG_PLANS, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (2, PLANS[0].with_suffix(".txt").read_text())


@pytest.mark.parametrize("plan", EXAMPLE_PLANS, ids=lambda plan: plan.stem)
def test_every_example_is_accepted(plan, monkeypatch, capsys):
    # Whether this machine can be what an example asks for is another question.
    monkeypatch.setattr("flowsweep.cli.check.refusals", lambda *_: ())
    assert command_line(monkeypatch, "check", str(plan)) == 0
    assert load_plan(plan).campaign.name in capsys.readouterr().out


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(PlanError, match=r"cannot be read: No such file"):
        load_plan(tmp_path / "absent.toml")


def test_a_file_that_is_not_text(tmp_path):
    file = tmp_path / "binary.toml"
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(PlanError, match=r"is not UTF-8 text: .* at byte 0"):
        load_plan(file)
    file.write_bytes(b'[campaign]\nname = "\xff"\n')
    with pytest.raises(PlanError, match=r"line 2: is not UTF-8 text"):
        load_plan(file)
    file.write_text("[campaign]\n", encoding="utf-16")
    with pytest.raises(PlanError, match=r"is UTF-16 text, expected UTF-8: save it as UTF-8"):
        load_plan(file)
