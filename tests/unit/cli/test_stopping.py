"""Ctrl-C, SIGTERM and SIGHUP: what is done is kept and told whenever they come, and the exit code says it."""

import asyncio
import errno
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from typer.testing import CliRunner, Result

import flowsweep.cli
from analysis_support import make_record
from flowsweep.archive import ArchiveWriter
from flowsweep.cli import load, main
from flowsweep.cli.app import app
from flowsweep.cli.exit_codes import EXIT_INTERRUPTED, EXIT_TRIALS_FAILED, EXIT_USAGE
from flowsweep.cli.stopping import Stopped, stopped_by_signals
from flowsweep.errors import ArchiveError, SessionError
from flowsweep.run.outcome import Recorder, TrialOutcome
from flowsweep.run.tables import FLOWS_SCHEMA
from flowsweep.schedule import Slot
from invoked import invoke

PLAN = '[hosts.a]\n[hosts.b]\n[[sweep]]\ntest = "tcp"\npaths = [{ from = "a", to = "b" }]\nduration = "4s"\n'
SIGNALS = [
    (signal.SIGINT, "interrupted"),
    (signal.SIGTERM, "ended by SIGTERM"),
    (signal.SIGHUP, "ended by SIGHUP"),
]


@pytest.fixture(autouse=True)
def handlers_as_before() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number, _ in SIGNALS}
    yield
    after = {number: signal.signal(number, handler) for number, handler in before.items()}
    after.pop(signal.SIGINT)
    assert all(after[number] == before[number] for number in after)


def run(tmp_path: Path) -> Result:
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN)
    return invoke("run", plan, "--archive", tmp_path / "archive")


def a_campaign(patch: pytest.MonkeyPatch, meanwhile: Callable[[], None]) -> list[str]:
    """Lets a command's campaign begin a trial, do something, and wait if it is stopped; what it came to."""
    came_to: list[str] = []

    async def run_campaign(slots: Sequence[Slot], _: object, recorder: Recorder, **__: object) -> None:
        recorder.started(slots[0].trials[0].trial_id, 1, datetime.now(UTC))
        try:
            meanwhile()
            await asyncio.sleep(0)
            came_to.append("its end")
        finally:
            meanwhile()
            await asyncio.sleep(0)
            came_to.append("an end in order")

    patch.setattr("flowsweep.cli.campaign.run_campaign", run_campaign)
    return came_to


@pytest.mark.parametrize(("number", "said"), SIGNALS)
def test_a_signal_ends_the_campaign_in_order_and_later_ones_change_nothing(
    number: signal.Signals, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    came_to = a_campaign(monkeypatch, lambda: signal.raise_signal(number))
    result = run(tmp_path)
    assert came_to == ["an end in order"]
    assert result.exit_code == 128 + number
    assert (
        f"{said}; 0 finished trials kept in {tmp_path / 'archive'}\nto go on: flowsweep run " in result.stderr
    )


@pytest.mark.parametrize(("number", "said"), SIGNALS)
@pytest.mark.parametrize("when", ["merging", "telling"])
def test_a_signal_after_the_last_trial_is_not_swallowed(
    number: signal.Signals, said: str, when: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> int:
        signal.raise_signal(number)
        return 0

    a_campaign(monkeypatch, lambda: None)
    if when == "merging":
        monkeypatch.setattr(ArchiveWriter, "compact", interrupted)
    else:
        monkeypatch.setattr("flowsweep.cli.run.print_campaign_end", interrupted)
    result = run(tmp_path)
    assert result.exit_code == 128 + number
    assert f"{said}; 0 finished trials kept" in result.stderr


@pytest.mark.parametrize("there", [False, True], ids=["new", "empty"])
@pytest.mark.parametrize("finished", [False, True])
def test_one_trial_that_is_stopped_leaves_nothing_in_the_way_of_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, finished: bool, there: bool
) -> None:
    async def run_campaign(slots: Sequence[Slot], _: object, recorder: Recorder, **__: object) -> None:
        trial = slots[0].trials[0]
        recorder.hosts({"here": {}})
        recorder.started(trial.trial_id, 1, datetime.now(UTC))
        if finished:
            recorder.finished(TrialOutcome(make_record(trial), pa.table({}), FLOWS_SCHEMA.empty_table()))
        signal.raise_signal(signal.SIGINT)
        await asyncio.sleep(1)

    load(["tcp"])
    monkeypatch.setattr("flowsweep.cli.one_trial.run_campaign", run_campaign)
    save = tmp_path / "kept"
    if there:
        save.mkdir()
    result = invoke("tcp", "local", "--save", save)
    assert result.exit_code == EXIT_INTERRUPTED
    kept = f"1 finished trial kept in {save}" if finished else "nothing kept"
    assert result.stderr.endswith(f"interrupted; {kept}\n")
    assert save.exists() == (there or finished)
    again = invoke("tcp", "local", "--save", save)
    assert isinstance(again.exception, ArchiveError) == finished


def test_one_trial_whose_host_is_lost_before_it_ends_leaves_nothing_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run_campaign(slots: Sequence[Slot], _: object, recorder: Recorder, **__: object) -> None:
        recorder.hosts({"here": {}})
        recorder.started(slots[0].trials[0].trial_id, 1, datetime.now(UTC))
        raise SessionError("there", "the session ended")

    load(["tcp"])
    monkeypatch.setattr("flowsweep.cli.one_trial.run_campaign", run_campaign)
    for _ in range(2):
        error = invoke("tcp", "local", "--save", tmp_path / "kept").exception
        assert isinstance(error, SessionError)
    assert not (tmp_path / "kept").exists()


def test_a_terminal_that_is_gone_does_not_hide_why_the_campaign_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hang_up() -> None:
        signal.raise_signal(signal.SIGHUP)
        raise OSError("the terminal is gone")

    a_campaign(monkeypatch, hang_up)
    assert run(tmp_path).exit_code == 128 + signal.SIGHUP


def test_output_that_cannot_be_written_ends_a_campaign_as_an_error_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: Path) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    a_campaign(monkeypatch, lambda: None)
    monkeypatch.setattr("flowsweep.cli.run.print_campaign_end", full)
    result = run(tmp_path)
    assert result.exit_code == EXIT_TRIALS_FAILED
    assert result.stderr.startswith(
        "error: cannot go on: No space left on device\n0 finished trials kept in "
    )


def test_output_that_cannot_be_written_is_told_in_one_line() -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        command = [sys.executable, "-m", "flowsweep", "--version"]
        result = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60
        )
    assert (result.returncode, result.stderr) == (
        EXIT_USAGE,
        "error: cannot go on: No space left on device\n",
    )


def test_an_interrupted_demo_says_what_can_be_done_with_a_demo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(["demo"])
    monkeypatch.setattr("flowsweep.cli.demo.lab_possible", lambda: "not in this test")
    a_campaign(monkeypatch, lambda: signal.raise_signal(signal.SIGINT))
    result = CliRunner().invoke(app, ["demo", "--archive", str(tmp_path / "demo")])
    assert result.exit_code == EXIT_INTERRUPTED
    assert f"to see them: flowsweep summary {tmp_path / 'demo'}\n" in result.stderr
    assert "--resume" not in result.stderr


def test_a_signal_that_comes_with_the_last_result_still_counts() -> None:
    async def whole() -> str:
        signal.raise_signal(signal.SIGTERM)
        return "whole"

    with pytest.raises(Stopped, match="ended by SIGTERM"), stopped_by_signals() as stopper:
        stopper.run(whole())


@pytest.mark.parametrize(("number", "said"), SIGNALS)
@pytest.mark.parametrize("words", [("tcp",), ("rtt", "--json"), ("file",), ("tcp", "--save")])
def test_one_trial_that_is_stopped_and_kept_nowhere_says_so(
    number: signal.Signals,
    said: str,
    words: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def run_campaign(*_: object, **__: object) -> None:
        signal.raise_signal(number)
        await asyncio.sleep(1)

    load(["tcp"])
    monkeypatch.setattr("flowsweep.cli.one_trial.run_campaign", run_campaign)
    folder = [tmp_path / "kept"] if "--save" in words else []
    result = invoke(words[0], "local", *words[1:], *folder)
    assert (result.exit_code, result.stdout, result.stderr) == (128 + number, "", f"{said}; nothing kept\n")


def test_a_signal_that_is_to_be_ignored_stays_so() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with stopped_by_signals():
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


def test_ctrl_c_while_a_command_is_loaded_is_quiet(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def interrupted(_: Sequence[str]) -> None:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(flowsweep.cli, "load", interrupted)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == EXIT_INTERRUPTED
    assert capfd.readouterr().err == ""
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_no_library_is_loaded_before_ctrl_c_is_answered() -> None:
    loaded = "import flowsweep.cli, sys; print(*{'typer', 'rich', 'asyncio'} & set(sys.modules))"
    command = [sys.executable, "-c", loaded]
    result = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert result.stdout.strip() == ""
