"""What --set and options may not make of the commands of one trial, and the parts of `flowsweep file`."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from typer.testing import Result

from file_support import make_file_outcome
from flowsweep.cli import load
from flowsweep.cli.exit_codes import EXIT_TRIALS_FAILED
from flowsweep.errors import FlowsweepError, LaunchError, PlanError
from flowsweep.run.outcome import Failure, Recorder, TrialOutcome
from flowsweep.schedule import Slot, Trial
from flowsweep.schedule.tests.file import FileParameters
from invoked import invoke

Measuring = Callable[[Callable[[Trial], TrialOutcome]], list[Trial]]
PARTS = '["read", "network", "whole", "write"]'


@pytest.fixture
def measuring(monkeypatch: pytest.MonkeyPatch) -> Measuring:
    """Lets trials come to this; the trials, once a command ran."""

    def lets(outcome: Callable[[Trial], TrialOutcome]) -> list[Trial]:
        ran: list[Trial] = []

        async def run_campaign(slots: Sequence[Slot], _: object, recorder: Recorder, **__: object) -> None:
            for slot in slots:
                ran.append(slot.trials[0])
                recorder.finished(outcome(slot.trials[0]))

        load(["tcp"])
        monkeypatch.setattr("flowsweep.cli.one_trial.run_campaign", run_campaign)
        return ran

    return lets


def refusal(*words: str) -> str:
    error = invoke(*words).exception
    assert isinstance(error, PlanError), error
    return str(error)


def part_of(trial: Trial) -> str:
    assert isinstance(trial.parameters, FileParameters)
    return trial.parameters.part


def names(result: Result) -> list[str]:
    return [line[:22].strip() for line in result.stdout.splitlines()]


@pytest.mark.parametrize(
    ("command", "asked", "of"),
    [
        ("path", "udp", "udp"),
        ("tcp", "udp", "udp"),
        ("udp", '"tcp" # not udp', "tcp"),
        ("mptcp", "tcp", "tcp"),
        ("rtt", "udp", "udp"),
    ],
)
def test_no_command_measures_the_test_of_another(
    command: str, asked: str, of: str, measuring: Measuring
) -> None:
    ran = measuring(make_file_outcome)
    said = refusal(command, "local", "--set", f"sweep.test={asked}")
    assert f"`flowsweep {command}` measures nothing else: use `flowsweep {of}`" in said
    assert not ran


def test_the_own_test_of_a_command_may_be_said(measuring: Measuring) -> None:
    def refused(_: Trial) -> TrialOutcome:
        raise LaunchError("there", "no route to host")

    ran = measuring(refused)
    for asked in ("tcp", '"tcp"'):
        assert isinstance(invoke("tcp", "local", "--set", f"sweep.test={asked}").exception, LaunchError)
    assert len(ran) == 2


def test_a_test_that_is_none_is_told_as_in_a_plan() -> None:
    assert "--set sweep.test=tpc: " in refusal("tcp", "local", "--set", "sweep.test=tpc")
    assert "sweep.test=[1]: " in refusal("tcp", "local", "--set", "sweep.test=[1]")


@pytest.mark.parametrize(
    "words",
    [["--set", f"sweep.part={PARTS}"], ["--set", "campaign.order=blocks", "--set", "campaign.seed=3"]],
)
def test_the_whole_way_is_told_first_in_whatever_order_its_parts_ran(
    words: list[str], measuring: Measuring
) -> None:
    ran = measuring(make_file_outcome)
    result = invoke("file", "local", "--json", *words)
    assert result.exit_code == 0, result.output
    assert part_of(ran[0]) != "whole"
    row = json.loads(result.stdout)
    others = [part_of(trial) for trial in ran if part_of(trial) != "whole"]
    assert (row["mode"], [part["mode"] for part in row["parts"]]) == ("whole", others)
    said = names(invoke("file", "local", *words))
    assert {"goodput", "source storage alone", "network alone", "sink storage alone"} <= set(said)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [("network", ["network alone"]), ('["write", "read"]', ["sink storage alone", "source storage alone"])],
)
def test_a_part_by_itself_is_not_told_as_the_whole(
    parts: str, expected: list[str], measuring: Measuring
) -> None:
    measuring(make_file_outcome)
    result = invoke("file", "local", "--set", f"sweep.part={parts}")
    assert result.exit_code == 0, result.output
    assert [name for name in names(result) if name.endswith(" alone")] == expected
    assert "goodput" not in names(result)
    assert names(result).count("limited by") == len(expected)


def test_a_part_that_fails_is_a_failure_of_the_command(measuring: Measuring) -> None:
    def write_breaks_off(trial: Trial) -> TrialOutcome:
        made = make_file_outcome(trial)
        if part_of(trial) != "write":
            return made
        failure = Failure(phase="run", host="there", kind="no_space", message="the disk is full")
        changes = {"status": "incomplete", "failure": failure}
        return replace(made, record=made.record.model_copy(update=changes))

    measuring(write_breaks_off)
    result = invoke("file", "local")
    assert result.exit_code == EXIT_TRIALS_FAILED, result.output
    assert not isinstance(result.exception, FlowsweepError)
    line = next(line for line in result.stdout.splitlines() if line.startswith("sink storage alone"))
    assert "incomplete" in line
    assert "the disk is full" in line
