"""What --set and options may not make of the commands of one trial, and the parts of `flowsweep file`."""

import errno
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import Result

from file_support import make_file_outcome
from flowsweep.cli import load
from flowsweep.cli.exit_codes import EXIT_TRIALS_FAILED
from flowsweep.errors import FlowsweepError, LaunchError, PlanError
from flowsweep.run.outcome import Failure, Recorder, TrialOutcome
from flowsweep.schedule import Slot, Trial
from flowsweep.schedule.tests.file import FileParameters
from flowsweep.schedule.tests.udp import UdpParameters
from invoked import invoke
from long_tests import long_after

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


def refused(_: Trial) -> TrialOutcome:
    raise LaunchError("there", "no route to host")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("tcp", "--flows", "3.5"), "--flows: found 3.5, expected a whole number from 1 to 1024"),
        (("udp", "--flows", "many"), '--flows: found "many", expected a whole number from 1 to 1024'),
        (("mptcp", "--flows", "1,2"), "--flows: found 1,2, expected one number: to measure with several, "),
        (("quic", "--streams", "1, 2"), "--streams: found 1, 2, expected one number: "),
        (("file", "--files", "2e"), '--files: found "2e", expected a whole number from 1 to '),
        (("tcp", "--flows", "[1,2]"), "asks for 2 trials: write a plan and `flowsweep run` it"),
    ],
)
def test_wrong_numbers_are_told_as_of_a_plan(
    words: tuple[str, ...], expected: str, measuring: Measuring
) -> None:
    ran = measuring(make_file_outcome)
    assert expected in refusal(words[0], "local", *words[1:])
    assert not ran


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
    ran = measuring(refused)
    for asked in ("tcp", '"tcp"'):
        assert isinstance(invoke("tcp", "local", "--set", f"sweep.test={asked}").exception, LaunchError)
    assert len(ran) == 2


def test_a_test_that_is_none_is_told_as_in_a_plan() -> None:
    assert "--set sweep.test=tpc: " in refusal("tcp", "local", "--set", "sweep.test=tpc")
    assert "sweep.test=[1]: " in refusal("tcp", "local", "--set", "sweep.test=[1]")


@pytest.mark.parametrize(
    "words",
    long_after(
        1,
        of=[["--set", f"sweep.part={PARTS}"], ["--set", "campaign.order=blocks", "--set", "campaign.seed=3"]],
    ),
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


def test_what_no_part_can_begin_without_is_told_once(measuring: Measuring) -> None:
    def no_folder(trial: Trial) -> TrialOutcome:
        failure = Failure(phase="prepare", host="there", kind="no_folder", message="cannot open /none")
        made = make_file_outcome(trial)
        return replace(
            made,
            record=made.record.model_copy(update={"status": "failed", "failure": failure, "file": None}),
            samples=made.samples.slice(0, 0),
        )

    measuring(no_folder)
    result = invoke("file", "local")
    assert result.exit_code == EXIT_TRIALS_FAILED, result.output
    assert result.stdout.count("cannot open /none") == 1
    for part in ("source storage", "network", "sink storage"):
        assert f"{part + ' alone':<22}not known: it failed as the whole way did\n" in result.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--rate", "max", "--set", "sweep.rate=20Mbit/s"], "--rate and --set sweep.rate say the same twice"),
        (["--rate", "max", "--set", "sweep.rate_sum=20Mbit/s"], "--rate and --set sweep.rate_sum say the "),
        (["--rate", "1Mbit/s", "--set", "sweep.spacing=1ms"], "--rate and --set sweep.spacing say the same"),
    ],
)
def test_a_rate_is_not_said_twice(words: list[str], said: str, measuring: Measuring) -> None:
    ran = measuring(refused)
    assert said in refusal("udp", "local", *words)
    assert not ran


@pytest.mark.parametrize(
    ("words", "rate_bps", "spacing_ns"),
    [
        ([], 10_000_000, None),
        (["--rate", "max"], None, None),
        (["--rate", "MAX"], None, None),
        (["--set", "sweep.rate=20Mbit/s"], 20_000_000, None),
        (["--set", "sweep.rate_sum=20Mbit/s"], 20_000_000, None),
        (["--set", "sweep.spacing=1ms"], None, 1_000_000),
    ],
)
def test_the_default_rate_gives_way_to_what_is_asked_for(
    words: list[str], rate_bps: int | None, spacing_ns: int | None, measuring: Measuring
) -> None:
    ran = measuring(refused)
    assert isinstance(invoke("udp", "local", *words).exception, LaunchError)
    parameters = ran[0].parameters
    assert isinstance(parameters, UdpParameters)
    assert (parameters.rate_bps, parameters.spacing_ns) == (rate_bps, spacing_ns)


@pytest.mark.parametrize(
    "words",
    [
        ["tcp", "local", "--set", "sweep.find=plateau", "--set", "sweep.flows={ from = 1, to = 8 }"],
        [
            "udp",
            "local",
            "--set",
            'sweep.rate_search={ low = "1Mbit/s", high = "9Mbit/s", resolution = "1Mbit/s" }',
        ],
    ],
)
def test_a_search_needs_a_plan(words: list[str], measuring: Measuring) -> None:
    ran = measuring(refused)
    assert "asks for a search" in refusal(*words)
    assert not ran


@pytest.mark.parametrize(("form", "way"), [(["--json"], "say_json"), ([], "say")])
def test_an_answer_that_standard_output_does_not_take_is_no_wrong_command_line(
    measuring: Measuring, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, form: list[str], way: str
) -> None:
    """Its exit code would be that of a command that measured nothing."""

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    measuring(make_file_outcome)
    monkeypatch.setattr(f"flowsweep.cli.one_trial.{way}", full)
    result = invoke("file", "local", "--save", tmp_path / "kept", *form)
    assert result.exit_code == EXIT_TRIALS_FAILED, result.exception
    assert "error: cannot go on: No space left on device\n" in result.stderr
